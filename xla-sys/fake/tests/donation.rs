//! Donation by move and lending by reference, as the plugin sees them.

mod session;

use pjrt_fake::{Code, Failure, Fake};
use session::{client, compile, pair, plugin, REPLICATED, STEP};
use xla::{Donation, Error};

#[test]
fn a_donating_step_leaves_nothing_behind() {
    let fake = Fake::new();
    let client = client(&fake);
    let step = compile(&client, STEP);
    let g = pair(&client, 0, [1., 1.]);
    let mut w = pair(&client, 0, [0., 10.]);
    for _ in 0..3 {
        w = step
            .run((w, &g))
            .expect("it runs")
            .into_single()
            .expect("one");
        // The weights and the gradient, and no memory of the weights before.
        assert_eq!(fake.live().buffers, 2);
        assert_eq!(fake.live().storages, 2);
    }
    assert_eq!(w.to_host::<f32>().expect("values"), [3., 13.]);
    drop((w, g, step));
    assert_eq!(fake.live().clients, 1);
    drop(client);
    fake.assert_clean();
}

#[test]
fn a_whole_session_leaves_nothing_behind() {
    let fake = Fake::new();
    session::session(fake.table()).expect("nothing fails");
    fake.assert_clean();
}

#[test]
fn the_lent_are_named_exactly() {
    let fake = Fake::new();
    let client = client(&fake);
    let program =
        "input f32[2] donated 0\ninput f32[2] donated 1\ninput f32[2]\ninput f32[2] donor\n\
                   output f32[2] = add 0 2\noutput f32[2] = subtract 1 3";
    let program = compile(&client, program);
    let donations: Vec<Donation> = program
        .signature()
        .inputs()
        .iter()
        .map(|i| i.donation())
        .collect();
    assert!(matches!(
        donations[1],
        Donation::Into {
            output: 1,
            required: false
        }
    ));
    assert_eq!(donations[2..], [Donation::None, Donation::Unused]);

    for lent in 0..16u32 {
        let is_lent = |index: u32| lent & 1 << index != 0;
        let own: Vec<xla::Buffer> = (0..4).map(|i| pair(&client, 0, [i as f32, 1.])).collect();
        let mut given: Vec<Option<xla::Buffer>> = (0..4)
            .map(|i| (!is_lent(i)).then(|| pair(&client, 0, [i as f32, 1.])))
            .collect();
        let arguments: Vec<xla::Argument> = (0..4)
            .map(|i| match given[i].take() {
                Some(buffer) => buffer.into(),
                None => (&own[i]).into(),
            })
            .collect();
        let [sum, difference] = program
            .run(arguments)
            .expect("it runs")
            .into_array()
            .expect("two");
        let wanted: Vec<i64> = (0..4).filter(|i| is_lent(*i)).map(i64::from).collect();
        let execution = fake.executions().pop().expect("it was called");
        assert_eq!(execution.non_donatable_input_indices, wanted);
        assert_eq!(
            (execution.num_devices, execution.completion_events),
            (1, false)
        );
        assert_eq!(sum.to_host::<f32>().expect("values"), [2., 2.]);
        assert_eq!(difference.to_host::<f32>().expect("values"), [-2., 0.]);
        for (index, buffer) in own.iter().enumerate() {
            assert_eq!(
                buffer.to_host::<f32>().expect("what was lent stays"),
                [index as f32, 1.]
            );
        }
    }
    drop((program, client));
    fake.assert_clean();
}

#[test]
fn every_device_gets_its_own_arguments() {
    let fake = Fake::builder().platform("cpu").build();
    let client = client(&fake);
    let program = compile(&client, REPLICATED);
    assert!(program.signature().has_collectives());
    let made = |entry: &str| -> Vec<u64> {
        let calls = fake.calls();
        let made = calls.iter().filter(|call| call.entry == entry);
        made.map(|call| call.made[0]).collect()
    };
    let state = [pair(&client, 0, [1., 2.]), pair(&client, 1, [3., 4.])];
    let batch = [pair(&client, 0, [1., 1.]), pair(&client, 1, [2., 2.])];
    let uploads = made("PJRT_Client_BufferFromHostBuffer");
    let outputs = program
        .run_per_device(state.into_iter().zip(&batch))
        .expect("it runs");
    let execution = &fake.executions()[0];
    assert_eq!(
        execution.arguments,
        [[uploads[0], uploads[2]], [uploads[1], uploads[3]]]
    );
    assert_eq!(execution.non_donatable_input_indices, [1]);
    assert_eq!(execution.num_devices, 2);
    // On `cpu` the layer paces collectives by their completion.
    assert!(execution.completion_events);
    assert_eq!(outputs[1][0].to_host::<f32>().expect("values"), [5., 6.]);
    assert_eq!(outputs[0][1].to_host::<f32>().expect("values"), [3., 3.]);
    drop((outputs, batch, program, client));
    fake.assert_clean();
}

