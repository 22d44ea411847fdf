//! Programs from files on many devices: right values in both worlds, replicas and
//! partitions, and what is said when the devices don't fit.

mod cpu;
#[cfg(feature = "fetch-cpu")]
#[allow(dead_code)] // what only the example needs
#[path = "../examples/train_mnist/data.rs"]
mod data;

use cpu::{client, lesson, values};
use xla::{
    program, Buffer, CompileOptions, Each, HostArray, HostTree, One, ParallelFunction,
    ParallelParameters, Part, PerDevice, Ref, Result, Results, Same, Split, Tree,
};

/// `w` minus an eighth of the sum of all devices' `g`.
#[program(
    "examples/programs/sgd_replicas_4.mlir",
    parallel_alias = SgdReplicas
)]
fn sgd_replicas(w: Buffer, g: &Buffer) -> Buffer;

#[program("examples/programs/sgd_partitions_4.mlir")]
fn sgd_partitions(w: Buffer, g: &Buffer) -> Buffer;

#[program("examples/programs/sgd_partitions_4.mlir")]
fn sgd_partitions_from_host(w: Buffer, g: Split<Buffer>) -> One<Buffer>;

#[program("examples/programs/sgd_replicas_4.mlir")]
fn sgd_replicas_from_host(w: Same<Buffer>, g: xla::Split<Buffer>) -> xla::Each<Buffer>;

#[program("examples/programs/two_devices.mlir")]
fn sum_of_two(row: &Buffer) -> Buffer;

#[program("examples/programs/all_reduce_replicas_2.mlir")]
fn sum_and_number(row: Part<Buffer>) -> (One<Buffer>, Buffer);

/// States no devices, so it runs on one and on many.
#[program(
    "tests/programs/step.mlir",
    alias = Step,
    parallel_alias = ParallelStep
)]
fn step(w: Buffer, g: &Buffer) -> Buffer;

#[program("tests/programs/nothing.mlir")]
fn nothing(x: &Buffer);

#[program("tests/programs/nothing.mlir")]
fn nothing_in_a_tuple(x: &Buffer) -> ();

/// The values of an argument of a lesson on each device.
fn on_all<P: ParallelParameters, R: Results>(
    function: &ParallelFunction<P, R>,
    lesson: &cpu::Lesson,
    argument: usize,
) -> PerDevice<Buffer> {
    let devices = function.executable().devices().iter().enumerate();
    PerDevice::from_parts(devices.map(|(at, device)| lesson.arguments[argument].buffer(at, device)))
}

fn check(got: &PerDevice<Buffer>, lesson: &cpu::Lesson, result: usize) {
    assert_eq!(got.len(), lesson.results[result].per_device.len());
    for (position, got) in got.iter().enumerate() {
        let wanted = lesson.results[result].f32(position);
        assert_eq!(values(got), wanted, "on device {position}");
    }
}

/// All the values of an argument, as one array of these dimensions.
fn host(lesson: &cpu::Lesson, argument: usize, dims: &[usize]) -> HostTree<'static, Buffer> {
    let devices = 0..lesson.arguments[argument].per_device.len();
    let all: Vec<f32> = devices
        .flat_map(|position| lesson.arguments[argument].f32(position))
        .collect();
    let count = dims.iter().product();
    HostArray::new(&all[..count], dims).expect("fits").into()
}

#[test]
fn replicas_and_partitions_give_what_the_oracle_says() -> Result<()> {
    let client = client(4);
    let (replicas, partitions) = (lesson("sgd_replicas_4"), lesson("sgd_partitions_4"));
    let step: SgdReplicas = sgd_replicas::load_parallel(&client)?;
    assert_eq!(step.executable().devices().len(), 4);
    let (w, g) = (on_all(&step, &replicas, 0), on_all(&step, &replicas, 1));
    check(&step.call((w, &g))?, &replicas, 0);

    let step = sgd_partitions::load_parallel(&client)?;
    let (w, g) = (on_all(&step, &partitions, 0), on_all(&step, &partitions, 1));
    check(&step.call((w, &g))?, &partitions, 0);
    Ok(())
}

#[test]
fn two_partitions_give_what_the_oracle_says() -> Result<()> {
    let client = client(2);
    let lesson = lesson("two_devices");
    let sum: ParallelFunction<(Ref<Buffer>,), Each<Buffer>> = sum_of_two::load_parallel(&client)?;
    let row = on_all(&sum, &lesson, 0);
    check(&sum.call((&row,))?, &lesson, 0);
    Ok(())
}

