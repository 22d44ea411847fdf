//! Programs whose devices speak to each other: what a real plugin answers with the end of the process.

mod session;

use std::thread;
use std::time::Duration;

use pjrt_fake::{Code, EventKind, Failure, Fake, Readiness};
use session::{client, compile, pair, REPLICATED};

const SOON: Duration = Duration::from_millis(10);

fn lost() -> Failure {
    Failure::new(Code::DATA_LOSS, "lost on the way")
}

#[test]
fn a_collective_is_never_started_with_an_error() {
    for platform in ["fake", "cpu"] {
        let fake = Fake::builder().platform(platform).build();
        let client = client(&fake);
        let program = compile(&client, REPLICATED);
        let good = [pair(&client, 0, [1., 1.]), pair(&client, 1, [2., 2.])];
        let state = pair(&client, 0, [1., 2.]);
        fake.events(EventKind::Upload, Readiness::Failing(lost()));
        let bad = pair(&client, 1, [3., 4.]);
        let error = program
            .run_per_device([(state, &good[0]), (bad, &good[1])])
            .expect_err("it's refused");
        assert!(error.to_string().contains("lost on the way"), "{error}");
        assert_eq!(fake.count("PJRT_LoadedExecutable_Execute"), 0);
        assert_eq!((error.given().len(), error.lost().len()), (2, 0));
        drop((error, good, program, client));
        fake.assert_clean();
    }
}

#[test]
fn a_failed_collective_is_not_followed_by_another() {
    let fake = Fake::builder().platform("cpu").build();
    let client = client(&fake);
    let program = compile(&client, REPLICATED);
    let batch = [pair(&client, 0, [1., 1.]), pair(&client, 1, [2., 2.])];
    let state = [pair(&client, 0, [1., 2.]), pair(&client, 1, [3., 4.])];
    fake.fail_outputs(lost());
    let outputs = program
        .run_per_device(state.into_iter().zip(&batch))
        .expect("the call is fine");
    let state: Vec<xla::Buffer> = outputs
        .into_iter()
        .map(|each| each.into_vec().remove(0))
        .collect();
    let error = program
        .run_per_device(state.into_iter().zip(&batch))
        .expect_err("it's refused");
    assert!(error.to_string().contains("lost on the way"), "{error}");
    assert_eq!(fake.count("PJRT_LoadedExecutable_Execute"), 1);
    drop((error, batch, program, client));
    fake.assert_clean();
}

#[test]
fn collectives_take_turns_on_cpu() {
    let fake = Fake::builder().platform("cpu").build();
    fake.events(EventKind::Completion, Readiness::Held);
    let client = client(&fake);
    let program = compile(&client, REPLICATED);
    let batch = [pair(&client, 0, [1., 1.]), pair(&client, 1, [2., 2.])];
    let launch = || {
        let state = [pair(&client, 0, [1., 2.]), pair(&client, 1, [3., 4.])];
        program
            .run_per_device(state.into_iter().zip(&batch))
            .map(drop)
    };
    launch().expect("the first starts");
    thread::scope(|scope| {
        let second = scope.spawn(launch);
        thread::sleep(SOON);
        assert_eq!(
            fake.count("PJRT_LoadedExecutable_Execute"),
            1,
            "the second waits"
        );
        while fake.held() == 2 {
            fake.release_events();
        }
        second.join().expect("no panic").expect("the second starts");
    });
    assert_eq!(fake.count("PJRT_LoadedExecutable_Execute"), 2);
    fake.release_events();
    drop((batch, program, client));
    fake.assert_clean();
}

#[test]
fn a_collective_waits_for_its_arguments_on_cpu() {
    let fake = Fake::builder().platform("cpu").build();
    let client = client(&fake);
    let program = compile(&client, REPLICATED);
    let batch = [pair(&client, 0, [1., 1.]), pair(&client, 1, [2., 2.])];
    fake.events(EventKind::Upload, Readiness::Held);
    let state = [pair(&client, 0, [1., 2.]), pair(&client, 1, [3., 4.])];
    let outputs = thread::scope(|scope| {
        let launch = scope.spawn(|| program.run_per_device(state.into_iter().zip(&batch)));
        thread::sleep(SOON);
        assert_eq!(fake.count("PJRT_LoadedExecutable_Execute"), 0, "it waits");
        fake.release_events();
        launch.join().expect("no panic").expect("it starts")
    });
    assert_eq!(outputs[1][0].to_host::<f32>().expect("values"), [5., 6.]);
    drop((outputs, batch, program, client));
    fake.assert_clean();
}

#[test]
fn a_client_may_go_with_a_collective_under_way() {
    let fake = Fake::builder().platform("cpu").build();
    fake.events(EventKind::Completion, Readiness::Held);
    fake.events(EventKind::Output, Readiness::Held);
    let client = client(&fake);
    let program = compile(&client, REPLICATED);
    let batch = [pair(&client, 0, [1., 1.]), pair(&client, 1, [2., 2.])];
    let state = [pair(&client, 0, [1., 2.]), pair(&client, 1, [3., 4.])];
    drop(program.run_per_device(state.into_iter().zip(&batch)));
    drop((batch, program, client));
    assert_eq!(fake.live().clients, 0);
    fake.release_events();
    fake.assert_clean();
}
