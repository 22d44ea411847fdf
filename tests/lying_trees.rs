//! Trees that don't keep their word.
//!
//! `Tree` is safe to implement, so whatever such a tree says, a call must end in an error
//! or in a right result, and nothing that was only lent may be consumed.

mod cpu;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use cpu::{client, compiled_text, device, values, vector};
use xla::tree::{Key, Source, Structure};
use xla::{
    ArgumentList, Arguments, Buffer, Client, Code, Device, Function, FunctionError, Give, Ref, Tree,
};

/// A client with one device.
struct World {
    client: Client,
    device: Device,
}

impl World {
    fn new() -> World {
        let client = client(1);
        let device = device(&client, 0);
        World { client, device }
    }
}

/// Says that it has `CLAIMS` leaves, and does what its fields say.
struct Liar<const CLAIMS: usize> {
    /// What it lends.
    lent: Vec<Buffer>,
    /// What it gives.
    given: Vec<Buffer>,
    /// What it says at each question of how it is built; the last one again and again.
    structures: Vec<Structure>,
    asked: AtomicUsize,
}

impl<const CLAIMS: usize> Liar<CLAIMS> {
    fn new(lent: Vec<Buffer>, given: Vec<Buffer>) -> Self {
        let structure = list_of(CLAIMS);
        Liar::with_structures(lent, given, vec![structure])
    }

    fn with_structures(lent: Vec<Buffer>, given: Vec<Buffer>, structures: Vec<Structure>) -> Self {
        Liar {
            lent,
            given,
            structures,
            asked: AtomicUsize::new(0),
        }
    }
}

/// The structure of a list of so many leaves.
fn list_of(leaves: usize) -> Structure {
    let children = (0..leaves).map(|index| (Key::Index(index), Structure::leaf()));
    Structure::node("Liar", children.collect())
}

impl<const CLAIMS: usize> Tree for Liar<CLAIMS> {
    const LEAVES: Option<usize> = Some(CLAIMS);

    fn structure(&self) -> Structure {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        self.structures[asked.min(self.structures.len() - 1)].clone()
    }

    fn constant_structure() -> Option<Structure> {
        Some(list_of(CLAIMS))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.given.into_iter().for_each(|leaf| leaves.push(leaf));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.lent.iter().for_each(|leaf| leaves.push(leaf));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        let leaf = source.leaf()?;
        Ok(Liar::new(vec![], vec![leaf]))
    }
}

/// `a + c` and `b + c` of f32[4]; `a` and `b` are donated.
const ADD_TO_BOTH: &str = r#"
module @add_to_both {
  func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                  %b: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                  %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %first = stablehlo.add %a, %c : tensor<4xf32>
    %second = stablehlo.add %b, %c : tensor<4xf32>
    return %first, %second : tensor<4xf32>, tensor<4xf32>
  }
}"#;

const A: [f32; 4] = [1., 2., 3., 4.];
const B: [f32; 4] = [10., 20., 30., 40.];
const C: [f32; 4] = [100., 200., 300., 400.];

/// The program with these parameters, and honest results.
type Adds<P> = Function<P, (Buffer, Buffer)>;
/// The program with a first argument that lies.
type AddToBoth<T> = Adds<(Give<T>, Ref<Buffer>)>;
/// The program with results that lie.
type Results<R> = Function<(Give<(Buffer, Buffer)>, Ref<Buffer>), R>;

fn add_to_both<T: Tree>(world: &World) -> AddToBoth<T> {
    let typed = compiled_text(&world.client, ADD_TO_BOTH).typed();
    typed.expect("the claim fits")
}

#[test]
fn a_tree_that_lends_more_than_it_claims_is_refused_whole() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    let add = add_to_both::<Liar<2>>(&world);
    let c = v(&C);
    for count in [0, 1, 3, 100] {
        let many = || (0..count).map(|_| v(&A)).collect::<Vec<_>>();
        let refused = add.call((Liar::new(many(), many()), &c));
        let error = refused.expect_err("another number of leaves");
        assert!(error.is_refusal(), "{error}");
        assert!(error.to_string().contains("takes 3 arguments"), "{error}");
        let (liar, ()) = error.into_given().expect("everything comes back");
        assert_eq!((liar.lent.len(), liar.given.len()), (count, count));
        assert!(liar.given.iter().all(|leaf| values(leaf) == A));
    }
    assert_eq!(values(&c), C);
}

