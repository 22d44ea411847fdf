//! What an argument costs: 1 to 1,000 of them, donated and lent, with types and without.

use benches::programs::{additions, compiled, counters, sum};
use benches::raw::{self, Launches, Parallel};
use benches::side_by_side::{compare, is_short, is_wanted, Line};
use benches::table::begin;
use benches::{clients, raw::Client as Raw};
use xla::{Buffer, Client, Function, Give, Ref, Tree};

fn main() {
    if !begin("Arguments") {
        return;
    }
    let (safe, raw) = clients(1);
    both::<1>(&safe, raw);
    both::<10>(&safe, raw);
    both::<100>(&safe, raw);
    hundred_and_hundred(&safe, raw);
    if !is_short() {
        both::<1000>(&safe, raw);
    }
    typed_beside_untyped(&safe);
}

fn both<const N: usize>(safe: &Client, raw: Raw) {
    donated::<N>(safe, raw);
    lent::<N>(safe, raw);
}

fn start<const N: usize>(client: &Client) -> [Buffer; N] {
    let device = client.device(0).expect("a device");
    std::array::from_fn(|_| Buffer::scalar(&device, 0f32).expect("a scalar"))
}

/// As many as are donated, lent and given anew.
fn by_hand(client: Raw, text: &str, counts: [usize; 3]) -> Launches {
    let executable = client.compile(text, Parallel::Replicas(1));
    Launches::new(client, executable, 1, counts, |client, device| {
        client.from_host(device, &[0f32], &[])
    })
}

fn wait(buffer: Option<&Buffer>) {
    buffer.expect("an output").wait().expect("a run");
}

/// Calls with a state, which each gives to the next.
fn chained<const N: usize>(client: &Client) -> impl FnMut(u64) {
    let function: Function<(Give<[Buffer; N]>,), [Buffer; N]> = compiled(client, counters(N, true))
        .typed()
        .expect("it fits");
    let mut state = Some(start::<N>(client));
    move |times| {
        for _ in 0..times {
            let before = state.take().expect("the state");
            state = Some(function.call((before,)).expect("a call"));
        }
        wait(state.as_ref().and_then(|state| state.last()));
    }
}

/// As [`chained`], of a state whose size is known when it runs.
fn chained_vec(client: &Client, count: usize) -> impl FnMut(u64) {
    let mut state: Vec<Buffer> = Vec::from(start::<1>(client));
    state.extend((1..count).flat_map(|_| start::<1>(client)));
    let function: Function<(Give<Vec<Buffer>>,), Vec<Buffer>> =
        compiled(client, counters(count, true))
            .typed()
            .expect("it fits");
    let function = function.results_like(state.structure()).expect("it fits");
    move |times| {
        for _ in 0..times {
            let before = std::mem::take(&mut state);
            state = function.call((before,)).expect("a call");
        }
        wait(state.last());
    }
}

fn untyped_chained<const N: usize>(client: &Client) -> impl FnMut(u64) {
    let executable = compiled(client, counters(N, true));
    let mut state = Vec::from(start::<N>(client));
    move |times| {
        for _ in 0..times {
            let before = std::mem::take(&mut state);
            state = executable.run(before).expect("a run").into_vec();
        }
        wait(state.last());
    }
}

fn donated<const N: usize>(client: &Client, raw: Raw) {
    let name = |how: &str| format!("{N} donated, {how}");
    let names = [name("typed"), name("run"), name("typed, a Vec")];
    if !names.iter().any(|name| is_wanted(name)) {
        return;
    }
    let mut by_hand = by_hand(raw, &counters(N, true), [N, 0, 0]);
    let mut run_raw = |times| by_hand.run(times);
    let [typed, untyped, typed_vec] = &names;
    compare(Line::new(typed), chained::<N>(client), &mut run_raw);
    if N == 1000 {
        compare(Line::new(typed_vec), chained_vec(client, N), &mut run_raw);
    }
    compare(
        Line::new(untyped),
        untyped_chained::<N>(client),
        &mut run_raw,
    );
}

fn lent<const N: usize>(client: &Client, raw: Raw) {
    let name = |how: &str| format!("{N} lent, {how}");
    let [typed_name, untyped_name] = [name("typed"), name("run")];
    if !is_wanted(&typed_name) && !is_wanted(&untyped_name) {
        return;
    }
    let mut by_hand = by_hand(raw, &sum(N), [0, N, 1]);
    let mut run_raw = |times| by_hand.run(times);

    let arguments = start::<N>(client);
    let function: Function<(Ref<[Buffer; N]>,), Buffer> =
        compiled(client, sum(N)).typed().expect("it fits");
    let mut last = None;
    let typed = |times| {
        for _ in 0..times {
            last = Some(function.call((&arguments,)).expect("a call"));
        }
        wait(last.as_ref());
    };
    compare(Line::new(&typed_name), typed, &mut run_raw);

    let mut last = None;
    let untyped = |times| {
        for _ in 0..times {
            let outputs = function.executable().run(&arguments[..]).expect("a run");
            last = Some(outputs.into_single().expect("an output"));
        }
        wait(last.as_ref());
    };
    compare(Line::new(&untyped_name), untyped, &mut run_raw);
}

/// A hundred scalars in four parts, as a state has them.
#[derive(Tree)]
struct State {
    weights: [Buffer; 33],
    mean: [Buffer; 33],
    variance: [Buffer; 33],
    step: Buffer,
}

fn state(client: &Client) -> State {
    State {
        weights: start(client),
        mean: start(client),
        variance: start(client),
        step: start::<1>(client).into_iter().next().expect("one"),
    }
}

/// What a training step has: a state that is given, and as much that is only read.
fn hundred_and_hundred(client: &Client, raw: raw::Client) {
    let names = [
        "100 lent and 100 donated, typed",
        "100 lent and 100 donated, run",
    ];
    if !names.iter().any(|name| is_wanted(name)) {
        return;
    }
    let text = additions(100);
    let mut by_hand = by_hand(raw, &text, [100, 100, 0]);
    let mut run_raw = |times| by_hand.run(times);

    let function: Function<(Give<State>, Ref<State>), State> =
        compiled(client, text.clone()).typed().expect("it fits");
    let (mut given, lent) = (Some(state(client)), state(client));
    let typed = |times| {
        for _ in 0..times {
            let before = given.take().expect("the state");
            given = Some(function.call((before, &lent)).expect("a call"));
        }
        wait(given.as_ref().map(|state| &state.step));
    };
    compare(Line::new(names[0]), typed, &mut run_raw);

    let executable = compiled(client, text);
    let (mut given, lent) = (Vec::from(start::<100>(client)), start::<100>(client));
    let untyped = |times| {
        for _ in 0..times {
            let before = std::mem::take(&mut given);
            let outputs = executable.run((before, &lent[..])).expect("a run");
            given = outputs.into_vec();
        }
        wait(given.last());
    };
    compare(Line::new(names[1]), untyped, &mut run_raw);
}

/// What flattening and rebuilding a tree costs beside handing a list over.
fn typed_beside_untyped(client: &Client) {
    let line = Line {
        names: ["typed", "run"],
        ..Line::new("100 donated, typed beside run")
    };
    compare(line, chained::<100>(client), untyped_chained::<100>(client));
}
