//! Lists of arguments that are swapped, stolen and kept, calls inside calls, and programs of all
//! sizes: whatever the code does that a call runs of its caller, it ends in an error or in a
//! right result.

mod cpu;

use std::cell::{Cell, RefCell};
use std::mem;
use std::thread;

use cpu::{client, compiled_text, device, failing, values, vector};
use xla::tree::{Key, Source, Structure};
use xla::{
    ArgumentList, Arguments, Buffer, Client, Each, Executable, Function, Give, ParallelFunction,
    PerDevice, Ref, Tree,
};

const A: [f32; 4] = [1., 2., 3., 4.];
const C: [f32; 4] = [100., 200., 300., 400.];
const SUM: [f32; 4] = [101., 202., 303., 404.];

/// `a + c` of f32[4] on so many devices; `a` is donated.
fn add_on(client: &Client, devices: usize) -> Executable {
    let text = format!(
        "module @add attributes {{mhlo.num_replicas = {devices} : i32}} {{
           func.func @main(%a: tensor<4xf32> {{tf.aliasing_output = 0 : i32}}, %c: tensor<4xf32>)
               -> tensor<4xf32> {{
             %sum = stablehlo.add %a, %c : tensor<4xf32>
             return %sum : tensor<4xf32>
           }}
         }}"
    );
    compiled_text(client, &text)
}

/// Has this list in the place of the one that it is to append to.
struct Instead<'a>(ArgumentList<'a>);

impl<'a> Arguments<'a> for Instead<'a> {
    fn append_to(self, list: &mut ArgumentList<'a>) {
        *list = self.0;
    }
}

thread_local! {
    /// The programs that a [`Thief`] runs with what it steals: on one device and on two.
    static OTHERS: RefCell<Vec<Executable>> = const { RefCell::new(Vec::new()) };
    static STOLEN: Cell<usize> = const { Cell::new(0) };
}

/// Takes the list that it is to lend its leaf to, and runs other programs with it.
struct Thief(Buffer);

impl Thief {
    fn steal<'a>(&'a self, leaves: &mut ArgumentList<'a>, count: usize) -> ArgumentList<'a> {
        let mut stolen = mem::take(leaves);
        while stolen.len() < count {
            stolen.push(&self.0);
        }
        stolen
    }
}

impl Tree for Thief {
    const LEAVES: Option<usize> = Some(1);

    fn structure(&self) -> Structure {
        Structure::leaf()
    }

    fn constant_structure() -> Option<Structure> {
        Some(Structure::leaf())
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        leaves.push(self.0);
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        OTHERS.with_borrow(|others| {
            for other in others {
                let devices = other.devices().len();
                let stolen = self.steal(leaves, 2 * devices);
                let lists = (0..devices).map(|_| ArgumentList::new());
                let mut lists: Vec<_> = lists.map(Instead).collect();
                // The last of them counts as many as all devices take.
                if let Some(last) = lists.last_mut() {
                    last.0 = stolen;
                }
                let outcome = other.run_per_device(lists);
                if let Err(error) = outcome {
                    assert!(error.error().function().is_none(), "{error}");
                }
                STOLEN.set(STOLEN.get() + 1);
            }
        });
        leaves.push(&self.0);
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        source.leaf().map(Thief)
    }
}

#[test]
fn a_list_that_was_stolen_is_no_list_of_arguments() {
    let client = client(2);
    let device = device(&client, 0);
    let add: Function<(Give<Thief>, Ref<Buffer>), Thief> =
        add_on(&client, 1).typed().expect("it fits");
    OTHERS.set(vec![add_on(&client, 1), add_on(&client, 2)]);
    let c = vector(&device, &C);
    for _ in 0..3 {
        let sum = add.call((Thief(vector(&device, &A)), &c));
        assert_eq!(values(&sum.expect("it keeps its word at last").0), SUM);
    }
    assert!(STOLEN.get() >= 6, "it has come to that");
    OTHERS.set(Vec::new());
}

/// Puts a list in the place of the one that others have appended to.
struct Swaps {
    leaf: Buffer,
    /// When: as it lends, as it gives, or both.
    swaps: [bool; 2],
    /// How many more it appends.
    more: usize,
}

impl Tree for Swaps {
    const LEAVES: Option<usize> = Some(1);

    fn structure(&self) -> Structure {
        Structure::leaf()
    }