#[test]
fn host_arrays_are_split_or_the_same() -> Result<()> {
    let client = client(4);
    let lesson_of = lesson("sgd_partitions_4");
    let step = sgd_partitions_from_host::load_parallel(&client)?;
    let w = on_all(&step, &lesson_of, 0);
    // The whole array: the program says how its partitions share it.
    let g = host(&lesson_of, 1, &[4, 4]);
    let next: Buffer = step.call((w, &g))?;
    assert_eq!(values(&next), lesson_of.results[0].f32(0));

    let lesson_of = lesson("sgd_replicas_4");
    let step = sgd_replicas_from_host::load_parallel(&client)?;
    let (w, g) = (host(&lesson_of, 0, &[4]), host(&lesson_of, 1, &[16]));
    check(&step.call((&w, &g))?, &lesson_of, 0);
    Ok(())
}

#[test]
fn one_result_of_the_first_device_and_one_of_each() -> Result<()> {
    struct Batch {
        row: Buffer,
    }
    let client = client(2);
    let lesson = lesson("all_reduce_replicas_2");
    let sum = sum_and_number::load_parallel(&client)?;
    let batch = on_all(&sum, &lesson, 0).map(|row| Batch { row });
    let (total, number) = sum.call((batch.part(|batch| &batch.row),))?;
    assert_eq!(values(&total), lesson.results[0].f32(0));
    for (position, number) in number.iter().enumerate() {
        assert_eq!(number.to_scalar::<u32>()?, position as u32);
    }
    Ok(())
}

#[test]
fn a_program_that_states_no_devices_runs_on_one_and_on_many() -> Result<()> {
    let client = client(2);
    let one: Step = step::load(&client)?;
    let two = CompileOptions::new().replicas(2);
    let many: ParallelStep = step::load_parallel_with(&client, &two)?;
    let alone: ParallelStep = step::load_parallel(&client)?;
    assert_eq!(many.executable().devices().len(), 2);
    assert_eq!(alone.executable().devices().len(), 1);

    let on = |device: usize| {
        let device = cpu::device(&client, device);
        let of = |values: &[f32]| cpu::vector(&device, values);
        (of(&[1., 2., 3., 4.]), of(&[0.5, 1., 1.5, 2.]))
    };
    let wanted = [0.5, 1., 1.5, 2.];
    let (w, g) = on(0);
    assert_eq!(values(&one.call((w, &g))?), wanted);
    let (w, g) = PerDevice::from_parts([on(0), on(1)]).unzip();
    let next = many.call((w, &g))?;
    assert_eq!(next.len(), 2);
    next.iter()
        .for_each(|next| assert_eq!(values(next), wanted));
    let (w, g) = PerDevice::from_parts([on(0)]).unzip();
    assert_eq!(values(&alone.call((w, &g))?[0]), wanted);
    Ok(())
}

#[test]
fn a_program_that_gives_nothing() -> Result<()> {
    let client = client(2);
    let x = Buffer::scalar(&cpu::device(&client, 0), 1f32)?;
    let () = nothing::load(&client)?.call((&x,))?;
    let two = CompileOptions::new().replicas(2);
    let many: ParallelFunction<(Ref<Buffer>,), ()> = nothing::load_parallel_with(&client, &two)?;
    let x = PerDevice::from_fn(many.executable().devices(), |_, device| {
        Buffer::scalar(device, 1f32)
    })?;
    let () = many.call((&x,))?;
    let many = nothing_in_a_tuple::load_parallel_with(&client, &two)?;
    let () = many.call((&x,))?;
    Ok(())
}

