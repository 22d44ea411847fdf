//! The order of launches on CPU while a program with collectives is loaded: a collective is
//! alone. On a real plugin what runs beside it can keep its devices from meeting, and the process
//! is ended.

mod session;

use std::thread;
use std::time::{Duration, Instant};

use pjrt_fake::{Code, EventKind, Failure, Fake, Readiness};
use session::{client, compile, pair, REPLICATED, STEP};
use xla::{Buffer, Client, Executable};

/// Long enough for what doesn't wait to have been done.
const SOON: Duration = Duration::from_millis(20);

/// On two devices that don't speak to each other.
const APART: &str = "program apart\n\
    mhlo.num_replicas = 2\n\
    input f32[2] donated 0\n\
    input f32[2]\n\
    output f32[2] = add 0 1";

fn cpu() -> Fake {
    Fake::builder().platform("cpu").build()
}

struct World {
    client: Client,
    batch: [Buffer; 2],
    step: Executable,
}

impl World {
    fn new(fake: &Fake) -> World {
        let client = client(fake);
        World {
            batch: [pair(&client, 0, [1., 1.]), pair(&client, 1, [2., 2.])],
            step: compile(&client, STEP),
            client,
        }
    }

    /// A run on the first device.
    fn run(&self) -> Buffer {
        let state = pair(&self.client, 0, [1., 2.]);
        let outputs = self.step.run((state, &self.batch[0])).expect("a run");
        outputs.into_single().expect("one output")
    }

    /// A launch on both devices; the first output of each.
    fn launch(&self, program: &Executable) -> Vec<Buffer> {
        let state = [
            pair(&self.client, 0, [1., 2.]),
            pair(&self.client, 1, [3., 4.]),
        ];
        let outputs = program
            .run_per_device(state.into_iter().zip(&self.batch))
            .expect("a launch");
        let outputs = outputs.into_iter();
        outputs.map(|each| each.into_vec().swap_remove(0)).collect()
    }
}

fn started(fake: &Fake) -> usize {
    fake.count("PJRT_LoadedExecutable_Execute")
}

/// Checks that `work` starts nothing until the held events of the launches before are let go.
#[track_caller]
fn check_waits<T: Send>(fake: &Fake, work: impl FnOnce() -> T + Send) -> T {
    let before = started(fake);
    thread::scope(|scope| {
        let work = scope.spawn(work);
        thread::sleep(SOON);
        let meanwhile = started(fake);
        let patience = Instant::now() + Duration::from_secs(60);
        while !work.is_finished() && Instant::now() < patience {
            fake.release_events();
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(meanwhile, before, "it didn't wait");
        let done = work.join().expect("no panic");
        assert_eq!(started(fake), before + 1, "it starts once it may");
        done
    })
}

#[test]
fn a_collective_waits_for_runs_before_it() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    let apart = compile(&world.client, APART);
    fake.events(EventKind::Completion, Readiness::Held);
    let on_one = world.run();
    check_waits(&fake, || drop(world.launch(&program)));
    fake.release_events();
    drop(world.launch(&apart));
    let sums = check_waits(&fake, || world.launch(&program));
    assert_eq!(sums[1].to_host::<f32>().expect("values"), [5., 6.]);
    assert_eq!(on_one.to_host::<f32>().expect("values"), [2., 3.]);
    fake.release_events();
    drop((sums, on_one, apart, program, world));
    fake.assert_clean();
}

#[test]
fn runs_wait_for_a_collective_before_them() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    let apart = compile(&world.client, APART);
    fake.events(EventKind::Completion, Readiness::Held);
    drop(world.launch(&program));
    let on_one = check_waits(&fake, || world.run());
    fake.release_events();
    drop(world.launch(&program));
    let on_both = check_waits(&fake, || world.launch(&apart));
    assert_eq!(on_one.to_host::<f32>().expect("values"), [2., 3.]);
    assert_eq!(on_both[1].to_host::<f32>().expect("values"), [5., 6.]);
    fake.release_events();
    // The program may be gone before its launch is done.
    drop(world.launch(&program));
    drop(program);
    check_waits(&fake, || drop(world.run()));
    fake.release_events();
    drop((on_one, on_both, apart, world));
    fake.assert_clean();
}

/// A run that began after the client's last program with collectives had gone is waited for
/// by the next one's launch.
#[test]
fn a_later_program_knows_of_runs_before_it() {
    let fake = cpu();
    let world = World::new(&fake);
    drop(compile(&world.client, REPLICATED));
    fake.events(EventKind::Completion, Readiness::Held);
    drop(world.run());
    let program = compile(&world.client, REPLICATED);
    check_waits(&fake, || drop(world.launch(&program)));
    fake.release_events();
    drop((program, world));
    fake.assert_clean();
}

#[test]
fn runs_do_not_wait_for_each_other() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    fake.events(EventKind::Completion, Readiness::Never);
    for _ in 0..10 {
        drop(world.run());
    }
    assert_eq!(started(&fake), 10);
    // Their events go with the client, fired or not.
    drop((program, world));
    let live = fake.live();
    assert_eq!((live.clients, live.events, live.buffers), (0, 0, 0));
    assert!(fake.violations().is_empty(), "{:?}", fake.violations());
}

/// Whether `work`, which launches once, asks for events that tell when the devices are done.
fn asked_for_events(fake: &Fake, work: impl FnOnce()) -> bool {
    let before = fake.executions().len();
    work();
    let executions = fake.executions();
    assert_eq!(executions.len(), before + 1);
    executions[before].completion_events
}

