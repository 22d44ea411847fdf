//! The reader of StableHLO text.

use xla_mlir::{parse, Error, Main};

fn read(text: &str) -> Main {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> Error {
    match parse(text.as_bytes()) {
        Err(error) => error,
        Ok(main) => panic!("read as {main:?}\n{text}"),
    }
}

fn programs() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/programs");
    let mut programs: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .expect("the programs of the repository")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            (name.into_owned(), std::fs::read(&path).expect("a file"))
        })
        .collect();
    programs.sort();
    programs
}

/// A line for each input and output, as tests state them.
fn summary(main: &Main) -> Vec<String> {
    let devices = |number: Option<usize>| number.map_or("?".to_owned(), |n| n.to_string());
    let mut lines = vec![format!(
        "{} x {}",
        devices(main.replicas),
        devices(main.partitions)
    )];
    lines.extend(main.inputs.iter().map(|input| {
        let mut line = format!("{}: {}", input.name.as_deref().unwrap_or("?"), input.tensor);
        if let Some(output) = input.aliasing_output {
            line += &format!(" into {output}");
        }
        if input.buffer_donor {
            line += " donor";
        }
        line
    }));
    lines.extend(main.outputs.iter().map(|output| {
        let name = output.name.as_deref().unwrap_or("?");
        format!("{name} = {}", output.tensor)
    }));
    lines
}

#[test]
fn programs_of_the_repository() {
    let expected: &[(&str, &[&str])] = &[
        (
            "add.mlir",
            &["1 x 1", "x: f32[4]", "y: f32[4]", "result = f32[4]"],
        ),
        (
            "all_reduce_replicas_2.mlir",
            &["2 x 1", "?: f32[4]", "? = f32[4]", "? = ui32[]"],
        ),
        (
            "all_reduce_replicas_4.mlir",
            &["4 x 1", "?: f32[4]", "? = f32[4]", "? = ui32[]"],
        ),
        (
            "column_major.mlir",
            &["? x ?", "?: f32[2,3]", "? = f32[2,3]"],
        ),
        (
            "column_major_argument.mlir",
            &["? x ?", "?: f32[2,3]", "? = f32[2,3]"],
        ),
        (
            "counter.mlir",
            &["1 x 1", "count: f32[] into 0", "result = f32[]"],
        ),
        (
            "matmul_bf16.mlir",
            &[
                "1 x 1",
                "x: bf16[8,16]",
                "y: bf16[16,4]",
                "result = bf16[8,4]",
            ],
        ),
        (
            "named_sharding_4.mlir",
            &["1 x 4", "x: f32[8,16]", "w: f32[16,4]", "result = f32[8,4]"],
        ),
        (
            "pmap_4.mlir",
            &["1 x 4", "flat_args[0]: f32[4,4]", "result = f32[4,4]"],
        ),
        (
            "sgd_partitions_4.mlir",
            &["1 x 4", "w: f32[4] donor", "g: f32[4,4]", "result = f32[4]"],
        ),
        (
            "sgd_replicas_4.mlir",
            &["4 x 1", "?: f32[4] into 0", "?: f32[4]", "? = f32[4]"],
        ),
        (
            "sgd_step.mlir",
            &["1 x 1", "w: f32[4] into 0", "g: f32[4]", "result = f32[4]"],
        ),
        (
            "two_devices.mlir",
            &["1 x 2", "row: f32[2,4]", "result = f32[1,4]"],
        ),
        (
            "two_devices_inferred.mlir",
            &["1 x 2", "row: f32[2,4]", "result = f32[1,4]"],
        ),
    ];
    let programs = programs();
    for (name, lines) in expected {
        let (_, code) = programs
            .iter()
            .find(|(other, _)| other == name)
            .unwrap_or_else(|| panic!("{name} is gone"));
        let main = parse(code).unwrap_or_else(|error| panic!("{name}:{error}"));
        assert_eq!(summary(&main), *lines, "{name}");
    }
    // Those that came later can be read, too.
    for (name, code) in programs {
        if name.ends_with(".mlir") {
            parse(&code).unwrap_or_else(|error| panic!("{name}:{error}"));
        }
    }
}

