//! Donations as the examples' programs state them, read from their texts and taken out.

use std::fs;
use std::path::PathBuf;

/// How the two attributes begin and end.
const ATTRIBUTES: [(&str, &str); 2] = [
    ("tf.aliasing_output = ", " : i32"),
    ("jax.buffer_donor = ", "true"),
];

/// A program without its donations. Each stands in a dictionary, alone or with others.
pub fn stripped(text: &str) -> String {
    let mut text = text.to_owned();
    for (begin, end) in ATTRIBUTES {
        while let Some(at) = text.find(begin) {
            let behind = at + text[at..].find(end).expect("its value") + end.len();
            let (mut from, mut to) = (at, behind);
            if text[..from].ends_with(", ") {
                from -= 2;
            } else if text[to..].starts_with(", ") {
                to += 2;
            } else if text[..from].ends_with(" {") && text[to..].starts_with('}') {
                from -= 2;
                to += 1;
            }
            text.replace_range(from..to, "");
        }
    }
    text
}

/// Inputs that are donated, by number, and the output where the text names one.
pub fn in_the_text(text: &str) -> Vec<(usize, Option<usize>)> {
    let at = text.find("@main(").expect("@main");
    let (arguments, _) = text[at..].split_once("->").expect("results");
    let arguments = arguments.split('%').skip(1).enumerate();
    let donated = arguments.filter_map(|(index, argument)| {
        let [into, by_compiler] = ATTRIBUTES.map(|(begin, _)| argument.split_once(begin));
        match (into, by_compiler) {
            (Some((_, rest)), _) => {
                let output = rest.split(' ').next().expect("a number");
                Some((index, Some(output.parse().expect("a number"))))
            }
            (None, Some(_)) => Some((index, None)),
            (None, None) => None,
        }
    });
    donated.collect()
}

/// All programs of the examples that donate, with their texts; by name.
pub fn donating() -> Vec<(String, String)> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "examples", "programs"]
        .iter()
        .collect();
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|it| it == "mlir") {
            let text = fs::read_to_string(&path).expect("a text");
            if ATTRIBUTES.iter().any(|(begin, _)| text.contains(begin)) {
                let name = path.file_stem().expect("a name").to_str();
                found.push((name.expect("text").to_owned(), text));
            }
        }
    }
    found.sort();
    found
}
