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
