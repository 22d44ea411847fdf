//! Which inputs belong to which argument, as far as their names tell.
//!
//! JAX names an input by its path in the Python arguments, `state.opt['mu'][0]`: the
//! argument's name, and the way from there.

use std::ops::Range;

use xla_mlir::{Input, Output};

/// The inputs with names of one argument, next to each other.
pub(super) struct Group {
    /// The argument's name; `None` for an input that has none.
    pub(super) root: Option<String>,
    pub(super) inputs: Range<usize>,
}

/// The inputs in groups of one argument each, in order.
pub(super) fn groups(inputs: &[Input]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let root = input.name.as_deref().and_then(root);
        match groups.last_mut() {
            Some(last) if root.is_some() && last.root.as_deref() == root => {
                last.inputs.end = index + 1;
            }
            _ => groups.push(Group {
                root: root.map(str::to_owned),
                inputs: index..index + 1,
            }),
        }
    }
    groups
}

/// Where the inputs of each argument are. An argument that has none in a file that names
/// all of its inputs gets an empty range: JAX leaves out what a function doesn't use.
pub(super) fn places(arguments: &[String], groups: &[Group]) -> Vec<Option<Range<usize>>> {
    if let Some(places) = numbered(arguments.len(), groups) {
        return places;
    }
    let mut places: Vec<Option<Range<usize>>> = arguments
        .iter()
        .map(|argument| {
            let mut own = groups
                .iter()
                .filter(|group| group.root.as_deref() == Some(argument));
            // Of an argument in pieces it can't be told what is what.
            let group = own.next().filter(|_| own.next().is_none())?;
            Some(group.inputs.clone())
        })
        .collect();
    if places.iter().flatten().count() == groups.len() && !groups.is_empty() {
        let mut end = 0;
        for place in &mut places {
            end = place.get_or_insert(end..end).end;
        }
    }
    places
}

/// The places of `*args`, whose inputs are called `args[0]`, `args[1]['w']`.
fn numbered(arguments: usize, groups: &[Group]) -> Option<Vec<Option<Range<usize>>>> {
    let of = |group: &Group| {
        let number = group.root.as_deref()?.strip_prefix("args[")?;
        number.strip_suffix(']')?.parse::<usize>().ok()
    };
    in_order(
        arguments,
        groups.iter().map(|group| (of(group), &group.inputs)),
    )
}

/// Where the outputs of each element of a tuple are, as JAX's `result[1]['loss']` tells.
pub(super) fn result_places(elements: usize, outputs: &[Output]) -> Vec<Option<Range<usize>>> {
    let mut groups: Vec<(Option<usize>, Range<usize>)> = Vec::new();
    for (index, output) in outputs.iter().enumerate() {
        let number = output.name.as_deref().and_then(element);
        match groups.last_mut() {
            Some((last, range)) if number.is_some() && *last == number => range.end = index + 1,
            _ => groups.push((number, index..index + 1)),
        }
    }
    let groups = groups.iter().map(|(number, range)| (*number, range));
    in_order(elements, groups).unwrap_or_else(|| vec![None; elements])
}

/// The leaves of an argument that JAX left out, as its result of the same type tells:
/// `state['rng']`, where there is `result['rng']`. `argument` and `result` are what the names
/// begin with. None where the names of the two aren't alike otherwise.
pub(super) fn left_out(
    (argument, inputs): (&str, &[Input]),
    (result, outputs): (&str, &[Output]),
) -> Vec<String> {
    let inputs = inputs.iter().map(|input| &input.name);
    let outputs = outputs.iter().map(|output| &output.name);
    let steps = |name: &'_ Option<String>, root| {
        let steps = name.as_deref()?.strip_prefix(root)?;
        Some(steps.to_owned())
    };
    let own: Option<Vec<String>> = inputs.map(|name| steps(name, argument)).collect();
    let all: Option<Vec<String>> = outputs.map(|name| steps(name, result)).collect();
    let (Some(own), Some(mut all)) = (own, all) else {
        return Vec::new();
    };
    if !own.iter().all(|steps| all.contains(steps)) {
        return Vec::new();
    }
    all.retain(|steps| !own.contains(steps));
    let named = all.iter().map(|steps| format!("{argument}{steps}"));
    named.collect()
}

/// `1` of `result[1]['loss']`.
fn element(name: &str) -> Option<usize> {
    let (number, _) = name.strip_prefix("result[")?.split_once(']')?;
    number.parse().ok()
}

/// Ranges with numbers, if those rise up to the last of `count`.
fn in_order<'a>(
    count: usize,
    groups: impl Iterator<Item = (Option<usize>, &'a Range<usize>)>,
) -> Option<Vec<Option<Range<usize>>>> {
    let mut places = Vec::with_capacity(count);
    let mut end = 0;
    for (number, range) in groups {
        let number = number.filter(|number| *number >= places.len() && *number < count)?;
        places.resize(number, Some(end..end));
        places.push(Some(range.clone()));
        end = range.end;
    }
    (count > 0 && places.len() == count).then_some(places)
}