#[test]
fn a_tree_that_gives_another_number_than_it_lends_loses_nothing() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    let add = add_to_both::<Liar<2>>(&world);
    let c = v(&C);
    for count in [0, 1, 3, 70] {
        let given = (0..count).map(|number| v(&[number as f32; 4])).collect();
        let refused = add.call((Liar::new(vec![v(&A), v(&B)], given), &c));
        let error = refused.expect_err("another number of leaves");
        assert!(error.lost().is_empty(), "{error}");
        assert!(
            error.error().function().is_none(),
            "the plugin was asked: {error}"
        );
        let survivors = error.into_survivors();
        assert_eq!(survivors.len(), count);
        for (number, left) in survivors.iter().enumerate() {
            let path = &left.path;
            assert!(!path.is_empty());
            if number < 2 {
                assert_eq!(*path, format!("#0[{number}]"));
            }
            assert_eq!(values(&left.buffer), [number as f32; 4], "{path}");
        }
        assert_eq!(values(&c), C);
    }
}

#[test]
fn a_tree_that_gives_other_leaves_than_it_lends() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    let add = add_to_both::<Liar<2>>(&world);
    let c = v(&C);
    // As good as those that were looked at: then those count that were given.
    for _ in 0..10 {
        let liar = Liar::new(vec![v(&[0.; 4]), v(&[0.; 4])], vec![v(&A), v(&B)]);
        let (first, second) = add.call((liar, &c)).expect("it fits");
        assert_eq!(values(&first), [101., 202., 303., 404.]);
        assert_eq!(values(&second), [110., 220., 330., 440.]);
    }
    // Integers, and another length of floats: seen before the launch.
    let integers = || Buffer::from_host(&world.device, &[1i32, 2, 3, 4], &[4]).expect("room");
    let wrong: [&dyn Fn() -> Buffer; 2] = [&integers, &|| v(&[1., 2.])];
    for wrong in wrong {
        let liar = Liar::new(vec![v(&A), v(&B)], vec![v(&A), wrong()]);
        let error = add.call((liar, &c)).expect_err("it doesn't fit");
        assert!(
            error.error().function().is_none(),
            "the plugin was asked: {error}"
        );
        assert!(error.to_string().contains("argument 1"), "{error}");
        assert!(error.lost().is_empty(), "{error}");
        let survivors = error.into_survivors();
        let paths: Vec<&str> = survivors.iter().map(|left| left.path.as_str()).collect();
        assert_eq!(paths, ["#0[0]", "#0[1]"]);
        assert_eq!(values(&survivors[0].buffer), A);
    }
    assert_eq!(values(&c), C);
}

#[test]
fn a_tree_whose_count_changes_between_questions() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    let c = v(&C);
    let add = add_to_both::<Liar<2>>(&world);
    let counts: [&[usize]; 5] = [&[0], &[3], &[2, 0], &[0, 100, 1], &[2, 2, 3, 4]];
    for counts in counts {
        let structures = || counts.iter().map(|count| list_of(*count)).collect();
        let good = Liar::with_structures(vec![v(&A), v(&B)], vec![v(&A), v(&B)], structures());
        match add.call_reported((good, &c)) {
            Ok(((first, second), report)) => {
                assert_eq!(values(&first), [101., 202., 303., 404.], "{counts:?}");
                assert_eq!(values(&second), [110., 220., 330., 440.], "{counts:?}");
                assert_eq!(report.leaves().len(), 2);
                assert!(report.all_consumed(), "{report}");
            }
            Err(error) => assert!(error.is_refusal(), "{counts:?}: {error}"),
        }
        // And one that is refused besides: the message has to be made of those structures.
        let bad = Liar::with_structures(vec![v(&A), v(&[1.])], vec![v(&A), v(&[1.])], structures());
        let error = add.call((bad, &c)).expect_err("f32[1] is no f32[4]");
        assert!(error.is_refusal(), "{counts:?}: {error}");
        let bad = Liar::with_structures(vec![v(&A)], vec![], structures());
        let error = add.call((bad, &c)).expect_err("one of three is missing");
        assert!(error.is_refusal(), "{counts:?}: {error}");
        let bad = Liar::with_structures(vec![v(&A), v(&B)], vec![v(&A)], structures());
        let error = add.call((bad, &c)).expect_err("one of three is missing");
        assert_eq!(error.survivors().len(), 1, "{counts:?}: {error}");
    }
    assert_eq!(values(&c), C);
}