    fn constant_structure() -> Option<Structure> {
        Some(Structure::leaf())
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        if self.swaps[1] {
            *leaves = ArgumentList::new();
        }
        for _ in 0..self.more {
            leaves.push(self.leaf.copy_on_device().expect("a copy"));
        }
        leaves.push(self.leaf);
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        if self.swaps[0] {
            mem::forget(mem::take(leaves));
        }
        for _ in 0..self.more {
            leaves.push(&self.leaf);
        }
        leaves.push(&self.leaf);
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        Ok(Swaps {
            leaf: source.leaf()?,
            swaps: [false; 2],
            more: 0,
        })
    }
}

#[test]
fn lists_that_are_swapped_in_the_middle() {
    let client = client(1);
    let device = device(&client, 0);
    let add: Function<(Give<Buffer>, Give<Swaps>), Buffer> =
        add_on(&client, 1).typed().expect("it fits");
    for more in [0, 1, 2, 63, 64, 200] {
        for swaps in [[false, false], [true, false], [false, true], [true, true]] {
            let leaf = vector(&device, &C);
            let swapping = Swaps { leaf, swaps, more };
            let what = format!("{swaps:?}, {more} more");
            match add.call((vector(&device, &A), swapping)) {
                // What it has put in the place of the first counts.
                Ok(sum) if swaps[1] => assert_eq!(values(&sum), [200., 400., 600., 800.], "{what}"),
                Ok(sum) => assert_eq!(values(&sum), SUM, "{what}"),
                Err(error) => {
                    assert!(error.error().function().is_none(), "{what}: {error}");
                    assert!(error.lost().is_empty(), "{what}: {error}");
                }
            }
        }
    }
}

thread_local! {
    static NESTED: RefCell<Option<Nested>> = const { RefCell::new(None) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static INNER: Cell<usize> = const { Cell::new(0) };
}

type Nested = Function<(Give<Calls>, Ref<Buffer>), Calls>;

/// Calls the function that it is passed to, whatever it is asked.
struct Calls(Buffer);

impl Calls {
    fn call(leaf: &Buffer) {
        if DEPTH.get() == 2 {
            return;
        }
        DEPTH.set(DEPTH.get() + 1);
        let function = NESTED.with_borrow(|function| function.clone().expect("set"));
        let own = Calls(vector(&leaf.device(), &A));
        let c = vector(&leaf.device(), &C);
        let sum = function.call((own, &c)).expect("it fits").0;
        assert_eq!(values(&sum), SUM);
        INNER.set(INNER.get() + 1);
        DEPTH.set(DEPTH.get() - 1);
    }
}

impl Tree for Calls {
    const LEAVES: Option<usize> = Some(1);

    fn structure(&self) -> Structure {
        Calls::call(&self.0);
        Structure::leaf()
    }

    fn constant_structure() -> Option<Structure> {
        Some(Structure::leaf())
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        Calls::call(&self.0);
        leaves.push(self.0);
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        leaves.push(&self.0);
        Calls::call(&self.0);
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        let leaf = source.leaf()?;
        Calls::call(&leaf);
        Ok(Calls(leaf))
    }
}

#[test]
fn calls_inside_calls() {
    let client = client(1);
    let device = device(&client, 0);
    let add: Nested = add_on(&client, 1).typed().expect("it fits");
    NESTED.set(Some(add.clone()));
    let c = vector(&device, &C);
    let sum = add.call((Calls(vector(&device, &A)), &c)).expect("it fits");
    assert_eq!(values(&sum.0), SUM);
    // Three each time, and in each of those three.
    assert_eq!(INNER.get(), 12);
    let (sum, report) = add.call_reported((sum, &c)).expect("it fits");
    assert_eq!(values(&sum.0), [201., 402., 603., 804.]);
    assert!(report.all_consumed(), "{report}");
    NESTED.set(None);
}

/// Gives its leaves one by one, and takes its results so.
struct Many(Vec<Buffer>);

impl Tree for Many {
    const LEAVES: Option<usize> = None;

    fn structure(&self) -> Structure {
        many(self.0.len())
    }

    fn constant_structure() -> Option<Structure> {
        None
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.0.append_to(leaves);
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.0.iter().for_each(|leaf| leaves.push(leaf));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        let count = source.structure().children().len();
        (0..count)
            .map(|_| source.leaf())
            .collect::<xla::Result<_>>()
            .map(Many)
    }
}

fn many(leaves: usize) -> Structure {
    let children = (0..leaves).map(|index| (Key::Index(index), Structure::leaf()));
    Structure::node("Many", children.collect())
}

/// A program on so many devices that takes f32 scalars and gives each of the first `outputs` with
/// its index added, in the memory of the inputs; where there are more, the index alone.
fn sized(client: &Client, devices: usize, inputs: usize, outputs: usize) -> Executable {
    let parameters = (0..inputs).map(|n| match n < outputs {
        true => format!("%x{n}: tensor<f32> {{tf.aliasing_output = {n} : i32}}"),
        false => format!("%x{n}: tensor<f32>"),
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    let types = vec!["tensor<f32>"; outputs].join(", ");
    let lines = (0..outputs).map(|n| {
        let constant = format!("%k{n} = stablehlo.constant dense<{n}.0> : tensor<f32>\n");
        match n < inputs {
            true => format!("{constant}%y{n} = stablehlo.add %x{n}, %k{n} : tensor<f32>\n"),
            false => format!("{constant}%y{n} = stablehlo.add %k{n}, %k{n} : tensor<f32>\n"),
        }
    });
    let lines: String = lines.collect();
    let results = (0..outputs).map(|n| format!("%y{n}"));
    let results = match results.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "return".to_owned(),
        some => format!("return {some} : {types}"),
    };
    let text = format!(
        "module @sized attributes {{mhlo.num_replicas = {devices} : i32}} {{
           func.func @main({parameters}) -> ({types}) {{\n{lines}{results}\n}}
         }}"
    );
    compiled_text(client, &text)
}

