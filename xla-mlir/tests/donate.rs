//! Donations written into a text: it must say them, and nothing else may have changed.

use xla_mlir::{donate, parse, Donation, Main};

fn read(text: &str) -> Main {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[track_caller]
fn donated(text: &str, donations: &[(usize, Donation)]) -> String {
    donate(text.as_bytes(), donations).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[track_caller]
fn refused(text: &str, donations: &[(usize, Donation)]) -> String {
    match donate(text.as_bytes(), donations) {
        Err(error) => error.to_string(),
        Ok(new) => panic!("gave {new}"),
    }
}

/// Writes what is wanted, and checks it by what the text says before and after. All of the old
/// text must be in the new one.
#[track_caller]
fn check(name: &str, text: &str, donations: &[(usize, Donation)]) {
    let new = donated(text, donations);
    let mut wanted = read(text);
    for (input, donation) in donations {
        match donation {
            Donation::Output(output) => wanted.inputs[*input].aliasing_output = Some(*output),
            Donation::Any => wanted.inputs[*input].buffer_donor = true,
        }
    }
    assert_eq!(read(&new), wanted, "{name}\n{text}\n{new}");
    let mut rest = new.bytes();
    let kept = text.bytes().all(|byte| rest.any(|other| other == byte));
    assert!(kept, "{name}: {text}\n{new}");
}

/// All inputs that aren't donated yet: by turns into any output, and into one that is free.
fn all_of(main: &Main) -> Vec<(usize, Donation)> {
    let mut free: Vec<usize> = (0..main.outputs.len())
        .filter(|output| {
            let mut inputs = main.inputs.iter();
            inputs.all(|input| input.aliasing_output != Some(*output))
        })
        .collect();
    let inputs = main.inputs.iter().enumerate();
    inputs
        .filter(|(_, input)| !input.donated())
        .map(|(index, _)| match free.pop() {
            Some(output) if index % 2 == 0 => (index, Donation::Output(output)),
            _ => (index, Donation::Any),
        })
        .collect()
}

#[test]
fn where_attributes_are_written() {
    use Donation::{Any, Output};
    let cases: &[(&str, Donation, &str)] = &[
        (
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {}",
            Output(0),
            "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32}) -> tensor<f32> {}",
        ),
        (
            "func.func @main(%x: tensor<f32>loc(\"{\")) {}",
            Any,
            "func.func @main(%x: tensor<f32> {jax.buffer_donor = true}loc(\"{\")) {}",
        ),
        (
            "func.func @main(%x: tensor<f32> // {a = 1}\n  , %y: tensor<f32> {b}) {}",
            Any,
            "func.func @main(%x: tensor<f32> {jax.buffer_donor = true} // {a = 1}\n  , %y: \
             tensor<f32> {b}) {}",
        ),
        (
            "func.func @main(%x: tensor<f32> // }\n {// {\n a = \"}\"} loc(#l)) {}",
            Any,
            "func.func @main(%x: tensor<f32> // }\n {jax.buffer_donor = true, // {\n a = \"}\"} \
             loc(#l)) {}",
        ),
        (
            "func.func @main(%x: tensor<f32> { }) {}",
            Any,
            "func.func @main(%x: tensor<f32> {jax.buffer_donor = true }) {}",
        ),
        (
            "!t = tensor<f32>\nfunc.func @main(%x: !t) {}",
            Any,
            "!t = tensor<f32>\nfunc.func @main(%x: !t {jax.buffer_donor = true}) {}",
        ),
        (
            "\"func.func\"() <{function_type = (tensor<f32>, tensor<f32>) -> (), sym_name = \
             \"main\"}> ({^bb0(%x: tensor<f32>, %y: tensor<f32>):}) {a} : () -> ()",
            Any,
            "\"func.func\"() <{arg_attrs = [{jax.buffer_donor = true}, {}], function_type = \
             (tensor<f32>, tensor<f32>) -> (), sym_name = \"main\"}> ({^bb0(%x: tensor<f32>, %y: \
             tensor<f32>):}) {a} : () -> ()",
        ),
        (
            "\"func.func\"() ({^bb0(%x: tensor<f32>):}) {function_type = (tensor<f32>) -> (), \
             sym_name = \"main\"} : () -> ()",
            Any,
            "\"func.func\"() ({^bb0(%x: tensor<f32>):}) {arg_attrs = [{jax.buffer_donor = true}], \
             function_type = (tensor<f32>) -> (), sym_name = \"main\"} : () -> ()",
        ),
        (
            "\"func.func\"() <{arg_attrs = [{}, {a}], function_type = (tensor<f32>, tensor<f32>) -> \
             (), sym_name = \"main\"}> ({^bb0(%x: tensor<f32>, %y: tensor<f32>):}) : () -> ()",
            Any,
            "\"func.func\"() <{arg_attrs = [{jax.buffer_donor = true}, {a}], function_type = \
             (tensor<f32>, tensor<f32>) -> (), sym_name = \"main\"}> ({^bb0(%x: tensor<f32>, %y: \
             tensor<f32>):}) : () -> ()",
        ),
    ];
    for (text, donation, wanted) in cases {
        assert_eq!(donated(text, &[(0, *donation)]), *wanted);
    }
    let text = "func.func @main(%x: tensor<f32>, %y: tensor<f32> {a}) -> tensor<f32> {}";
    assert_eq!(
        donated(text, &[(1, Output(0)), (0, Any)]),
        "func.func @main(%x: tensor<f32> {jax.buffer_donor = true}, %y: tensor<f32> \
         {tf.aliasing_output = 0 : i32, a}) -> tensor<f32> {}"
    );
    assert_eq!(donated(text, &[]), text);
}

#[test]
fn refusals_name_the_input() {
    use Donation::{Any, Output};
    let text = "func.func @main(%x: tensor<f32> {tf.aliasing_output = 0 : i32} loc(\"x\"), %y: \
                tensor<f32> loc(\"y\"), %z: tensor<f32>) -> (tensor<f32>, tensor<f32>) {}";
    let cases: &[(&[(usize, Donation)], &str)] = &[
        (
            &[(3, Any)],
            "input 3 is to be donated, but the program has 3 inputs, counted from 0",
        ),
        (
            &[(0, Any)],
            "input 0 (`x`) is to be donated, but it is donated already",
        ),
        (
            &[(1, Any), (1, Output(1))],
            "input 1 (`y`) is to be donated, but it is donated already",
        ),
        (
            &[(1, Output(2))],
            "input 1 (`y`) is to be donated into output 2, but the program has 2 outputs, counted \
             from 0",
        ),
        (
            &[(1, Output(0))],
            "input 1 (`y`) is to be donated into output 0, which input 0 is donated into",
        ),
        (
            &[(1, Output(1)), (2, Output(1))],
            "input 2 is to be donated into output 1, which input 1 is donated into",
        ),
    ];
    for (donations, message) in cases {
        assert_eq!(refused(text, donations), *message);
    }
    assert!(refused("module {", &[]).starts_with("1:8: "));
    assert!(donate(b"ML\xefR", &[]).is_err());
}

#[test]
fn programs_of_the_repository() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/programs");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the programs of the repository") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "mlir") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let main = read(&text);
        let all = all_of(&main);
        let name = path.display().to_string();
        check(&name, &text, &all);
        for donation in all {
            check(&name, &text, &[donation]);
        }
        count += 1;
    }
    assert!(count > 30, "{count}");
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

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const TYPES: [&str; 7] = [
    "tensor<f32>",
    "tensor<2x3xbf16>",
    "!t ",
    "!stablehlo.token ",
    "tensor < 4 x complex<f32> >",
    "tensor<0x4xi1, #stablehlo.bounds<?, 4>>",
    "tensor<*xui4>",
];
const DICTIONARIES: [&str; 9] = [
    "{}",
    "{ }",
    "{a}",
    "{\"}\" = \"{\", b = [1, {c = 2}]}",
    "{ // {a = 1}\n }",
    "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>, d = dense<[1]> : tensor<1xi8>}",
    "{jax.buffer_donor = false}",
    "{jax.buffer_donor = true, a}",
    "{jax.buffer_donor = #no , x = affine_map<(d0)[s0] -> (d0 >= s0)>}",
];
const SPACES: [&str; 5] = ["", " ", "\n", " // {}, \"\n", "\t"];
const LOCATIONS: [&str; 5] = [
    "",
    "loc(\"s['w']\")",
    "loc(#l)",
    "loc(fused<{a}>[\"x\"(#l), \"f\":1:2])",
    "loc(\"a\\\"){\")",
];