/// As [`Liar`], with a number of leaves that only a value tells.
struct Changing(Liar<0>);

impl Tree for Changing {
    const LEAVES: Option<usize> = None;

    fn structure(&self) -> Structure {
        self.0.structure()
    }

    fn constant_structure() -> Option<Structure> {
        None
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.0.give(leaves);
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.0.lend(leaves);
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        Liar::rebuild(source).map(Changing)
    }
}

#[test]
fn a_changing_tree_can_have_nothing_consumed_that_it_lends() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    // Lent, over inputs that the program donates: refused, or XLA copies.
    let add: Adds<(Ref<Changing>, Ref<Buffer>)> = compiled_text(&world.client, ADD_TO_BOTH)
        .typed()
        .expect("what can't be known is not refused");
    let c = v(&C);
    let counts: [&[usize]; 6] = [&[2], &[0], &[100], &[2, 0], &[0, 2, 0], &[1, 2, 1, 0]];
    for counts in counts {
        let structures = counts.iter().map(|count| list_of(*count)).collect();
        let liar = Changing(Liar::with_structures(
            vec![v(&A), v(&B)],
            vec![],
            structures,
        ));
        match add.call((&liar, &c)) {
            Ok((first, second)) => {
                assert_eq!(values(&first), [101., 202., 303., 404.], "{counts:?}");
                assert_eq!(values(&second), [110., 220., 330., 440.], "{counts:?}");
            }
            Err(error) => assert!(error.is_refusal(), "{counts:?}: {error}"),
        }
        assert_eq!(values(&liar.0.lent[0]), A, "{counts:?}");
        assert_eq!(values(&liar.0.lent[1]), B, "{counts:?}");
        assert_eq!(values(&c), C, "{counts:?}");
    }
}

#[test]
fn a_changing_tree_that_is_the_only_argument() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    let add: Adds<(Ref<Changing>,)> = compiled_text(&world.client, ADD_TO_BOTH)
        .typed()
        .expect("what can't be known is not refused");
    let counts: [&[usize]; 5] = [&[3], &[3, 0], &[0, 3, 0], &[3, 1, 0], &[3, 100]];
    for counts in counts {
        let structures = counts.iter().map(|count| list_of(*count)).collect();
        let leaves = vec![v(&A), v(&B), v(&C)];
        let liar = Changing(Liar::with_structures(leaves, vec![], structures));
        if let Err(error) = add.call((&liar,)) {
            assert!(error.is_refusal(), "{counts:?}: {error}");
        }
        assert_eq!(values(&liar.0.lent[0]), A, "{counts:?}");
        assert_eq!(values(&liar.0.lent[1]), B, "{counts:?}");
    }
}

#[test]
fn two_liars_that_make_up_for_each_other_have_nothing_lent_consumed() {
    // The first claims two leaves and has one, the second claims one and has two: the
    // second input, which is donated, meets a buffer that is lent.
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    let add: Adds<(Give<Liar<2>>, Ref<Liar<1>>)> = compiled_text(&world.client, ADD_TO_BOTH)
        .typed()
        .expect("the claims fit");
    let lender = Liar::new(vec![v(&B), v(&C)], vec![]);
    for _ in 0..50 {
        let giver = Liar::new(vec![v(&A)], vec![v(&A)]);
        let (first, second) = add.call((giver, &lender)).expect("three in all");
        assert_eq!(values(&first), [101., 202., 303., 404.]);
        assert_eq!(values(&second), [110., 220., 330., 440.]);
        assert_eq!(values(&lender.lent[0]), B);
        assert_eq!(values(&lender.lent[1]), C);
    }
    // The other way round: what is given meets the input that is not donated.
    let giver = Liar::new(vec![v(&A), v(&B), v(&C)], vec![v(&A), v(&B), v(&C)]);
    let (first, _) = add
        .call((giver, &Liar::new(vec![], vec![])))
        .expect("three in all");
    assert_eq!(values(&first), [101., 202., 303., 404.]);
}