#[test]
fn a_failed_run_gives_back_what_survived() {
    for with_handles in [false, true] {
        let fake = Fake::new();
        let client = client(&fake);
        let program = "input f32[2] donated 0 named a\ninput f32[2] donated 1 named b\n\
                       output f32[2] = copy 1\noutput f32[2] = copy 0";
        let program = compile(&client, program);
        let failure = Failure::new(Code::RESOURCE_EXHAUSTED, "no room").consuming(&[1]);
        let failure = if with_handles {
            failure.with_handles()
        } else {
            failure
        };
        fake.fail("PJRT_LoadedExecutable_Execute", failure);
        let error = program
            .run((pair(&client, 0, [1., 2.]), pair(&client, 0, [3., 4.])))
            .expect_err("it's made to fail");
        assert_eq!(error.code(), xla::Code::ResourceExhausted);
        let lost: Vec<&str> = error.lost().iter().map(|lost| lost.name.as_str()).collect();
        if with_handles {
            // The run went ahead: both are in the outputs, which nobody gets.
            assert_eq!(lost.len(), 2);
        } else {
            assert_eq!(lost, ["argument 1 (`b`)"]);
            assert_eq!(
                error.given()[0]
                    .buffer
                    .to_host::<f32>()
                    .expect("it's intact"),
                [1., 2.]
            );
        }
        drop((error, program, client));
        fake.assert_clean();
    }
}

#[test]
fn a_buffer_that_cannot_be_asked_counts_as_lost() {
    let fake = Fake::new();
    let client = client(&fake);
    let step = compile(&client, STEP);
    let g = pair(&client, 0, [1., 1.]);
    for with_handles in [false, true] {
        let failure = |text: &str| {
            let failure = Failure::new(Code::INTERNAL, text);
            if with_handles {
                failure.with_handles()
            } else {
                failure
            }
        };
        fake.fail("PJRT_LoadedExecutable_Execute", failure("the run"));
        fake.fail("PJRT_Buffer_IsDeleted", failure("the question"));
        let error = step
            .run((pair(&client, 0, [1., 2.]), &g))
            .expect_err("it's made to fail");
        assert!(error.error().message().contains("the run"), "{error}");
        assert_eq!((error.given().len(), error.lost().len()), (0, 1));
    }
    assert_eq!(fake.count("PJRT_Buffer_IsDeleted"), 2);
    drop((g, step, client));
    fake.assert_clean();
}

#[test]
fn threads_run_side_by_side() {
    let fake = Fake::new();
    fake.callbacks(pjrt_fake::Callbacks::OnThread);
    let client = client(&fake);
    let step = compile(&client, STEP);
    let replicated = compile(&client, REPLICATED);
    let batch = [pair(&client, 0, [1., 1.]), pair(&client, 1, [1., 1.])];
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut w = pair(&client, 0, [0., 0.]);
                let mut state = vec![pair(&client, 0, [0., 0.]), pair(&client, 1, [0., 0.])];
                for round in 1..=20 {
                    w = step
                        .run((w, &batch[0]))
                        .expect("it runs")
                        .into_single()
                        .expect("one");
                    let outputs = replicated.run_per_device(state.drain(..).zip(&batch));
                    let outputs = outputs.expect("it runs").into_iter();
                    state = outputs.map(|each| each.into_vec().remove(0)).collect();
                    let read = w.to_host_async::<f32>().expect("it starts");
                    read.wait_timeout(std::time::Duration::from_secs(20))
                        .expect("no failure");
                    assert_eq!(read.wait().expect("values"), [round as f32; 2]);
                }
                assert_eq!(state[1].to_host::<f32>().expect("values"), [20., 20.]);
            });
        }
    });
    drop((batch, step, replicated, client));
    fake.assert_clean();
}

#[test]
fn must_alias_is_refused_before_the_plugin() {
    let fake = Fake::new();
    let client = client(&fake);
    let program = compile(&client, "input f32[2] must 0\noutput f32[2] = copy 0");
    let w = pair(&client, 0, [1., 2.]);
    assert!(program.run(&w).is_err());
    assert_eq!(fake.count("PJRT_LoadedExecutable_Execute"), 0);
    program.run(w).expect("given it runs");
    drop((program, client));
    fake.assert_clean();
}

#[test]
fn signatures_are_read_in_every_form() {
    let fake = Fake::new();
    let client = client(&fake);
    for form in ["", "format hlo\n"] {
        let one = "input f32[2,3]{0,1} donated 0\noutput f32[6] = copy 0";
        let one = compile(&client, &format!("{form}{one}"));
        assert_eq!(
            one.signature().inputs()[0].layout().minor_to_major(),
            [0, 1]
        );
        assert_eq!(one.signature().donated_bytes(), 24);
        let two =
            "input s8[] donor\ninput s8[] must 1\noutput s8[] = const 1\noutput s8[] = copy 1";
        let two = compile(&client, &format!("{form}{two}"));
        assert_eq!(two.signature().inputs()[0].donation(), Donation::Unused);
        let second = two.signature().inputs()[1].donation();
        assert!(matches!(
            second,
            Donation::Into {
                output: 1,
                required: true
            }
        ));
    }
    // The layer takes flat arguments only.
    let tupled =
        xla::Program::from_text("tupled\ninput f32[]\noutput f32[] = copy 0").expect("text");
    let refused = client.compile(&tupled, &xla::CompileOptions::new());
    assert_eq!(
        refused.expect_err("a tuple").code(),
        xla::Code::Unimplemented
    );
    drop(client);
    fake.assert_clean();
}

#[test]
fn two_fakes_know_nothing_of_each_other() {
    let (one, other) = (Fake::new(), Fake::builder().devices(3).build());
    let (mine, yours) = (client(&one), plugin(&other).client().expect("a client"));
    assert_eq!((mine.device_count(), yours.device_count()), (2, 3));
    let step = compile(&mine, STEP);
    let (w, g) = (pair(&mine, 0, [1., 2.]), pair(&yours, 0, [1., 2.]));
    assert!(
        matches!(step.run((w, &g)).map_err(Error::from), Err(error) if error.function().is_none())
    );
    drop((g, yours));
    other.assert_clean();
    assert_eq!(one.live().clients, 1);
    drop((step, mine));
    one.assert_clean();
}