/// The argument that a path begins with: `state` of `state['w']`; of `*args` and
/// `**kwargs` with the first step, `args[0]`.
fn root(path: &str) -> Option<&str> {
    let end = path.find(['[', '.']).unwrap_or(path.len());
    let root = &path[..end];
    if matches!(root, "args" | "kwargs") {
        if let Some(close) = path[end..].find(']') {
            return Some(&path[..=end + close]);
        }
    }
    // `flat_args[7]` is JAX's word for a leaf of which the argument is unknown.
    (root != "flat_args" && !root.is_empty()).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xla_mlir::{parse, Main};

    fn main_of(inputs: &[&str], outputs: &[&str]) -> Main {
        let inputs: Vec<String> = inputs
            .iter()
            .map(|name| match *name {
                "" => "%a: tensor<f32>".to_owned(),
                name => format!("%a: tensor<f32> loc(\"{name}\")"),
            })
            .collect();
        let outputs: Vec<String> = outputs
            .iter()
            .map(|name| format!("tensor<f32> {{jax.result_info = \"{name}\"}}"))
            .collect();
        let text = format!(
            "func.func @main({}) -> ({}) {{}}",
            inputs.join(", "),
            outputs.join(", ")
        );
        parse(text.as_bytes()).expect("a program")
    }

    fn places_of(arguments: &[&str], inputs: &[&str]) -> Vec<Option<Range<usize>>> {
        let arguments: Vec<String> = arguments.iter().map(|&name| name.to_owned()).collect();
        places(&arguments, &groups(&main_of(inputs, &[]).inputs))
    }

    #[test]
    fn names_tell_places() {
        let jax = ["state.w", "state.opt['mu']", "batch[0]", "batch[1]", "rng"];
        assert_eq!(
            places_of(&["state", "batch", "rng"], &jax),
            [Some(0..2), Some(2..4), Some(4..5)]
        );
        // Another name: its place is open, and so is whether something was left out.
        assert_eq!(
            places_of(&["state", "data", "rng"], &jax),
            [Some(0..2), None, Some(4..5)]
        );
        // Left out by JAX.
        assert_eq!(
            places_of(&["a", "b", "c", "d"], &["a", "c['x']"]),
            [Some(0..1), Some(1..1), Some(1..2), Some(2..2)]
        );
        // Another order, which the caller sees.
        assert_eq!(
            places_of(&["b", "a"], &["a", "b"]),
            [Some(1..2), Some(0..1)]
        );
    }

    #[test]
    fn what_names_do_not_tell() {
        assert_eq!(places_of(&["a", "b"], &["", ""]), [None, None]);
        assert_eq!(places_of(&["a", "b"], &["a", ""]), [Some(0..1), None]);
        assert_eq!(places_of(&["a", "b"], &["a", "b", "a"]), [None, Some(1..2)]);
        assert_eq!(places_of(&["a"], &["flat_args[0]", "flat_args[1]"]), [None]);
        assert_eq!(places_of(&["a"], &[]), [None]);
        assert_eq!(places_of(&[], &["a"]), []);
    }

    #[test]
    fn numbered_arguments() {
        let args = ["args[0].w", "args[0].b", "args[2]"];
        assert_eq!(
            places_of(&["x", "y", "z"], &args),
            [Some(0..2), Some(2..2), Some(2..3)]
        );
        assert_eq!(places_of(&["x", "y"], &args), [None, None]);
        assert_eq!(
            places_of(&["x", "args"], &["x", "args"]),
            [Some(0..1), Some(1..2)]
        );
    }

    #[test]
    fn leaves_that_were_left_out() {
        let of = |inputs: &[&str], result, outputs: &[&str]| {
            let main = main_of(inputs, outputs);
            left_out(("state", &main.inputs), (result, &main.outputs))
        };
        let state = ["state['a']", "state['c']"];
        let result = ["result['a']", "result['b']", "result['c']"];
        assert_eq!(of(&state, "result", &result), ["state['b']"]);
        let result = ["result[1]['a']", "result[1]['b']", "result[1]['c']"];
        assert_eq!(of(&state, "result[1]", &result), ["state['b']"]);
        assert_eq!(of(&state, "result[0]", &result), [""; 0]);
        // All are there, others are called so, or some have no name.
        assert_eq!(
            of(&state, "result", &["result['a']", "result['c']"]),
            [""; 0]
        );
        assert_eq!(of(&state, "result", &["result.a", "result.b"]), [""; 0]);
        assert_eq!(of(&["state.a", ""], "result", &["result.a"]), [""; 0]);
    }

    #[test]
    fn elements_of_results() {
        let of = |elements, names: &[&str]| result_places(elements, &main_of(&[], names).outputs);
        let names = ["result[0].w", "result[0].b", "result[1]['loss']"];
        assert_eq!(of(2, &names), [Some(0..2), Some(2..3)]);
        assert_eq!(of(3, &names), [None, None, None]);
        assert_eq!(of(1, &["result"]), [None]);
        assert_eq!(of(2, &["result['a']", "result['b']"]), [None, None]);
        assert_eq!(of(2, &["result[1]"]), [Some(0..0), Some(0..1)]);
    }
}