/// An honest one, which lends by way of a list of its own, and looks how long lists are.
struct Careful([Buffer; 2]);

impl Careful {
    fn pass<'a>(leaves: &mut ArgumentList<'a>, each: impl Fn(&mut ArgumentList<'a>, usize)) {
        let before = leaves.len();
        let mut own = ArgumentList::new();
        assert!(own.is_empty());
        each(&mut own, 0);
        each(&mut own, 1);
        assert_eq!(own.len(), 2);
        own.append_to(leaves);
        assert_eq!(leaves.len(), before + 2);
        assert!(!leaves.is_empty());
    }
}

impl Tree for Careful {
    const LEAVES: Option<usize> = Some(2);

    fn structure(&self) -> Structure {
        list_of(2)
    }

    fn constant_structure() -> Option<Structure> {
        Some(list_of(2))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        let own: [_; 2] = self.0.map(|leaf| Mutex::new(Some(leaf)));
        Careful::pass(leaves, |list, index| {
            list.push(own[index].lock().expect("no panic").take().expect("once"));
        });
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        Careful::pass(leaves, |list, index| list.push(&self.0[index]));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        Ok(Careful([source.leaf()?, source.leaf()?]))
    }
}

#[test]
fn lists_may_be_made_of_lists_and_know_how_long_they_are() {
    let world = World::new();
    type Add = Function<(Give<Careful>, Ref<Buffer>), Careful>;
    let add: Add = compiled_text(&world.client, ADD_TO_BOTH)
        .typed()
        .expect("it fits");
    let c = vector(&world.device, &C);
    let state = || Careful([vector(&world.device, &A), vector(&world.device, &B)]);
    let sums = add.call((state(), &c)).expect("a call");
    assert_eq!(values(&sums.0[0]), [101., 202., 303., 404.]);
    // What doesn't fit is seen while it is lent, before anything is given.
    let other = Careful([
        vector(&world.device, &A),
        Buffer::scalar(&world.device, 1f32).expect("a scalar"),
    ]);
    let error = add.call((other, &c)).err().expect("a scalar is no vector");
    assert!(error.is_refusal(), "{error}");
    let (other, ()) = error.into_given().expect("whole");
    assert_eq!(values(&other.0[0]), A);
}

/// Its leaves are those of a type that claims another structure than it has.
struct Formless;

impl Tree for Formless {
    const LEAVES: Option<usize> = Some(2);

    fn structure(&self) -> Structure {
        list_of(0)
    }

    fn constant_structure() -> Option<Structure> {
        None
    }

