//! The macros of `xla-pjrt`, which re-exports them: `#[derive(xla::Tree)]` and
//! `#[xla::program("...")]`.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

mod program;
mod root;
mod tree;

/// Makes a struct of buffers a tree, which is one argument or result of a program.
///
/// ```
/// use xla::{Buffer, Tree};
///
/// #[derive(Tree)]
/// struct Layer {
///     weights: Buffer,
///     bias: Buffer,
/// }
///
/// #[derive(Tree)]
/// struct Model<H> {
///     layers: [Layer; 3],
///     head: H,
///     #[tree(skip)]
///     steps: u64,
/// }
///
/// assert_eq!(Model::<Layer>::LEAVES, Some(8));
/// assert_eq!(Model::<Option<Layer>>::LEAVES, None); // known at run time
/// ```
///
/// Every field is a tree itself: a buffer, another struct, a tuple, array, `Vec`, `Option`
/// or map of trees. Leaves come in the order in which the fields are declared, as JAX has
/// them for named tuples and registered dataclasses.
///
/// Type parameters of fields are bounded by `Tree`. Structs with lifetimes, enums and
/// unions are refused: a tree owns its buffers, and has them all at any time.
///
/// # Options
///
/// On the struct:
///
/// - `#[tree(sorted)]`: leaves come in the order of the fields' names, as JAX has them for
///   dicts.
/// - `#[tree(crate = "path")]`: where the crate `xla` is, if not at `::xla`.
///
/// On a field:
///
/// - `#[tree(name = "...")]`: what it is called in paths and in the order of names, where
///   the program calls it otherwise than Rust can.
/// - `#[tree(skip)]`: it holds no buffers; a result of a program has `Default::default()`
///   there.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    tree::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a `StableHLO` file a typed program, and refuses, while compiling, a Rust signature
/// that doesn't fit it.
///
/// ```no_run
/// use xla::{program, Buffer, Client};
///
/// /// One step of gradient descent.
/// #[program("../examples/programs/sgd_step.mlir")]
/// fn sgd_step(w: Buffer, g: &Buffer) -> Buffer;
///
/// # fn main() -> xla::Result<()> {
/// let client = Client::cpu()?;
/// let device = client.device(0)?;
/// let step = sgd_step::load(&client)?;
/// let mut w = Buffer::from_host(&device, &[1f32, 2., 3., 4.], &[4])?;
/// let g = Buffer::from_host(&device, &[1f32; 4], &[4])?;
/// for _ in 0..3 {
///     w = step.call((w, &g))?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// The file says that the step donates `w`, so nothing else compiles:
///
/// ```compile_fail
/// # use xla::{program, Buffer};
/// #[program("../examples/programs/sgd_step.mlir")]
/// fn sgd_step(w: &Buffer, g: &Buffer) -> Buffer; // ... donates `w`: take it by value, `Buffer`
/// ```
///
/// It stands before a function without a body. The path is relative to the folder of
/// `Cargo.toml`. An argument by value is given, one by reference is lent. The function's
/// name becomes an (empty) type with
///
/// - `load(&Client)`, which compiles the program for one device and gives a `Function`,
///   whose `call` takes the arguments as a tuple,
/// - `load_parallel(&Client)`, which compiles it for as many devices as it states and gives a
///   `ParallelFunction`: see [below](#many-devices),
/// - `load_with(&Client, &CompileOptions)` and `load_parallel_with(&Client, &CompileOptions)`,
/// - `program()`, the `Program` without types,
/// - `TEXT`, the file itself: it is part of what is compiled, so nothing is read at run time,
///   and a changed file is compiled anew.
///
/// # Many devices
///
/// The declaration has the types of one device. A `ParallelFunction` takes and gives a
/// `PerDevice` of each, in one launch for all devices:
///
/// ```no_run
/// use xla::{program, Buffer, Client, HostArray, One, PerDevice, Split};
///
/// #[program("../examples/programs/sgd_replicas_4.mlir")]
/// fn step(w: Buffer, g: &Buffer) -> Buffer;
///
/// /// The same file, with host arrays that are split over the devices, and one result.
/// #[program("../examples/programs/sgd_replicas_4.mlir")]
/// fn step_of_batch(w: Buffer, g: Split<Buffer>) -> One<Buffer>;
///
/// # fn main() -> xla::Result<()> {
/// # let client = Client::cpu()?;
/// let step = step::load_parallel(&client)?; // ParallelFunction<(Give<..>, Ref<..>), Each<..>>
/// let devices = step.executable().devices(); // 4 of them: the file says so
/// let mut w = PerDevice::replicate(devices, &HostArray::new(&[0f32; 4], &[4])?.into())?;
/// let g: PerDevice<Buffer> =
///     PerDevice::shard(devices, &HostArray::new(&[1f32; 16], &[16])?.into(), 0)?;
/// for _ in 0..3 {
///     w = step.call((w, &g))?;
/// }
///
/// let step = step_of_batch::load_parallel(&client)?;
/// let batch = HostArray::new(&[1f32; 16], &[16])?.into();
/// let first: Buffer = step.call((w, &batch))?;
/// # Ok(())
/// # }
/// ```
///
/// | declared | becomes | a call takes or gives |
/// |---|---|---|
/// | `state: State` | `Give<State>` | `PerDevice<State>` |
/// | `batch: &Batch` | `Ref<Batch>` | `&PerDevice<Batch>` |
/// | `batch: Split<Batch>` | itself | `&HostTree<Batch>`, of which each replica gets its share |
/// | `rate: Same<Rate>` | itself | `&HostTree<Rate>`, the same for all replicas |
/// | `params: Part<Params>` | itself | what `PerDevice::part` lends of larger trees |
/// | `-> State` | `Each<State>` | `PerDevice<State>` |
/// | `-> One<Metrics>` | itself | `Metrics`, of the first device |
/// | `-> (State, One<Metrics>)` | `(Each<State>, One<Metrics>)` | a tuple of the two |
/// | nothing, `-> ()` | `()` | `()` |
///
/// `Split`, `Same`, `Part`, `One` and `Each` are known by these names, with a path before them or
/// without, and have to be those of this crate. They are said of a whole argument or result,
/// or of an element of a tuple of results. A declaration with one of them is for many devices
/// only (of which there may be one): it has no `load`. A type of your own with such a name needs
/// another here: `type Rows = my::Part<Buffer>;`.
///
/// How many devices there are is what the file states (`mhlo.num_replicas`,
/// `mhlo.num_partitions`), else what the options say: `CompileOptions::replicas`. A program
/// whose file states several can't be loaded for one: a call of `load` doesn't compile.
///
/// ```compile_fail,E0277
/// # use xla::{program, Buffer, Client};
/// #[program("../examples/programs/sgd_replicas_4.mlir")]
/// fn step(w: Buffer, g: &Buffer) -> Buffer;
///
/// # fn f(client: &Client) -> xla::Result<()> {
/// step::load(client)?; // ... states 4 replicas: use `step::load_parallel`
/// # Ok(())
/// # }
/// ```
///
/// The file of a partitioned program has the shapes of whole arrays, but as many inputs,
/// outputs and donations as each device: those are compared.
///
/// # What is checked while compiling
///
/// - How many leaves the arguments and results have, against the inputs and outputs of the
///   program's `@main`: all together, and each by itself where the file tells. It does where
///   JAX put its names, as in `loc("state['w']")`. (It writes them with
///   `lowered.as_text(debug_info=True)`.) A type whose count is known at run time only,
///   because of a `Vec`, `Option` or map, is left to `load` and `call`.
/// - That arguments come in the order of their inputs, where names tell.
/// - Donation: what the program donates (`tf.aliasing_output`, `jax.buffer_donor`) has to be
///   taken by value. An argument of which it donates nothing has to be taken by reference.
///
/// - As `Split` and `Same` are uploaded for the call, it doesn't matter whether the program
///   donates them. `Part` is by reference.
///
/// Element types and dimensions are compared at each call: a struct of buffers has none.
///
/// # Options
///
/// Behind the path: `alias = Name` makes a type alias for what `load` gives, to be named in a
/// struct's field; `parallel_alias = Name` for what `load_parallel` gives; `crate = "path"` says where the crate `xla` is, if not at
/// `::xla`.
#[proc_macro_attribute]
pub fn program(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = syn::parse_macro_input!(options as program::Options);
    program::expand(&options, item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
