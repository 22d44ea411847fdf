//! Whether the leaves of a type stand in the order of the program's.
//!
//! Two leaves of one shape that have changed places compute nonsense without an error: JAX
//! sorts the keys of a dict, and a struct has its fields in the order of their declaration. So
//! where a program names its leaves, and the names are those of the type, the orders must agree.

use crate::error::{Error, Result};

/// Refuses paths of leaves that are the program's, in another order. `names` are the program's,
/// as `state['w']` or `result[0].mu`; `paths` the type's, without a root, as `mu["w"]`.
pub(crate) fn check(what: &str, names: &[Option<&str>], paths: &[String]) -> Result<()> {
    let named: Option<Vec<Vec<&str>>> = names.iter().map(|name| Some(keys((*name)?))).collect();
    let Some(named) = named else {
        return Ok(());
    };
    // The first of a program's names is that of the argument, which is the caller's to choose.
    let named: Vec<&[&str]> = named
        .iter()
        .map(|keys| &keys[1.min(keys.len())..])
        .collect();
    let own: Vec<Vec<&str>> = paths.iter().map(|path| keys(path)).collect();
    let own: Vec<&[&str]> = own.iter().map(Vec::as_slice).collect();
    let Some(at) = named.iter().zip(&own).position(|(named, own)| named != own) else {
        return Ok(());
    };
    // Other names tell nothing of the order.
    let (mut one, mut other) = (named.clone(), own);
    one.sort_unstable();
    other.sort_unstable();
    if one != other {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "leaf {at} of {what} is `{}`, but the program has `{}` there; put the fields in the \
         program's order, or derive with `#[tree(sorted)]`: JAX orders the keys of a dict by name",
        paths[at],
        names[at].unwrap_or_default()
    )))
}

/// The leaves of trees that a program lacks, by its names of those it has: `state.rng` of
/// `state.rng` and `state.w`, where it has `state['w']`. Each argument is a list of paths, with a
/// root. None where the names tell of another number of arguments, or of other leaves.
pub(crate) fn missing<'p>(names: &[Option<&str>], arguments: &'p [Vec<String>]) -> Vec<&'p str> {
    let mut groups: Vec<(&str, Vec<Vec<&str>>)> = Vec::new();
    for name in names {
        let mut keys = name.map(keys).unwrap_or_default();
        if keys.is_empty() {
            return Vec::new();
        }
        let root = keys.remove(0);
        match groups.last_mut() {
            Some((last, leaves)) if *last == root => leaves.push(keys),
            _ => groups.push((root, vec![keys])),
        }
    }
    let arguments: Vec<&Vec<String>> = arguments.iter().filter(|own| !own.is_empty()).collect();
    if groups.len() != arguments.len() {
        return Vec::new();
    }
    let mut lacking = Vec::new();
    for ((_, leaves), own) in groups.iter().zip(arguments) {
        let own: Vec<(&str, Vec<&str>)> = own.iter().map(|path| (&**path, keys(path))).collect();
        let has = |leaf: &[&str]| own.iter().any(|(_, keys)| keys.get(1..) == Some(leaf));
        if !leaves.iter().all(|leaf| has(leaf)) {
            return Vec::new();
        }
        let is_lacking = |keys: &[&str]| leaves.iter().all(|leaf| Some(&leaf[..]) != keys.get(1..));
        let own = own.iter().filter(|(_, keys)| is_lacking(keys));
        lacking.extend(own.map(|(path, _)| *path));
    }
    lacking
}

/// The parts of a path: of `state['opt'].mu[0]` they are `state`, `opt`, `mu`, `0`.
pub(crate) fn keys(path: &str) -> Vec<&str> {
    let parts = path.split(['.', '[', ']']);
    let parts = parts.map(|part| part.trim_matches(['\'', '"']));
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(names: &[&str], paths: &[&str]) -> Result<()> {
        let names: Vec<Option<&str>> = names.iter().map(|name| Some(*name)).collect();
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        check("`state`", &names, &paths)
    }

    #[test]
    fn parts_of_paths() {
        assert_eq!(keys("state['opt'].mu[0]"), ["state", "opt", "mu", "0"]);
        assert_eq!(keys("opt.mu[\"w 1\"][0]"), ["opt", "mu", "w 1", "0"]);
        assert!(keys("").is_empty());
    }

    #[test]
    fn leaves_that_changed_places_are_told() {
        let names = ["s['mom']['w']", "s['params']['w']", "s['step']"];
        let message = checked(&names, &["params.w", "mom.w", "step"]);
        let message = message.expect_err("refused").to_string();
        for word in [
            "leaf 0 of `state`",
            "`params.w`",
            "`s['mom']['w']`",
            "tree(sorted)",
        ] {
            assert!(message.contains(word), "no {word} in: {message}");
        }
        checked(&names, &["mom.w", "params.w", "step"]).expect("in order");
    }

    #[test]
    fn leaves_that_are_missing() {
        let of = |names: &[&str], arguments: &[&[&str]]| {
            let names: Vec<Option<&str>> = names.iter().map(|name| Some(*name)).collect();
            let own = |paths: &&[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
            let arguments: Vec<Vec<String>> = arguments.iter().map(own).collect();
            missing(&names, &arguments).join(" ")
        };
        let trees: [&[&str]; 2] = [&["#0.rng", "#0.w", "#0.n"], &["#1"]];
        assert_eq!(of(&["s['n']", "s['w']", "x"], &trees), "#0.rng");
        assert_eq!(of(&["s.w", "x"], &trees), "#0.rng #0.n");
        assert_eq!(of(&["s['n']", "s['rng']", "s['w']", "x"], &trees), "");
        // An argument is gone, or there are other leaves, or no names.
        assert_eq!(of(&["s['n']", "s['w']"], &trees), "");
        assert_eq!(of(&["s['n']", "s['v']", "x"], &trees), "");
        assert_eq!(of(&["s['n']", "", "x"], &trees), "");
    }

    #[test]
    fn other_names_are_the_callers_business() {
        checked(&["s['a']", "s['b']"], &["x", "y"]).expect("renamed");
        checked(&["s['a']", "s['b']"], &["b", "c"]).expect("partly renamed");
        checked(&["flat_args[0]"], &[""]).expect("a leaf alone");
        check(
            "`x`",
            &[None, Some("s['a']")],
            &["b".to_owned(), "a".to_owned()],
        )
        .expect("unnamed");
        check("`x`", &[], &[]).expect("nothing");
    }
}