    fn give(self, _: &mut ArgumentList<'_>) {}

    fn lend<'a>(&'a self, _: &mut ArgumentList<'a>) {}

    fn rebuild(_: &mut Source<'_>) -> xla::Result<Self> {
        Ok(Formless)
    }
}

#[test]
fn types_that_contradict_themselves_are_refused_and_no_panic() {
    let world = World::new();
    let compiled = || compiled_text(&world.client, ADD_TO_BOTH);
    for error in [
        compiled()
            .typed::<(Give<Formless>, Give<Formless>), (Buffer, Buffer)>()
            .expect_err("four of three"),
        compiled()
            .typed::<(Give<Buffer>, Give<Buffer>, Ref<Buffer>), Buffer>()
            .expect_err("one of two"),
    ] {
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
    // Lent where the program donates: seen now, or when it is called.
    type Lent<P> = xla::Result<Adds<P>>;
    let first: Lent<(Ref<Formless>, Ref<Buffer>)> = compiled().typed();
    if let Ok(first) = first {
        let error = first.call((&Formless, &vector(&world.device, &C))).err();
        assert!(error.expect("one leaf of three").is_refusal());
    }
    let second: Lent<(Give<Buffer>, Ref<Formless>)> = compiled().typed();
    if let Ok(second) = second {
        let error = second.call((vector(&world.device, &A), &Formless)).err();
        let (a, ()) = error
            .expect("one leaf of three")
            .into_given()
            .expect("refused");
        assert_eq!(values(&a), A);
    }
    // Of results it isn't known how they are built: nothing is run.
    let add: Results<Formless> = compiled().typed().expect("nothing is known");
    let c = vector(&world.device, &C);
    let state = (vector(&world.device, &A), vector(&world.device, &B));
    let error = add.call((state, &c)).err().expect("nothing is known");
    assert!(error.is_refusal(), "{error}");
    let (state, ()) = error.into_given().expect("refused");
    assert_eq!(values(&state.1), B);
    assert_eq!(values(&c), C);
}

/// As a result it claims two leaves, and takes `TAKES`.
struct Taker<const TAKES: usize>(Vec<Buffer>);

impl<const TAKES: usize> Tree for Taker<TAKES> {
    const LEAVES: Option<usize> = Some(2);

    fn structure(&self) -> Structure {
        list_of(2)
    }

    fn constant_structure() -> Option<Structure> {
        Some(list_of(2))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        self.0.into_iter().for_each(|leaf| leaves.push(leaf));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        self.0.iter().for_each(|leaf| leaves.push(leaf));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        let leaves = (0..TAKES).map(|_| source.leaf());
        leaves.collect::<xla::Result<_>>().map(Taker)
    }
}

/// The paths of what a failed call consumed.
fn lost<G>(error: &FunctionError<G>) -> Vec<&str> {
    let lost = error.lost().iter();
    lost.map(|lost| lost.path.as_str()).collect()
}

#[test]
fn results_that_take_another_number_than_they_claim() {
    let world = World::new();
    let c = vector(&world.device, &C);
    let state = || (vector(&world.device, &A), vector(&world.device, &B));
    type Takes<const N: usize> = Results<Taker<N>>;
    let compiled = || compiled_text(&world.client, ADD_TO_BOTH);
    let two: Takes<2> = compiled().typed().expect("the claim fits");
    let taken = two.call((state(), &c)).expect("it keeps its word");
    assert_eq!(values(&taken.0[1]), [110., 220., 330., 440.]);
    // What it leaves is not lost.
    let none: Takes<0> = compiled().typed().expect("the claim fits");
    let error = none.call((state(), &c)).err().expect("two are left");
    assert!(error.to_string().contains("took 0 leaves"), "{error}");
    assert_eq!(lost(&error), ["#0[0]", "#0[1]"]);
    let one: Takes<1> = compiled().typed().expect("the claim fits");
    let error = one.call((state(), &c)).err().expect("one is left");
    assert!(error.to_string().contains("took 1 leaves"), "{error}");
    assert!(!error.is_refusal(), "{error}");
    assert_eq!(lost(&error), ["#0[0]", "#0[1]"]);
    let three: Takes<3> = compiled().typed().expect("the claim fits");
    let error = three.call((state(), &c)).err().expect("there is no third");
    assert!(
        error.to_string().contains("more than the 2 leaves"),
        "{error}"
    );
    assert_eq!(values(&c), C);
}

#[test]
fn the_leaves_and_copies_of_a_tree_that_lies() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    for told in [0, 1, 3, 100] {
        let structure = vec![list_of(told)];
        let liar = Liar::<2>::with_structures(vec![v(&A), v(&B)], vec![], structure);
        let leaves = liar.leaves("liar");
        assert_eq!(leaves.len(), 2, "{told}");
        assert!(leaves.iter().all(|(path, _)| path.starts_with("liar")));
        assert_eq!(values(leaves[1].1), B);
        // It takes one leaf and has two.
        let error = liar.copy_on_device().err().expect("one is left");
        assert!(error.message().contains("took 1 leaves"), "{error}");
    }
    let short = Taker::<3>(vec![v(&A)]);
    assert!(short.copy_on_device().is_err());
}

/// Pushes what it owns, although it was only asked to lend.
struct Giver(Mutex<Option<Buffer>>);

impl Tree for Giver {
    const LEAVES: Option<usize> = Some(1);

    fn structure(&self) -> Structure {
        Structure::leaf()
    }

