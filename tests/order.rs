//! Collectives on CPU beside runs on one device, on a real plugin: each must find its devices'
//! threads free. What doesn't ends the process, so each test has one of its own, and fails when
//! XLA warns on standard error that some of a collective's devices wait for others.

mod cpu;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cpu::{
    client, compiled, in_child, in_child_within, lesson, values, vector, Ended, SLOW, SLOW_LENGTH,
};
use xla::{Buffer, Client, CompileOptions, Executable, Outputs, Program};

/// Fails also when a collective's devices have waited for each other for long.
#[track_caller]
fn check_well(ended: &Ended) {
    ended.check_well();
    for warning in ["rendezvous", "may be stuck"] {
        let found = ended.stderr.to_lowercase().contains(warning);
        assert!(!found, "`{warning}` in: {}", ended.stderr);
    }
}

/// Runs of real length, on one device.
struct Slow {
    program: Executable,
    x: Buffer,
}

impl Slow {
    fn on_each(client: &Client) -> Vec<Slow> {
        let program = Program::from_text(SLOW).expect("text");
        let devices = client.devices();
        let each = devices.iter().map(|device| Slow {
            program: client
                .compile(&program, &CompileOptions::new().device(device))
                .expect("compiles"),
            x: vector(device, &[0.5; SLOW_LENGTH]),
        });
        each.collect()
    }

    /// Adds up `rounds` times, which takes about as many microseconds or less.
    fn run(&self, rounds: i32) -> Outputs {
        let n = Buffer::scalar(&self.x.device(), rounds).expect("a number");
        self.program.run((&self.x, n)).expect("runs")
    }
}

#[track_caller]
fn check_slow(outputs: &Outputs, rounds: i32) {
    assert_eq!(
        values(&outputs[0]),
        [0.5 * (rounds + 1) as f32; SLOW_LENGTH]
    );
}

/// The rounds of [`SLOW`] that take about `wanted` here.
fn rounds_for(slow: &Slow, wanted: Duration) -> i32 {
    let some = 20_000;
    // The quickest of a few: the others had neighbours.
    let tries = (0..8).map(|_| {
        let start = Instant::now();
        slow.run(some)[0].wait().expect("a run");
        start.elapsed()
    });
    let quickest = tries.min().expect("some tries");
    let rounds = f64::from(some) * wanted.as_secs_f64() / quickest.as_secs_f64();
    rounds as i32
}

/// A collective of the examples with its arguments, which are lent.
struct Sum {
    program: Executable,
    rows: Vec<Buffer>,
    name: &'static str,
}

impl Sum {
    fn new(client: &Client, name: &'static str) -> Sum {
        let program = compiled(client, name);
        let lesson = lesson(name);
        let devices = program.devices().iter().enumerate();
        let rows = devices
            .map(|(position, device)| lesson.arguments[0].buffer(position, device))
            .collect();
        Sum {
            program,
            rows,
            name,
        }
    }

    fn launch(&self) -> Vec<Outputs> {
        self.program.run_per_device(&self.rows).expect("runs")
    }

    #[track_caller]
    fn check(&self, outputs: &[Outputs]) {
        let lesson = lesson(self.name);
        for (position, outputs) in outputs.iter().enumerate() {
            let wanted = lesson.results[0].f32(position);
            assert_eq!(values(&outputs[0]), wanted, "{} on {position}", self.name);
        }
    }
}

#[test]
fn collectives_and_runs_of_real_length_may_go_unawaited() {
    let test = "collectives_and_runs_of_real_length_may_go_unawaited";
    check_well(&in_child(test, || {
        let client = client(4);
        let sum = Sum::new(&client, "all_reduce_replicas_4");
        let slow = Slow::on_each(&client);
        let rounds = rounds_for(&slow[0], Duration::from_millis(2));
        for launch in 0..1000 {
            let outputs = sum.launch();
            let mut last = None;
            if launch % 10 == 0 {
                // More than the client has threads.
                for slow in slow.iter().chain(&slow) {
                    last = Some(slow.run(rounds));
                }
            }
            if launch % 100 == 0 {
                sum.check(&outputs);
                check_slow(&last.expect("a run"), rounds);
            }
        }
        sum.check(&sum.launch());
    }));
}

