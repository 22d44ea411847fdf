//! What is counted under a label, and the table.

use std::thread;

use xla::{label, Buffer};

use crate::cpu::{client, compiled_text, device, in_child};
use crate::{check, first, kilobytes, step, under};

#[test]
fn labels_nest_and_end() {
    let client = client(1);
    let here = device(&client, 0);
    let plain = kilobytes(&here);
    assert_eq!(plain.label(), None);
    let outer = label("labels_nest: outer");
    let one = kilobytes(&here);
    {
        let _inner = label("labels_nest: inner");
        let two = kilobytes(&here);
        assert_eq!(two.label(), Some("labels_nest: inner"));
        assert_eq!(under(&client, "labels_nest: inner"), (4096, 4096, 1));
        let elsewhere = thread::scope(|scope| {
            let made = scope.spawn(|| kilobytes(&here));
            made.join().expect("no panic")
        });
        assert_eq!(elsewhere.label(), None, "a label is its thread's");
    }
    let three = kilobytes(&here);
    assert_eq!(three.label(), Some("labels_nest: outer"));
    drop(outer);
    assert_eq!(kilobytes(&here).label(), None);
    assert_eq!(under(&client, "labels_nest: outer"), (8192, 8192, 2));
    assert_eq!(under(&client, "labels_nest: inner"), (0, 4096, 0));
    assert_eq!(first(&client).unlabelled_bytes(), 4096);
    assert_eq!(first(&client).unlabelled_buffers(), 1);
    drop((plain, one, three));
    assert_eq!(under(&client, "labels_nest: outer"), (0, 8192, 0));
    assert_eq!(first(&client).unlabelled_bytes(), 0);
}

#[test]
fn guards_may_end_in_any_order() {
    let client = client(1);
    let here = device(&client, 0);
    let named = || kilobytes(&here).label();
    {
        // Fields are dropped in the order of their declaration.
        let _guards = (label("any_order: outer"), label("any_order: inner"));
        assert_eq!(named(), Some("any_order: inner"));
    }
    assert_eq!(named(), None, "no guard lives");
    let [one, two, three] = ["any_order: 1", "any_order: 2", "any_order: 3"].map(label);
    drop(two);
    assert_eq!(named(), Some("any_order: 3"));
    drop(three);
    assert_eq!(named(), Some("any_order: 1"));
    let four = label("any_order: 4");
    drop(one);
    assert_eq!(named(), Some("any_order: 4"));
    drop(four);
    assert_eq!(named(), None);
}

#[test]
fn a_label_goes_with_donated_memory() {
    let client = client(1);
    let here = device(&client, 0);
    let program = compiled_text(&client, &step(true));
    let mut w = {
        let _params = label("donated: params");
        kilobytes(&here)
    };
    let g = {
        let _batch = label("donated: batch");
        kilobytes(&here)
    };
    for _ in 0..3 {
        let _step = label("donated: step");
        let [new, sum] = program
            .run((w, &g))
            .expect("it runs")
            .into_array()
            .expect("2");
        assert_eq!(new.label(), Some("donated: params"));
        assert_eq!(sum.label(), Some("donated: step"));
        w = new;
    }
    assert_eq!(under(&client, "donated: params"), (4096, 4096, 1));
    assert_eq!(under(&client, "donated: batch"), (4096, 4096, 1));
    assert_eq!(under(&client, "donated: step"), (0, 4, 0));
    // Lent, it is copied: the copy is the step's.
    let _step = label("donated: step");
    let [copied, _] = program
        .run((&w, &g))
        .expect("it runs")
        .into_array()
        .expect("2");
    assert_eq!(copied.label(), Some("donated: step"));
    assert_eq!(under(&client, "donated: step"), (4096, 4100, 1));
    drop((w, g, copied));
    assert_eq!(client.memory_account().live_bytes_of("donated: params"), 0);
    check(&client, 0, 12_292, 0);
}

#[test]
fn more_labels_than_there_are_numbers() {
    let ended = in_child("labels::more_labels_than_there_are_numbers", || {
        let client = client(1);
        let here = device(&client, 0);
        let names: Vec<&'static str> = (0..300)
            .map(|number| &*Box::leak(format!("label {number}").into_boxed_str()))
            .collect();
        let made = names.iter().map(|name| {
            let _label = label(name);
            Buffer::scalar(&here, 1f32).expect("room")
        });
        let made: Vec<Buffer> = made.collect();
        assert_eq!(made[253].label(), Some("label 253"));
        assert_eq!(made[254].label(), Some("other labels"));
        assert_eq!(under(&client, "other labels"), (46 * 4, 46 * 4, 46));
        assert_eq!(first(&client).labels.len(), 255);
        assert_eq!(first(&client).unlabelled_buffers(), 0);
        let _known = label("label 7");
        assert_eq!(kilobytes(&here).label(), Some("label 7"));
    });
    ended.check_well();
}

#[test]
fn the_table() {
    let client = client(2);
    let here = device(&client, 0);
    assert_eq!(
        client.memory_account().explain(),
        "memory        live        peak   buffers"
    );
    let params = {
        let _params = label("the table's params");
        kilobytes(&here)
    };
    let batch = Buffer::from_host(&here, &[0u8; 100], &[100]).expect("room");
    drop(kilobytes(&here));
    let name = format!("{here:?}");
    let wanted = [
        "memory                      live        peak   buffers".to_owned(),
        format!("{name:20}     4.1 KiB     8.1 KiB         2"),
        "  the table's params     4.0 KiB     4.0 KiB         1".to_owned(),
        "  no label                 100 B                     1".to_owned(),
    ];
    let account = client.memory_account();
    assert_eq!(account.explain(), wanted.join("\n"));
    assert_eq!(account.to_string(), account.explain());
    drop((params, batch));
}
