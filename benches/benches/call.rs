//! The smallest run there is: a scalar that is counted up. What the safe layer costs a call
//! shows here and nowhere else as clearly.

use std::ptr::null_mut;

use benches::clients;
use benches::programs::{compiled, counters};
use benches::raw::{self, Parallel};
use benches::side_by_side::{compare, Line};
use benches::table::begin;
use xla::{Buffer, Client, Device, Function, Give, Ref};

fn main() {
    if !begin("A scalar step") {
        return;
    }
    let (safe, raw) = clients(1);
    donated_chained(&safe, raw);
    lent_chained(&safe, raw);
    for donates in [false, true] {
        lent_same(&safe, raw, donates);
    }
    donated_uploaded(&safe, raw);
}

fn measure(name: &str, safe: impl FnMut(u64), raw: impl FnMut(u64)) {
    compare(Line::new(name), safe, raw);
}

fn scalar(device: &Device) -> Buffer {
    Buffer::scalar(device, 0f32).expect("a scalar")
}

fn wait(buffer: &Option<Buffer>) {
    buffer.iter().for_each(|b| b.wait().expect("a run"));
}

/// A program through the C API, with one scalar in and one out.
struct RawScalar {
    client: raw::Client,
    executable: raw::Executable,
}

impl RawScalar {
    fn new(client: raw::Client, donates: bool) -> RawScalar {
        let executable = client.compile(&counters(1, donates), Parallel::Replicas(1));
        RawScalar { client, executable }
    }

    fn input(&self) -> raw::Buffer {
        self.client.from_host(0, &[0f32], &[])
    }

    #[inline]
    fn run(&self, input: raw::Buffer, lent: &[i64]) -> raw::Buffer {
        let mut output = null_mut();
        let (inputs, outputs): ([*const raw::Buffer; 1], _) = ([&input], [&raw mut output]);
        // SAFETY: one argument and one output on one device, all alive.
        unsafe {
            self.client
                .execute(self.executable, &inputs, 1, lent, &outputs, &mut []);
        }
        output
    }

    #[inline]
    fn destroy(&self, buffer: raw::Buffer) {
        if !buffer.is_null() {
            // SAFETY: whoever gives a buffer away here doesn't use it again.
            unsafe { self.client.destroy(buffer) };
        }
    }

    fn wait(&self, buffer: raw::Buffer) {
        // SAFETY: the last output, which is alive.
        unsafe { self.client.wait_for(buffer) };
    }
}

/// Each step is given what the one before gave.
fn donated_chained(client: &Client, raw: raw::Client) {
    let counter = compiled(client, counters(1, true));
    let device = client.device(0).expect("a device");
    let (mut untyped_count, mut typed_count) = (Some(scalar(&device)), Some(scalar(&device)));
    let untyped = |times| {
        for _ in 0..times {
            let before = untyped_count.take().expect("the count");
            let outputs = counter.run(before).expect("a run");
            untyped_count = Some(outputs.into_single().expect("an output"));
        }
        wait(&untyped_count);
    };
    let function: Function<(Give<Buffer>,), Buffer> = compiled(client, counters(1, true))
        .typed()
        .expect("it fits");
    let typed = |times| {
        for _ in 0..times {
            let before = typed_count.take().expect("the count");
            typed_count = Some(function.call((before,)).expect("a call"));
        }
        wait(&typed_count);
    };
    let by_hand = RawScalar::new(raw, true);
    let mut count = by_hand.input();
    let mut run_raw = |times| {
        for _ in 0..times {
            let after = by_hand.run(count, &[]);
            by_hand.destroy(count);
            count = after;
        }
        by_hand.wait(count);
    };
    let line = |name| Line {
        most: 1.05,
        ..Line::new(name)
    };
    compare(line("scalar, donated, chained, typed"), typed, &mut run_raw);
    compare(line("scalar, donated, chained, run"), untyped, &mut run_raw);
}

/// Each step is lent what the one before gave.
fn lent_chained(client: &Client, raw: raw::Client) {
    let counter = compiled(client, counters(1, false));
    let device = client.device(0).expect("a device");
    let (mut untyped_count, mut typed_count) = (Some(scalar(&device)), Some(scalar(&device)));
    let untyped = |times| {
        for _ in 0..times {
            let before = untyped_count.take().expect("the count");
            let outputs = counter.run(&before).expect("a run");
            untyped_count = Some(outputs.into_single().expect("an output"));
        }
        wait(&untyped_count);
    };
    let function: Function<(Ref<Buffer>,), Buffer> = compiled(client, counters(1, false))
        .typed()
        .expect("it fits");
    let typed = |times| {
        for _ in 0..times {
            let before = typed_count.take().expect("the count");
            typed_count = Some(function.call((&before,)).expect("a call"));
        }
        wait(&typed_count);
    };
    let by_hand = RawScalar::new(raw, false);
    let mut count = by_hand.input();
    let mut run_raw = |times| {
        for _ in 0..times {
            let after = by_hand.run(count, &[0]);
            by_hand.destroy(count);
            count = after;
        }
        by_hand.wait(count);
    };
    measure("scalar, lent, chained, typed", typed, &mut run_raw);
    measure("scalar, lent, chained, run", untyped, &mut run_raw);
}

/// Every step is lent the same number. Where the program donates it, the runtime copies it.
fn lent_same(client: &Client, raw: raw::Client, donates: bool) {
    let counter = compiled(client, counters(1, donates));
    let device = client.device(0).expect("a device");
    let input = scalar(&device);
    let untyped = |times| {
        let mut last = None;
        for _ in 0..times {
            let outputs = counter.run(&input).expect("a run");
            last = Some(outputs.into_single().expect("an output"));
        }
        wait(&last);
    };
    let by_hand = RawScalar::new(raw, donates);
    let raw_input = by_hand.input();
    let mut run_raw = |times| {
        let mut last = null_mut();
        for _ in 0..times {
            let output = by_hand.run(raw_input, &[0]);
            by_hand.destroy(last);
            last = output;
        }
        by_hand.wait(last);
        by_hand.destroy(last);
    };
    let name = |how: &str| match donates {
        false => format!("scalar, lent, the same each time, {how}"),
        true => format!("scalar, lent to what donates, the same each time, {how}"),
    };
    if !donates {
        let function: Function<(Ref<Buffer>,), Buffer> = compiled(client, counters(1, false))
            .typed()
            .expect("it fits");
        let typed = |times| {
            let mut last = None;
            for _ in 0..times {
                last = Some(function.call((&input,)).expect("a call"));
            }
            wait(&last);
        };
        measure(&name("typed"), typed, &mut run_raw);
    }
    measure(&name("run"), untyped, &mut run_raw);
}

/// Every step is given a number that is uploaded for it.
fn donated_uploaded(client: &Client, raw: raw::Client) {
    let function: Function<(Give<Buffer>,), Buffer> = compiled(client, counters(1, true))
        .typed()
        .expect("it fits");
    let device = client.device(0).expect("a device");
    let typed = |times| {
        let mut last = None;
        for _ in 0..times {
            last = Some(function.call((scalar(&device),)).expect("a call"));
        }
        wait(&last);
    };
    let by_hand = RawScalar::new(raw, true);
    let run_raw = |times| {
        let mut last = null_mut();
        for _ in 0..times {
            let input = by_hand.input();
            let output = by_hand.run(input, &[]);
            by_hand.destroy(input);
            by_hand.destroy(last);
            last = output;
        }
        by_hand.wait(last);
        by_hand.destroy(last);
    };
    let name = "scalar, uploaded and donated each time, typed";
    measure(name, typed, run_raw);
}