#[test]
fn two_threads_may_launch_collectives_while_others_run_on_one_device() {
    let test = "two_threads_may_launch_collectives_while_others_run_on_one_device";
    check_well(&in_child(test, || {
        let client = client(2);
        let slow = Slow::on_each(&client);
        let rounds = rounds_for(&slow[0], Duration::from_micros(300));
        let sums = ["all_reduce_replicas_2", "two_devices"].map(|name| Sum::new(&client, name));
        let launching = AtomicUsize::new(sums.len());
        let behind = AtomicUsize::new(slow.len());
        let end = Instant::now() + Duration::from_secs(100);
        thread::scope(|scope| {
            let (launching, behind) = (&launching, &behind);
            for sum in &sums {
                scope.spawn(move || {
                    for launch in 0.. {
                        // Until the others have had their turns as well.
                        let all_got_on = behind.load(Ordering::Relaxed) == 0;
                        if launch >= 500 && (all_got_on || Instant::now() > end) {
                            break;
                        }
                        let outputs = sum.launch();
                        // Now and then one is left pending.
                        if launch % 3 != 0 {
                            sum.check(&outputs);
                        }
                    }
                    launching.fetch_sub(1, Ordering::Relaxed);
                });
            }
            for slow in &slow {
                scope.spawn(move || {
                    let mut runs = 0;
                    while launching.load(Ordering::Relaxed) > 0 {
                        let outputs = slow.run(rounds);
                        runs += 1;
                        if runs == 9 {
                            behind.fetch_sub(1, Ordering::Relaxed);
                        }
                        // At most eight are in flight, so that it's over soon.
                        if runs % 8 == 0 {
                            check_slow(&outputs, rounds);
                        }
                    }
                    assert!(runs > 8, "it got on: {runs}");
                });
            }
        });
    }));
}

#[test]
fn programs_may_come_and_go_while_others_run() {
    let test = "programs_may_come_and_go_while_others_run";
    check_well(&in_child(test, || {
        let client = client(4);
        let slow = Slow::on_each(&client);
        let rounds = rounds_for(&slow[0], Duration::from_millis(2));
        let over = &AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for launch in 0..20 {
                    let sum = Sum::new(&client, "all_reduce_replicas_4");
                    let outputs = sum.launch();
                    if launch % 2 == 0 {
                        drop(sum);
                    } else {
                        sum.check(&outputs);
                    }
                }
                over.store(true, Ordering::Relaxed);
            });
            for slow in &slow {
                scope.spawn(move || {
                    // A few at a time: behind an endless queue of runs reads starve, whatever
                    // else is launched.
                    while !over.load(Ordering::Relaxed) {
                        let runs = [(); 3].map(|()| slow.run(rounds));
                        runs[2][0].wait().expect("a run");
                    }
                });
            }
        });
    }));
}

#[test]
fn a_client_may_go_with_runs_and_a_collective_under_way() {
    let test = "a_client_may_go_with_runs_and_a_collective_under_way";
    check_well(&in_child(test, || {
        for round in 0..20 {
            let client = client(4);
            let sum = Sum::new(&client, "all_reduce_replicas_4");
            let slow = Slow::on_each(&client);
            if round % 2 == 0 {
                sum.launch();
            }
            for slow in &slow {
                slow.run(5_000);
            }
            if round % 3 == 0 {
                sum.launch();
            }
        }
    }));
}

/// A run that takes a thread for longer than a collective's devices wait for each other, which is
/// a minute; and behind it a collective, whose last device would find no thread.
#[test]
fn a_collective_outlasts_a_run_of_more_than_a_minute() {
    let test = "a_collective_outlasts_a_run_of_more_than_a_minute";
    check_well(&in_child_within(Duration::from_secs(900), test, || {
        let client = client(4);
        let sum = Sum::new(&client, "all_reduce_replicas_4");
        let slow = Slow::on_each(&client);
        let mut rounds = rounds_for(&slow[0], Duration::from_secs(75));
        loop {
            let start = Instant::now();
            let run = slow[0].run(rounds);
            let outputs = sum.launch();
            run[0].wait().expect("a run");
            let took = start.elapsed();
            sum.check(&outputs);
            if took > Duration::from_secs(65) {
                break;
            }
            // The machine was slower when it was measured.
            rounds = rounds.saturating_mul(2);
        }
    }));
}