const SIZES: [(usize, usize); 9] = [
    (0, 0),
    (0, 9),
    (1, 0),
    (16, 8),
    (17, 9),
    (17, 17),
    (64, 3),
    (65, 65),
    (65, 0),
];

#[test]
fn programs_of_all_sizes_on_one_device_and_on_many() {
    let client = client(10);
    for devices in [1, 2, 8, 9, 10] {
        for (inputs, outputs) in SIZES {
            let what = format!("{devices} devices, {inputs} inputs, {outputs} outputs");
            let program = sized(&client, devices, inputs, outputs);
            let scalar = |position: usize, n: usize| {
                let device = &program.devices()[position];
                Buffer::scalar(device, (100 * position + n) as f32).expect("a number")
            };
            let list = |position| (0..inputs).map(|n| scalar(position, n)).collect::<Vec<_>>();
            let check = |position: usize, outputs_of: &[Buffer]| {
                assert_eq!(outputs_of.len(), outputs, "{what}");
                for (n, output) in outputs_of.iter().enumerate() {
                    let wanted = match n < inputs {
                        true => 100 * position + 2 * n,
                        false => 2 * n,
                    };
                    let got = output.to_scalar::<f32>().expect("a number");
                    assert_eq!(got, wanted as f32, "{what}: {position}, {n}");
                }
            };
            // Given, and lent.
            for _ in 0..2 {
                let (all, report) = program
                    .run_per_device_reported((0..devices).map(list))
                    .expect(&what);
                assert_eq!(report.leaves().len(), devices * inputs, "{what}");
                all.iter()
                    .enumerate()
                    .for_each(|(at, each)| check(at, each));
                let kept: Vec<_> = (0..devices).map(list).collect();
                let all = program.run_per_device(&kept).expect(&what);
                all.iter()
                    .enumerate()
                    .for_each(|(at, each)| check(at, each));
                for (position, kept) in kept.iter().enumerate() {
                    for (n, lent) in kept.iter().enumerate() {
                        let got = lent.to_scalar::<f32>().expect("a number");
                        assert_eq!(got, (100 * position + n) as f32, "{what}");
                    }
                }
            }
            if inputs > 0 {
                refused_alike(&program, &what, inputs, &list);
            }
            if devices == 1 {
                let function: Function<(Give<Many>,), Many> =
                    program.typed().expect("nothing is known");
                let function = function.results_like(many(outputs)).expect("so many");
                let device = device(&client, 0);
                let give = |n| Buffer::scalar(&device, n as f32).expect("a number");
                let given = Many((0..inputs).map(give).collect());
                check(0, &function.call((given,)).expect(&what).0);
            }
        }
    }
}