/// A function of a random form, with its arguments in the usual form.
fn usual(numbers: &mut Numbers, arguments: usize) -> String {
    let arguments: Vec<String> = (0..arguments)
        .map(|index| {
            let mut text = format!(
                "%arg{index} :{}{}",
                numbers.one_of(&SPACES),
                numbers.one_of(&TYPES)
            );
            for piece in [&DICTIONARIES[..], &LOCATIONS[..]] {
                text += numbers.one_of(&SPACES);
                if numbers.below(2) == 0 {
                    text += numbers.one_of(piece);
                }
            }
            text + numbers.one_of(&SPACES)
        })
        .collect();
    format!(
        "module attributes {{mhlo.num_partitions = 2 : i32}} {{ func.func public @main({}) -> \
         (tensor<f32> {{jax.result_info = \"r\"}}, tensor<2xf32>, !t) attributes {{a}} {{ \"}}\" }} }}",
        arguments.join(",")
    )
}

/// The same, in the generic form.
fn generic(numbers: &mut Numbers, arguments: usize) -> String {
    let types: Vec<&str> = (0..arguments).map(|_| numbers.one_of(&TYPES)).collect();
    let mut entries = vec![
        "sym_name = \"main\"".to_owned(),
        format!(
            "function_type = ({}) -> (tensor<f32>, tensor<2xf32>, !t)",
            types.join(", ")
        ),
    ];
    if numbers.below(2) == 0 {
        let all: Vec<&str> = (0..arguments)
            .map(|_| numbers.one_of(&DICTIONARIES))
            .collect();
        entries.push(format!(
            "arg_attrs{}= [{}]",
            numbers.one_of(&SPACES),
            all.join(", ")
        ));
    }
    if numbers.below(2) == 0 {
        entries.push("res_attrs = [{}, {jax.result_info = \"r\"}, {b}]".to_owned());
    }
    let turn = numbers.below(entries.len());
    entries.rotate_left(turn);
    let entries = format!("{{{}{}}}", numbers.one_of(&SPACES), entries.join(", "));
    let block: Vec<String> = types
        .iter()
        .enumerate()
        .map(|(index, kind)| format!("%arg{index}: {kind} {}", numbers.one_of(&LOCATIONS)))
        .collect();
    let body = match block.is_empty() {
        true => "({ \"a.b\"() : () -> () })".to_owned(),
        false => format!(
            "({{ ^bb0({}): \"a.b\"() {{c = \"}}\"}} : () -> () }})",
            block.join(", ")
        ),
    };
    let function = match numbers.below(3) {
        0 => format!("{body} {entries}"),
        1 => format!("<{entries}> {body} {{z = 1}}"),
        _ => format!("<{entries}> {body}"),
    };
    format!(
        "\"builtin.module\"() ({{\n\"func.func\"() {function} : () -> () loc(#l)\n}}) \
         {{mhlo.num_partitions = 2 : i32}} : () -> ()"
    )
}