#[test]
fn messages_name_arguments_and_the_way_to_many_devices() -> Result<()> {
    let client = client(4);
    let step = sgd_replicas::load_parallel(&client)?;
    let lesson = lesson("sgd_replicas_4");
    let (w, g) = (on_all(&step, &lesson, 0), on_all(&step, &lesson, 1));
    let short = PerDevice::from_parts(g.into_iter().take(3));
    let refused = step.call((w, &short)).expect_err("three devices of four");
    let message = refused.to_string();
    assert!(message.contains("`g` of `sgd_replicas_4`"), "{message}");
    assert!(message.contains("wanted values on 4 devices"), "{message}");
    let (w, ()) = refused.into_given().expect("refused before the launch");
    assert_eq!(w.len(), 4);

    let two = CompileOptions::new().replicas(2);
    let message = step::load_with(&client, &two)
        .expect_err("two devices")
        .to_string();
    assert!(message.contains("runs on 2 devices"), "{message}");
    assert!(message.contains("load_parallel"), "{message}");

    let few = cpu::client(2);
    let message = sgd_replicas::load_parallel(&few)
        .expect_err("2 devices of 4")
        .to_string();
    assert!(message.contains('4') && message.contains('2'), "{message}");
    Ok(())
}

/// The training of the example, with types.
#[cfg(feature = "fetch-cpu")]
mod train {
    use super::*;

    #[derive(Tree)]
    struct Layer {
        w: Buffer,
        b: Buffer,
    }

    #[derive(Tree)]
    struct Params {
        conv1: Layer,
        conv2: Layer,
        dense: Layer,
    }

    #[derive(Tree)]
    struct State {
        params: Params,
        mu: Params,
        nu: Params,
        step: Buffer,
    }

    #[derive(Tree)]
    struct Metrics {
        loss_sum: Buffer,
        correct: Buffer,
        seen: Buffer,
    }

    #[program("examples/programs/init.mlir")]
    fn init(seed: &Buffer) -> State;

    #[program("examples/programs/shuffle.mlir")]
    fn shuffle(seed: &Buffer, epoch: &Buffer) -> Buffer;

    /// The step for a number of devices.
    macro_rules! steps {
        ($($name:ident $file:literal)*) => {$(
            #[program($file)]
            pub(super) fn $name(
                state: State,
                metrics: Metrics,
                images: Split<Buffer>,
                labels: Split<Buffer>,
            ) -> (State, Metrics, One<Buffer>);
        )*};
    }

    mod two {
        use super::*;
        steps!(train_step "examples/programs/train_step_2.mlir");
    }

    mod four {
        use super::*;
        steps!(train_step "examples/programs/train_step_4.mlir");
    }

    #[test]
    fn losses_on_two_and_four_devices_are_those_of_jax() -> Result<()> {
        let oracle = include_str!("../examples/programs/oracle/train_mnist.json");
        let oracle: serde_json::Value = serde_json::from_str(oracle).expect("JSON");
        let data = data::read().expect("the images");
        for devices in [2, 4] {
            let client = client(devices);
            let step = match devices {
                2 => two::train_step::load_parallel(&client)?,
                _ => four::train_step::load_parallel(&client)?,
            };
            let first = cpu::device(&client, 0);
            let (seed, epoch) = (Buffer::scalar(&first, 0u32)?, Buffer::scalar(&first, 0u32)?);
            let start = init::load(&client)?.call((&seed,))?;
            let order = shuffle::load(&client)?
                .call((&seed, &epoch))?
                .to_host::<i32>()?;
            let all = step.executable().devices();
            let mut state = PerDevice::replicate_tree(all, &start)?;
            let zeros = HostTree::new([
                HostArray::scalar(0f32)?,
                HostArray::scalar(0i32)?,
                HostArray::scalar(0i32)?,
            ])?;
            let mut metrics: PerDevice<Metrics> = PerDevice::replicate(all, &zeros)?;
            let wanted = oracle["losses"][devices.to_string()]
                .as_array()
                .expect("losses");
            for (numbers, wanted) in order.chunks_exact(64).zip(wanted).take(10) {
                let batch = data.training.choose(numbers);
                let images = HostArray::new(&batch.pixels, &[64, data::PIXELS])?.into();
                let labels = HostArray::new(&batch.labels, &[64])?.into();
                let loss;
                (state, metrics, loss) = step.call((state, metrics, &images, &labels))?;
                let (loss, wanted) = (loss.to_host::<f32>()?[0], wanted.as_f64().expect("a loss"));
                let deviation = (f64::from(loss) - wanted).abs() / wanted;
                assert!(
                    deviation < 1e-5,
                    "{loss}, not {wanted}, on {devices} devices"
                );
            }
            assert_eq!(metrics[devices - 1].seen.to_scalar::<i32>()?, 640);
            state.assert_replicas_equal()?;
        }
        Ok(())
    }
}