#[test]
fn events_are_asked_for_only_beside_collectives_on_cpu() {
    for platform in ["cpu", "fake"] {
        let fake = Fake::builder().platform(platform).build();
        let world = World::new(&fake);
        let apart = compile(&world.client, APART);
        let asked = || {
            let on_one = asked_for_events(&fake, || drop(world.run()));
            let on_both = asked_for_events(&fake, || drop(world.launch(&apart)));
            assert_eq!(on_one, on_both);
            on_one
        };
        assert!(!asked());
        // One that isn't loaded after all doesn't count.
        fake.fail(
            "PJRT_Client_Compile",
            Failure::new(Code::INTERNAL, "no compiler"),
        );
        let refused = xla::Program::from_text(REPLICATED).expect("text");
        let refused = world.client.compile(&refused, &xla::CompileOptions::new());
        assert!(refused.is_err());
        assert!(!asked());
        let program = compile(&world.client, REPLICATED);
        let bytes = program.serialize().expect("bytes");
        assert_eq!(asked(), platform == "cpu");
        // Runs that are under way when another one comes must be known, so it lasts.
        drop(program);
        assert_eq!(asked(), platform == "cpu");
        drop((refused, apart, world));
        fake.assert_clean();

        let fake = Fake::builder().platform(platform).build();
        let world = World::new(&fake);
        let loaded = world.client.deserialize(&bytes).expect("loads");
        assert!(asked_for_events(&fake, || drop(world.launch(&loaded))) == (platform == "cpu"));
        assert_eq!(
            asked_for_events(&fake, || drop(world.run())),
            platform == "cpu"
        );
        drop((loaded, world));
        fake.assert_clean();
    }
}

#[test]
fn few_events_are_kept() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    for _ in 0..1000 {
        drop(world.run());
    }
    let kept = fake.live().events;
    assert!((1..=64).contains(&kept), "{kept} events");
    drop(world.launch(&program));
    assert_eq!(fake.live().events, 2, "those of the collective");
    drop((program, world));
    fake.assert_clean();
}

#[test]
fn the_failure_of_a_run_is_not_the_collective_s() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    fake.fail_outputs(Failure::new(Code::DATA_LOSS, "lost on the way"));
    let failed = world.run();
    fake.events(EventKind::Output, Readiness::Immediate);
    fake.events(EventKind::Completion, Readiness::Immediate);
    let sums = world.launch(&program);
    assert_eq!(sums[1].to_host::<f32>().expect("values"), [5., 6.]);
    assert!(failed.wait().is_err());
    drop((sums, failed, program, world));
    fake.assert_clean();
}

#[test]
fn a_collective_that_does_not_start_holds_nobody_up() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    for failure in [
        Failure::new(Code::INTERNAL, "no"),
        Failure::new(Code::INTERNAL, "no").with_handles(),
    ] {
        fake.fail("PJRT_LoadedExecutable_Execute", failure.clone());
        let state = [
            pair(&world.client, 0, [1., 2.]),
            pair(&world.client, 1, [3., 4.]),
        ];
        let error = program
            .run_per_device(state.into_iter().zip(&world.batch))
            .expect_err("it fails");
        drop((error, world.run()));
        // A failing run on one device is over too.
        fake.fail("PJRT_LoadedExecutable_Execute", failure);
        let state = pair(&world.client, 0, [1., 2.]);
        let error = world
            .step
            .run((state, &world.batch[0]))
            .expect_err("it fails");
        drop((error, world.launch(&program)));
    }
    // Refused before the plugin is asked.
    fake.events(
        EventKind::Upload,
        Readiness::Failing(Failure::new(Code::DATA_LOSS, "lost on the way")),
    );
    let bad = [
        pair(&world.client, 0, [1., 2.]),
        pair(&world.client, 1, [3., 4.]),
    ];
    fake.events(EventKind::Upload, Readiness::Immediate);
    let error = program
        .run_per_device(bad.into_iter().zip(&world.batch))
        .expect_err("it's refused");
    drop((error, world.run()));
    drop((program, world));
    fake.assert_clean();
}

#[test]
fn a_refusal_waits_for_no_collective() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    let apart = compile(&world.client, APART);
    fake.events(EventKind::Completion, Readiness::Held);
    drop(world.launch(&program));
    thread::scope(|scope| {
        // Has the turn, and waits for the launch before it.
        let next = scope.spawn(|| drop(world.launch(&program)));
        thread::sleep(SOON);
        let refused = scope.spawn(|| {
            let pairs = [0, 0].map(|device| pair(&world.client, device, [1., 2.]));
            let wrong = pairs.into_iter().zip(&world.batch);
            apart.run_per_device(wrong).expect_err("both on one device")
        });
        let patience = Instant::now() + Duration::from_secs(60);
        while !refused.is_finished() && Instant::now() < patience {
            thread::yield_now();
        }
        let waited = !refused.is_finished();
        while !next.is_finished() {
            fake.release_events();
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!waited, "a refusal needs no turn");
        let error = refused.join().expect("no panic");
        assert!(error.error().function().is_none(), "{error}");
        assert_eq!(error.given().len(), 2);
    });
    fake.release_events();
    drop((program, apart, world));
    fake.assert_clean();
}

#[test]
fn threads_with_and_without_collectives_get_on() {
    let fake = cpu();
    let world = World::new(&fake);
    let program = compile(&world.client, REPLICATED);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let sums = world.launch(&program);
                    assert_eq!(sums[0].to_host::<f32>().expect("values"), [2., 3.]);
                }
            });
            scope.spawn(|| {
                for _ in 0..600 {
                    assert_eq!(world.run().to_host::<f32>().expect("values"), [2., 3.]);
                }
            });
        }
    });
    assert_eq!(started(&fake), 1800);
    drop((program, world));
    fake.assert_clean();
}
