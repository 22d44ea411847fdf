//! Options whose names the parser of the command line can't have.

use std::ffi::OsString;

/// Turns `--arg@D SPEC`, `--arg@D=SPEC` and `--arg-on D=SPEC` into `--arg @D=SPEC`, so that
/// all arguments of a program stand in one list, in the order in which they were written.
pub(crate) fn rewrite(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter().peekable();
    let mut rewritten = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            rewritten.push(word);
            break;
        }
        let Some((device, spec)) = word.to_str().and_then(split) else {
            rewritten.push(word);
            continue;
        };
        rewritten.push("--arg".into());
        let spec = match spec {
            Some(spec) => Some(OsString::from(spec)),
            // Another option isn't a value: the parser says that one is missing.
            None => words.next_if(|next| !next.as_encoded_bytes().starts_with(b"--")),
        };
        if let Some(spec) = spec {
            let mut on_device = OsString::from("@");
            if let Some(device) = device {
                on_device.push(format!("{device}="));
            }
            on_device.push(spec);
            rewritten.push(on_device);
        }
    }
    rewritten.extend(words);
    rewritten
}

/// The device and the value of an argument for a device, where the word has them. `--arg-on`
/// has the device in its value.
#[allow(clippy::type_complexity)]
fn split(word: &str) -> Option<(Option<&str>, Option<&str>)> {
    if let Some(rest) = word.strip_prefix("--arg@") {
        return Some(match rest.split_once('=') {
            // `--arg@1==zeros` has the value `=zeros`.
            Some((device, spec)) => (Some(device), Some(spec)),
            None => (Some(rest), None),
        });
    }
    match word.strip_prefix("--arg-on")? {
        "" => Some((None, None)),
        rest => Some((None, Some(rest.strip_prefix('=')?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(words: &[&str]) -> Vec<String> {
        let words = rewrite(words.iter().map(OsString::from));
        let words = words.into_iter().map(OsString::into_string);
        words.collect::<Result<_, _>>().expect("text")
    }

    #[test]
    fn arguments_for_devices_are_one_list() {
        for words in [
            &["run", "--arg@1", "f32[]=2", "--json"][..],
            &["run", "--arg@1=f32[]=2", "--json"],
            &["run", "--arg-on", "1=f32[]=2", "--json"],
            &["run", "--arg-on=1=f32[]=2", "--json"],
        ] {
            let wanted = ["run", "--arg", "@1=f32[]=2", "--json"];
            assert_eq!(rewritten(words), wanted, "{words:?}");
        }
        assert_eq!(rewritten(&["--arg@0", "=zeros"]), ["--arg", "@0==zeros"]);
        assert_eq!(rewritten(&["--arg@0==zeros"]), ["--arg", "@0==zeros"]);
    }

    #[test]
    fn what_is_missing_stays_missing() {
        assert_eq!(rewritten(&["--arg@1", "--json"]), ["--arg", "--json"]);
        assert_eq!(rewritten(&["--arg@1"]), ["--arg"]);
    }

    #[test]
    fn other_words_stay() {
        let words = [
            "--arg",
            "=ones",
            "--args",
            "--arg-only",
            "x",
            "--",
            "--arg@1",
        ];
        assert_eq!(rewritten(&words), words);
    }
}