#[test]
fn other_forms_are_refused_with_the_way_out() {
    for (name, code) in programs() {
        let wanted = match name.rsplit_once('.') {
            Some((_, "bc" | "stablehlo")) => "this is MLIR bytecode or a portable artifact",
            Some((_, "pb")) => "this is no text, perhaps an HLO protobuf",
            _ => continue,
        };
        let error = parse(&code).expect_err(&name);
        assert!(error.message.starts_with(wanted), "{name}: {error}");
        assert!(error.message.contains("as_text()"), "{name}: {error}");
        assert!(
            error.message.contains("xla::Program::from_file"),
            "{name}: {error}"
        );
        assert_eq!(error.place, None);
    }
    assert_eq!(refused(" \n").to_string(), "the file is empty");
    assert!(refused("HloModule f\nENTRY e {}")
        .message
        .starts_with("this is HLO text"));
    let error = parse(b"module {\n  // \xff\n}").expect_err("no UTF-8");
    assert_eq!(error.place, Some((2, 6)));
    let long = format!("module {{ // {}\0 }}", "x".repeat(80));
    assert_eq!(refused(&long).place, Some((1, 93)));
    assert!(parse(b"").is_err());
}

#[test]
fn shapes_of_main() {
    let none = read("func.func @main() { return }");
    assert_eq!(summary(&none), ["? x ?"]);
    let single = read("module { func.func @main(%x: tensor<f32>) -> tensor<i1> { return } }");
    assert_eq!(summary(&single), ["? x ?", "?: f32[]", "? = i1[]"]);
    assert_eq!(single.inputs[0].value.as_deref(), Some("x"));
    let several = read(
        "#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>
         #set = affine_set<(d0) : (d0 - 1 >= 0, d0 <= 7)>
         !state = tensor<2x3xcomplex<f32>>
         module @m attributes {a.b = #map, c = [1, -2.5e+3, \"x\" : !x.y<z>], mhlo.num_replicas = 2 : i32} {
           ml_program.global private mutable @g(dense<0> : tensor<i32>) : tensor<i32>
           sdy.mesh @mesh = <[\"x\"=4]> {stablehlo.mesh = {axes = [{name = \"x\"}]}} loc(#loc)
           module @inner { func.func @main(%a: i32) { } }
           func.func private @external(tensor<4xf32> {a = 1}, i32) -> (tensor<4xf32>, i32) attributes {x}
           \"some.op\"() <{a = \"}\"}> ({ ^bb0(%a: i32): }) {b} : () -> ()
           func.func private @helper(%a: tuple<tensor<f32>>) -> !foo.bar<[1, 2]> { // }
             \"foo.bar\"(%a) {s = \"}\\\"}\"} : (i32) -> i32
           }
           func.func public @\"main\"(
             %arg0: !state {jax.buffer_donor = false, mhlo.buffer_donor = true} loc(#loc1),
             %arg1: !stablehlo.token,
             %arg2: tensor<0x?x1xf8E4M3FN, #stablehlo.bounds<?, 4, ?>> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>, tf.aliasing_output = 1 : i64},
             %arg3: tensor<*xui4> {jax.buffer_donor = true}) -> (tensor<2xf64> {jax.result_info = \"a['\\22']\"}, tensor<f32>)
             attributes {mhlo.num_replicas = 9 : i32} {
             return
           } loc(#loc1)
           func.func @after() { return }
         } loc(#loc)
         #loc = loc(unknown)
         #loc1 = loc(\"state['w']\"(#loc2))
         #loc2 = loc(\"file.py\":1:2 to 3:4)
         {-# dialect_resources: { builtin: { x: \"0x01#-}\" } } #-}",
    );
    assert_eq!(
        summary(&several),
        [
            "2 x ?",
            // It is there: that counts, not its value.
            "state['w']: complex<f32>[2,3] donor",
            "?: token[]",
            "?: f8E4M3FN[0,?,1] into 1",
            "?: ui4[*] donor",
            "a['\"'] = f64[2]",
            "? = f32[]",
        ]
    );
}

#[test]
fn the_generic_form() {
    let properties = "\"builtin.module\"() <{sym_name = \"m\"}> ({
           \"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=4]>, sym_name = \"mesh\"}> : () -> ()
           \"func.func\"() <{function_type = (tuple<i32>) -> (), sym_name = \"f\"}> ({
           ^bb0(%a: tuple<i32>):
             \"func.return\"() : () -> ()
           }) : () -> () loc(#loc1)
           \"func.func\"() <{arg_attrs = [{tf.aliasing_output = 1 : i32}, {}, {jax.buffer_donor = true}],
             function_type = (tensor<2xf32>, !t, tensor<i1>) -> (tensor<f32>, tensor<2xf32>),
             res_attrs = [{jax.result_info = \"r\"}, {}], sym_name = \"main\"}> ({
           ^bb0(%arg0: tensor<2xf32> loc(\"a\"), %x: !t loc(#loc1), %arg2: tensor<i1>):
             \"func.return\"(%0, %1) : (tensor<f32>, tensor<2xf32>) -> ()
           }) {b = 1} : () -> () loc(\"main\")
         }) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} : () -> () loc(#loc1)
         #loc1 = loc(\"b\")";
    let aliased = format!("!t = tensor<?x1xui4>\n{properties}");
    // As MLIR wrote it before operations had properties.
    let attributes = "!t = tensor<?x1xui4>
         \"builtin.module\"() ({
         ^bb0:
           \"func.func\"() ({
           ^bb1(%arg0: tensor<2xf32> loc(\"a\"), %x: !t loc(\"b\"), %arg2: tensor<i1>):
           }) {sym_name = \"main\", res_attrs = [{jax.result_info = \"r\"}, {}],
             function_type = (tensor<2xf32>, !t, tensor<i1>) -> (tensor<f32>, tensor<2xf32>),
             arg_attrs = [{tf.aliasing_output = 1 : i32}, {}, {jax.buffer_donor = true}]} : () -> ()
         }) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 2 : i32} : () -> ()";
    for text in [aliased.as_str(), attributes] {
        let main = read(text);
        assert_eq!(
            summary(&main),
            [
                "2 x 4",
                "a: f32[2] into 1",
                "b: ui4[?,1]",
                "?: i1[] donor",
                "r = f32[]",
                "? = f32[2]",
            ]
        );
        assert_eq!(main.inputs[1].value.as_deref(), Some("x"));
    }
    let none =
        read("\"func.func\"() <{function_type = () -> (), sym_name = \"main\"}> ({}) : () -> ()");
    assert_eq!(summary(&none), ["? x ?"]);
    let mixed = read("module { \"func.func\"() <{function_type = () -> tensor<f32>, sym_name = \"main\"}> ({}) : () -> ()\n func.func @g() {} }");
    assert_eq!(summary(&mixed), ["? x ?", "? = f32[]"]);
    let mixed = read("\"builtin.module\"() ({ func.func @main() { return } }) : () -> ()");
    assert_eq!(summary(&mixed), ["? x ?"]);
    let twice =
        "\"func.func\"() <{function_type = () -> (), sym_name = \"main\"}> ({}) : () -> ()\n";
    assert_eq!(
        refused(&twice.repeat(2)).to_string(),
        "2:1: the program has two functions `@main`"
    );
}

#[test]
fn names_are_found_in_locations_of_all_kinds() {
    let name = |location: &str, aliases: &str| {
        let text = format!(
            "module {{ func.func @main(%arg0: tensor<f32> {location}) {{ return }} }}\n{aliases}"
        );
        read(&text).inputs[0].name.clone()
    };
    assert_eq!(name("", ""), None);
    assert_eq!(name("loc(unknown)", ""), None);
    assert_eq!(name("loc(\"a\")", "").as_deref(), Some("a"));
    assert_eq!(
        name("loc(\"a b\\\\\\\"\\41\\n\")", "").as_deref(),
        Some("a b\\\"A\n")
    );
    assert_eq!(name("loc(\"a\"(\"f.py\":1:2))", "").as_deref(), Some("a"));
    assert_eq!(name("loc(\"f.py\":1:2)", ""), None);
    assert_eq!(name("loc(\"f.py\":1:2 to :4)", ""), None);
    assert_eq!(
        name("loc(fused[\"f\":1:2, #l, \"b\"])", "#l = loc(\"a\")").as_deref(),
        Some("a")
    );
    assert_eq!(
        name("loc(fused<{x = 1}>[unknown, loc(\"b\")])", "").as_deref(),
        Some("b")
    );
    assert_eq!(name("loc(callsite(\"a\" at #l))", "").as_deref(), Some("a"));
    assert_eq!(
        name("loc(callsite(#k at \"b\"(unknown)))", "").as_deref(),
        Some("b")
    );
    assert_eq!(
        name("loc(#l)", "#l = loc(#k)\n#k = loc(\"a\")").as_deref(),
        Some("a")
    );
    assert_eq!(
        name("loc(#l)", "#l = loc(#k)\n#k = loc(fused[#l, #k])"),
        None
    );
    assert_eq!(name("loc(#l)", ""), None);
    assert_eq!(name("loc(#dialect.loc<1, [2]>)", ""), None);
}

#[test]
fn refusals_say_where_and_what() {
    let cases: &[(&str, &str)] = &[
        ("module {", "1:8: the module that begins here has no `}`"),
        ("module {}", "the program has no function `@main`, which is where it begins"),
        (
            "func.func @f() {}\nfunc.func @g() {}",
            "the program has no function `@main`, which is where it begins; it has `@f`, `@g`",
        ),
        (
            "module { module { func.func @main() {} } }",
            "the program has no function `@main`, which is where it begins: at least not in its \
             outermost module, and the modules inside don't count",
        ),
        (
            "func.func @main() {}\nfunc.func @main() {}",
            "2:11: the program has two functions `@main`",
        ),
        (
            "func.func @main()",
            "1:18: expected the body of `@main`, in `{` and `}`, found the end of the file",
        ),
        ("func.func @main() {\n(]}", "2:2: this `]` doesn't close the `(` of 2:1"),
        ("func.func @main() {\n\"x", "2:1: this string has no end on its line"),
        (
            "func.func @main(%x: tuple<tensor<f32>>) {}",
            "1:21: input 0 is a tuple, but a program for PJRT takes and gives its tensors one by \
             one; write them as separate inputs and outputs",
        ),
        (
            "func.func @main() -> (tensor<f32>, memref<2xf32>) {}",
            "1:36: expected `tensor<...>` as the type of output 1, found `memref`",
        ),
        (
            "func.func @main(%x: !t) {}",
            "1:21: expected `tensor<...>` as the type of input 0, found `!t`",
        ),
        (
            "func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.1>>) {}",
            "1:30: input 0 is quantised, which no buffer can hold; pass its integers, and quantise \
             inside the program",
        ),
        (
            "func.func @main(%x: tensor<4xf31>) {}",
            "1:30: `f31` is no element type that buffers have, such as `f32`, `bf16`, `i32`, `ui8` \
             or `i1`",
        ),
        (
            "func.func @main(%x: tensor<4>) {}",
            "1:29: behind a dimension belongs `x` and what follows, as in `tensor<2x3xf32>`",
        ),
        (
            "func.func @main(%x: tensor<99999999999999999999xf32>) {}",
            "1:28: this dimension is too large",
        ),
        (
            "func.func @main(%x: tensor<f32>, ...) {}",
            "1:34: `@main` takes a fixed number of inputs, so no `...`",
        ),
        (
            "func.func @main(%x: tensor<f32> {tf.aliasing_output = 1 : i32}) -> tensor<f32> {}",
            "1:55: input 0 is donated into an output that the program doesn't have: it has 1, \
             counted from 0",
        ),
        (
            "func.func @main(%x: tensor<f32> {tf.aliasing_output = -1 : i32}) -> tensor<f32> {}",
            "1:55: input 0 is donated into an output that the program doesn't have: it has 1, \
             counted from 0",
        ),
        (
            "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32},\n %y: tensor<f32> \
             {tf.aliasing_output = 0 : i32}) -> tensor<f32> {}",
            "2:40: input 1 is donated into output 0, which input 0 is donated into already",
        ),
        (
            "func.func @main(%x: tensor<f32> {tf.aliasing_output}) {}",
            "1:34: `tf.aliasing_output` is the number of an output, as in `tf.aliasing_output = 0 \
             : i32`",
        ),
        (
            "func.func @main(%x: tensor<f32> {jax.buffer_donor = 1}) {}",
            "1:53: `jax.buffer_donor` is true or false, as in `jax.buffer_donor = true`",
        ),
        (
            "module attributes {mhlo.num_replicas = 0 : i32} { func.func @main() {} }",
            "1:40: `mhlo.num_replicas` is a positive number, as in `mhlo.num_replicas = 4 : i32`",
        ),
        (
            "module attributes {a, a = 1} { func.func @main() {} }",
            "1:23: the attribute `a` stands here twice",
        ),
        (
            "\"builtin.module\"() ({\n}) : () -> ()",
            "the program has no function `@main`, which is where it begins",
        ),
        (
            "\"builtin.module\"() ({ \"builtin.module\"() ({}) : () -> () \"func.func\"() \
             <{sym_name = \"f\"}> ({}) : () -> () }) : () -> ()",
            "the program has no function `@main`, which is where it begins: at least not in its \
             outermost module, and the modules inside don't count",
        ),
        (
            "module { \"func.func\"() <{sym_name = \"main\"}> ({}) : () -> () }",
            "1:10: `@main` has no `function_type`",
        ),
        (
            "\"func.func\"() ({}) {a} : () -> ()",
            "1:1: this function has no `sym_name`",
        ),
        (
            "\"func.func\"() <{function_type = () -> (), sym_name = \"main\"}> : () -> ()",
            "1:63: expected the function's body, in `({` and `})`, found `:`",
        ),
        (
            "\"func.func\"() <{arg_attrs = [{}], function_type = () -> (), sym_name = \"main\"}> \
             ({}) : () -> ()",
            "1:29: `arg_attrs` of `@main` has 1 dictionaries, but there are 0 to be told of",
        ),
        (
            "\"func.func\"() <{function_type = (tensor<f32>) -> (), sym_name = \"main\"}> ({}) : \
             () -> ()",
            "1:74: the body of `@main` takes 0 arguments, but its type has 1",
        ),
        ("module { ; }", "1:10: ';' has no meaning here in StableHLO text"),
        ("import jax", "the program has no function `@main`, which is where it begins"),
        ("{ }", "1:1: expected an operation, such as `module` or `func.func`, found `{`"),
        ("#l = loc(\"a\":1)", "1:15: expected `:`, found `)`"),
    ];
    for (text, message) in cases {
        assert_eq!(refused(text).to_string(), *message, "{text}");
    }
}

#[test]
fn what_is_nested_deep_is_refused_and_takes_no_stack() {
    let deep = |before: &str, again: &str| format!("{before}{}", again.repeat(100_000));
    for (before, again) in [
        ("#a = ", "["),
        ("#a = ", "{a = "),
        ("#a = loc(", "\"a\"("),
        ("#a = loc(", "callsite("),
        ("#a = loc(", "fused["),
        ("func.func @main() attributes {a = ", "[{b = "),
    ] {
        let message = refused(&deep(before, again)).message;
        assert_eq!(
            message, "this is nested more than 128 deep",
            "{before}{again}"
        );
    }
    // What needn't be understood is passed over, however deep.
    for (before, again) in [
        ("#a = ", "() -> "),
        ("#a = 1 : ", "!t<"),
        ("func.func @main(%a: ", "tensor<2xf32, ["),
        ("func.func @f() { x ", "({"),
        ("module { func.func @f() { x ", "("),
        ("module { ", "module { "),
        ("\"builtin.module\"() ({ ", "\"builtin.module\"() ({ "),
    ] {
        refused(&deep(before, again));
    }
}

/// Numbers that look random and are the same at every run (a linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }
}

/// What mutations begin with: the repository's smaller programs (the large ones are long,
/// not different) and one with everything in it.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = programs()
        .into_iter()
        .filter(|(name, _)| name.ends_with(".mlir"))
        .map(|(_, code)| code)
        .filter(|code| code.len() < 8_000)
        .collect();
    assert!(seeds.len() >= 10, "the programs are where they were");
    let everything = "#map = affine_map<(d0)[s0] -> (d0 >= s0)>\n!t = tensor<2x?xf32>\n\
        module @m attributes {mhlo.num_replicas = 2 : i32, a = [-1.5e-3, {b}], c = #map} {\n\
        sdy.mesh @mesh = <[\"x\"=4]> loc(#loc)\n\
        func.func private @f(tuple<i32>) -> (i32, !a.b<{c}>)\n\
        \"a.b\"() <{c = \"\\\"}é\"}> ({ ^bb0(%a: i32): }) : () -> ()\n\
        func.func public @main(%arg0: !t {tf.aliasing_output = 0 : i32} loc(\"s['w']\"(#loc1)), \
        %arg1: tensor<0x*xcomplex<f32>, #e<[1]>> {jax.buffer_donor = true, d = dense<[1]> : \
        tensor<1xi8>} loc(fused<\"k\">[#loc1, callsite(\"a\" at unknown)])) -> (tensor<f32> \
        {jax.result_info = \"r\"}) attributes {x = () -> (i32), y = @a::@b} { // é }\n\
        %0 = stablehlo.compare LT, %a, %b : i32\n } loc(#loc)\n}\n\
        #loc = loc(unknown)\n#loc1 = loc(\"f.py\":1:2 to 3:4)\n{-# a: { b: \"0x0#-}\" } #-}\n";
    parse(everything.as_bytes()).expect("a program with everything in it");
    seeds.push(everything.as_bytes().to_vec());
    let generic = "\"builtin.module\"() <{sym_name = \"m\"}> ({\n^bb0:\n\"func.func\"() <{arg_attrs = \
        [{tf.aliasing_output = 0 : i32}, {}], function_type = (tensor<f32>, tensor<2xi1>) -> \
        tensor<f32>, res_attrs = [{jax.result_info = \"r\"}], sym_name = \"main\"}> ({\n^bb0(%a: \
        tensor<f32> loc(\"w\"), %b: tensor<2xi1>):\n\"func.return\"(%a) : (tensor<f32>) -> ()\n}) \
        {b = [1]} : () -> () loc(#l)\n}) {mhlo.num_replicas = 2 : i32} : () -> ()\n#l = loc(unknown)";
    parse(generic.as_bytes()).expect("a program in generic form");
    seeds.push(generic.as_bytes().to_vec());
    seeds
}

#[test]
fn every_beginning_of_a_program_is_read_or_refused() {
    for seed in seeds() {
        for end in 0..seed.len() {
            // Whatever it says, it says it.
            let _ = parse(&seed[..end]);
        }
    }
}

#[test]
fn damaged_programs_are_read_or_refused() {
    let seeds = seeds();
    let mut numbers = Numbers(1);
    let signs = b"(){}[]<>\"\\#@%!^:,=-./ \n0x?*\xc3\0";
    let (mut read, mut refused) = (0, 0);
    for round in 0..40_000 {
        let mut code = seeds[round % seeds.len()].clone();
        for _ in 0..=numbers.below(4) {
            if code.is_empty() {
                break;
            }
            let at = numbers.below(code.len());
            let length = (1 + numbers.below(12)).min(code.len() - at);
            match numbers.below(5) {
                0 => drop(code.drain(at..at + length)),
                1 => {
                    let piece = code[at..at + length].to_vec();
                    let to = numbers.below(code.len());
                    code.splice(to..to, piece);
                }
                2 => code[at] = signs[numbers.below(signs.len())],
                3 => code.insert(at, signs[numbers.below(signs.len())]),
                _ => code.truncate(at),
            }
        }
        match parse(&code) {
            Ok(_) => read += 1,
            Err(error) => {
                assert!(!error.message.is_empty());
                refused += 1;
            }
        }
    }
    // Both ways were gone.
    assert!(
        read > 1000 && refused > 1000,
        "{read} read, {refused} refused"
    );
}

#[test]
fn long_chains_are_followed_to_their_end() {
    // Looked at again and again, or by recursion, these would not end or not fit the stack.
    let body = "%0 = stablehlo.constant dense<\"0x00112233\"> : tensor<1xf32>\n".repeat(20_000);
    let aliases: String = (0..20_000)
        .map(|index| format!("#l{index} = loc(fused[#l{0}, #l{0}])\n", index + 1))
        .collect();
    let text = format!(
        "module {{ func.func @main(%x: tensor<f32> loc(#l0)) {{\n{body}}} }}\n{aliases}\
         #l20000 = loc(\"deep\")\n{}",
        "\"a\"    \n".repeat(20_000)
    );
    assert_eq!(read(&text).inputs[0].name.as_deref(), Some("deep"));
}

#[test]
fn which_types_have_no_bounds() {
    let main = read(
        "#b = #stablehlo.bounds<8, ?>
         func.func @main(%a: tensor<?x4xf32>, %b: tensor<?x4xf32, #b>, %c: tensor<4x?xf32, #stablehlo.bounds<?, 8>>,
             %d: tensor<4xf32>, %e: tensor<*xf32>, %f: !stablehlo.token) {}",
    );
    let unbounded = main.inputs.iter().map(|input| input.tensor.is_unbounded());
    let expected = [true, false, false, false, false, false];
    assert_eq!(unbounded.collect::<Vec<_>>(), expected);
}