    fn constant_structure() -> Option<Structure> {
        Some(Structure::leaf())
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        let buffer = self.0.into_inner().expect("no panic");
        buffer.into_iter().for_each(|buffer| leaves.push(buffer));
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        let buffer = self.0.lock().expect("no panic").take();
        buffer.into_iter().for_each(|buffer| leaves.push(buffer));
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        Ok(Giver(Mutex::new(Some(source.leaf()?))))
    }
}

#[test]
fn a_tree_that_gives_when_it_is_asked_to_lend_harms_itself_alone() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    type Pair = (Buffer, Buffer);
    let add: Adds<(Give<Pair>, Ref<Giver>)> = compiled_text(&world.client, ADD_TO_BOTH)
        .typed()
        .expect("the claims fit");
    let giver = Giver(Mutex::new(Some(v(&C))));
    let error = add
        .call(((v(&A), v(&B)), &giver))
        .expect_err("it has given its leaf when it was looked at");
    let survivors = error.into_survivors();
    assert_eq!(survivors.len(), 2);
    assert_eq!(values(&survivors[0].buffer), A);
    assert_eq!(values(&survivors[1].buffer), B);
}

/// Lends for ever, although it is given: the buffer is leaked.
struct Immortal(&'static Buffer);

impl Tree for Immortal {
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
        leaves.push(self.0);
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        Ok(Immortal(Box::leak(Box::new(source.leaf()?))))
    }
}

#[test]
fn what_a_given_tree_only_lends_is_not_consumed() {
    let world = World::new();
    let add = add_to_both::<(Immortal, Immortal)>(&world);
    let c = vector(&world.device, &C);
    let a: &'static Buffer = Box::leak(Box::new(vector(&world.device, &A)));
    for _ in 0..50 {
        // The same buffer twice: both times lent.
        let (first, second) = add.call(((Immortal(a), Immortal(a)), &c)).expect("runs");
        assert_eq!(values(&first), [101., 202., 303., 404.]);
        assert_eq!(values(&second), [101., 202., 303., 404.]);
        assert_eq!(values(a), A);
    }
    let ((_, _), report) = add
        .call_reported(((Immortal(a), Immortal(a)), &c))
        .expect("runs");
    assert!(report.leaves().is_empty(), "{report}");
}

/// Panics where its number says.
struct Panics(Vec<Buffer>, usize);

impl Tree for Panics {
    const LEAVES: Option<usize> = Some(2);

    fn structure(&self) -> Structure {
        assert_ne!(self.1, 0, "on purpose");
        list_of(2)
    }

    fn constant_structure() -> Option<Structure> {
        Some(list_of(2))
    }

    fn give(self, leaves: &mut ArgumentList<'_>) {
        for (index, leaf) in self.0.into_iter().enumerate() {
            assert_ne!(self.1, index + 1, "on purpose");
            leaves.push(leaf);
        }
    }

    fn lend<'a>(&'a self, leaves: &mut ArgumentList<'a>) {
        for leaf in &self.0 {
            assert_ne!(self.1, 3, "on purpose");
            leaves.push(leaf);
        }
    }

    fn rebuild(source: &mut Source<'_>) -> xla::Result<Self> {
        let leaf = source.leaf()?;
        panic!("on purpose, with {leaf:?}")
    }
}

#[test]
fn a_tree_that_panics_leaves_the_rest_in_order() {
    let world = World::new();
    let v = |values: &[f32]| vector(&world.device, values);
    let add: Function<(Give<Panics>, Ref<Buffer>), Panics> =
        compiled_text(&world.client, ADD_TO_BOTH)
            .typed()
            .expect("the claims fit");
    let c = v(&C);
    for place in (0..5).cycle().take(50) {
        let call = || {
            let _ = add.call_reported((Panics(vec![v(&A), v(&B)], place), &c));
        };
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        assert!(panic.is_err(), "place {place}");
        assert_eq!(values(&c), C, "place {place}");
    }
    // The program is as good as before.
    let outputs = add.executable().run((v(&A), v(&B), &c)).expect("runs");
    assert_eq!(values(&outputs[1]), [110., 220., 330., 440.]);
}