/// A text with aliases above and below.
fn generated(numbers: &mut Numbers) -> String {
    let arguments = numbers.below(6);
    let body = match numbers.below(2) {
        0 => usual(numbers, arguments),
        _ => generic(numbers, arguments),
    };
    format!("!t = tensor<?x2xf64>\n{body}\n#no = false\n#l = loc(\"deep\")\n")
}

#[test]
fn generated_programs() {
    let mut numbers = Numbers(7);
    let mut written = 0;
    for round in 0..4_000 {
        let text = generated(&mut numbers);
        let all = all_of(&read(&text));
        let some: Vec<(usize, Donation)> = all
            .iter()
            .copied()
            .filter(|_| numbers.below(2) == 0)
            .collect();
        check(&format!("round {round}"), &text, &all);
        check(&format!("round {round}"), &text, &some);
        written += all.len();
    }
    assert!(written > 4_000, "{written}");
}

#[test]
fn damaged_programs_are_written_into_or_refused() {
    let mut numbers = Numbers(11);
    let signs = b"(){}[]<>\"\\#@%!^:,=-./ \n0x?*";
    let (mut read, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut code = generated(&mut numbers).into_bytes();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(code.len());
            match numbers.below(3) {
                0 => drop(code.drain(at..(at + 3).min(code.len()))),
                1 => code[at] = signs[numbers.below(signs.len())],
                _ => code.insert(at, signs[numbers.below(signs.len())]),
            }
        }
        match parse(&code) {
            Ok(main) => {
                let text = String::from_utf8(code).expect("ASCII");
                check(&format!("round {round}"), &text, &all_of(&main));
                read += 1;
            }
            Err(error) => {
                let same = donate(&code, &[]).expect_err("neither can this");
                assert_eq!(error, same);
                refused += 1;
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} {refused}");
}

#[test]
fn a_thousand_inputs() {
    let arguments: Vec<String> = (0..1000)
        .map(|index| format!("%arg{index}: tensor<4xf32> loc(\"s[{index}]\")"))
        .collect();
    let text = format!(
        "func.func @main({}) -> ({}) {{ }}",
        arguments.join(", "),
        vec!["tensor<4xf32>"; 1000].join(", ")
    );
    let all: Vec<(usize, Donation)> = (0..1000)
        .map(|index| (index, Donation::Output(999 - index)))
        .collect();
    check("a thousand", &text, &all);
}