/// One argument of the last device that is missing, too many, elsewhere, or lent alone.
fn refused_alike(
    program: &Executable,
    what: &str,
    inputs: usize,
    list: &dyn Fn(usize) -> Vec<Buffer>,
) {
    let devices = program.devices().len();
    let all = || (0..devices).map(list).collect::<Vec<Vec<Buffer>>>();
    let last = devices - 1;
    let mut short = all();
    short[last].pop();
    let mut long = all();
    let extra = list(last).swap_remove(0);
    long[last].push(extra);
    let mut moved = all();
    let other = list(last).swap_remove(0);
    if devices > 1 {
        let extra = moved[0].pop().expect("inputs");
        moved[last].insert(0, extra);
    } else {
        moved[0].push(other);
    }
    for wrong in [short, long, moved] {
        let count: usize = wrong.iter().map(Vec::len).sum();
        let error = program.run_per_device(wrong).expect_err(what);
        assert!(error.error().function().is_none(), "{what}: {error}");
        assert_eq!(error.into_given().len(), count, "{what}");
    }
    if devices == 1 {
        return;
    }
    let mut elsewhere = all();
    let of_first = list(0).swap_remove(inputs - 1);
    elsewhere[last][inputs - 1] = of_first;
    let error = program.run_per_device(elsewhere).expect_err(what);
    assert!(
        error.to_string().contains("wanted it on"),
        "{what}: {error}"
    );
    assert_eq!(error.into_given().len(), devices * inputs, "{what}");
    // The last is lent on one device alone: the first, or the last.
    for lender in [0, last] {
        let mut given = all();
        let lent = given[lender].pop().expect("inputs");
        let lists = given.into_iter().enumerate().map(|(position, given)| {
            let mut list = ArgumentList::new();
            given.append_to(&mut list);
            if position == lender {
                list.push(&lent);
            }
            list
        });
        let error = program.run_per_device(lists).expect_err(what);
        assert!(
            error.to_string().contains("on all devices"),
            "{what}: {error}"
        );
        assert_eq!(error.into_given().len(), devices * inputs - 1, "{what}");
    }
}

#[test]
fn buffers_that_are_dropped_while_a_thread_ends() {
    /// Runs once more, and drops what it has.
    struct Late(RefCell<Option<(Executable, Vec<Buffer>)>>);

    impl Drop for Late {
        fn drop(&mut self) {
            let Some((add, mut buffers)) = self.0.take() else {
                return;
            };
            let (a, c) = (buffers.pop().expect("two"), buffers.pop().expect("two"));
            let outputs = add.run((a, &c)).ok();
            let sum = outputs.and_then(|outputs| outputs.into_single().ok());
            // No assertion: a panic here would end the process.
            if sum.is_some_and(|sum| sum.to_host::<f32>().is_ok_and(|sum| sum == SUM)) {
                DONE.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
        }
    }

    static DONE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    thread_local! {
        static FIRST: Late = const { Late(RefCell::new(None)) };
        static LAST: Late = const { Late(RefCell::new(None)) };
    }

    let client = client(1);
    let program = |client: &Client| {
        let device = device(client, 0);
        (
            add_on(client, 1),
            vec![vector(&device, &C), vector(&device, &A)],
        )
    };
    for _ in 0..4 {
        let client = client.clone();
        let thread = thread::spawn(move || {
            // One is set up before anything of the layer's is in this thread, one after.
            FIRST.with(|_| ());
            FIRST.with(|late| late.0.replace(Some(program(&client))));
            LAST.with(|late| late.0.replace(Some(program(&client))));
        });
        thread.join().expect("no panic");
    }
    assert_eq!(DONE.load(std::sync::atomic::Ordering::SeqCst), 8);
}

/// Lends nothing, until it has been asked so often.
struct Grows {
    asked: Cell<usize>,
    from: usize,
    leaf: Buffer,
}

impl Tree for Grows {
    const LEAVES: Option<usize> = Some(0);

    fn structure(&self) -> Structure {
        many(0)
    }

    fn constant_structure() -> Option<Structure> {
        Some(many(0))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        if self.from == 0 {
            leaves.push(self.leaf);
        }
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() > self.from {
            leaves.push(&self.leaf);
        }
    }

    fn rebuild(_: &mut Source<'_>) -> xla::Result<Self> {
        unreachable!("it is no result")
    }
}

/// The sum of the devices' numbers, which are 0 and 1.
const NUMBERS: &str = r#"
module @numbers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main() -> tensor<f32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %number = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %sum = "stablehlo.all_reduce"(%number) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ab = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %ab : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
    return %sum : tensor<f32>
  }
}"#;

#[test]
fn a_tree_that_grows_while_a_collective_s_arguments_are_waited_for() {
    let client = client(2);
    let numbers: ParallelFunction<(Give<Grows>,), Each<Buffer>> =
        compiled_text(&client, NUMBERS).parallel().expect("it fits");
    for from in 0..5 {
        let devices = client.devices();
        let grows = devices.iter().map(|device| Grows {
            asked: Cell::new(0),
            from,
            leaf: failing(&client, device),
        });
        match numbers.call((PerDevice::from_parts(grows),)) {
            Ok(sums) => sums
                .iter()
                .for_each(|sum| assert_eq!(sum.to_scalar::<f32>().expect("a number"), 1.)),
            Err(error) => assert!(error.error().function().is_none(), "{from}: {error}"),
        }
    }
}
