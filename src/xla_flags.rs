//! `XLA_FLAGS`: a plugin that meets a flag it doesn't know ends the process when it
//! makes a client. So the names are looked for in the plugin's file first: a flag
//! that the plugin knows stands there as text.

use std::path::Path;

use memchr::memmem;

use crate::error::{Error, Result};

/// Refuses flags that the plugin at `path` can't know.
pub(crate) fn check(path: Option<&Path>) -> Result<()> {
    let Some(text) = std::env::var_os("XLA_FLAGS") else {
        return Ok(());
    };
    let text = text
        .to_str()
        .ok_or_else(|| Error::invalid("XLA_FLAGS is not UTF-8 text"))?
        .to_owned();
    let flags = expand(&text)?;
    let names = flag_names(&flags)?;
    let (Some(path), false) = (path, names.is_empty()) else {
        return Ok(());
    };
    // The file is large: what can't be a flag is refused without it.
    let foreign = names.iter().find(|name| !name.starts_with("xla_"));
    if let Some(name) = foreign {
        return Err(unknown(name, path));
    }
    let file = std::fs::read(path)
        .map_err(|error| Error::invalid(format!("can't read {}: {error}", path.display())))?;
    match names.iter().find(|name| !is_known(&file, name)) {
        None => Ok(()),
        Some(name) => Err(unknown(name, path)),
    }
}

fn unknown(name: &str, path: &Path) -> Error {
    Error::invalid(format!(
        "XLA_FLAGS has the flag `--{name}`, which the plugin {} doesn't know; it would end the \
         process. Remove it from the variable",
        path.display()
    ))
}

/// A value that doesn't begin with `--` names a file that holds the flags.
fn expand(text: &str) -> Result<String> {
    let trimmed = text.trim();
    if trimmed.is_empty() && !text.is_empty() {
        // Taken for the name of a file.
        return Err(Error::invalid(
            "XLA_FLAGS holds nothing but spaces; unset it",
        ));
    }
    if trimmed.is_empty() || trimmed.starts_with('-') {
        return Ok(trimmed.to_owned());
    }
    std::fs::read_to_string(trimmed).map_err(|error| {
        Error::invalid(format!(
            "XLA_FLAGS is `{trimmed}`: flags begin with `--`, and as a file of flags it can't be \
             read: {error}"
        ))
    })
}

/// The names of flags written `--name=value`, with spaces between them; a value may be
/// quoted as a whole, with `"` or `'`.
fn flag_names(flags: &str) -> Result<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = flags.trim_start();
    while !rest.is_empty() {
        let end = flag_end(rest);
        let (flag, behind) = rest.split_at(end);
        rest = behind.trim_start();
        let name = flag
            .strip_prefix("--")
            .and_then(|body| body.split('=').next());
        match name {
            Some(name) if !name.is_empty() && !flag.contains(",--") => names.push(name),
            _ => {
                return Err(Error::invalid(format!(
                    "XLA_FLAGS has `{flag}`; flags are written `--name=value`, with nothing but \
                     spaces between them"
                )))
            }
        }
    }
    Ok(names)
}

/// Where the first flag of `text` ends.
fn flag_end(text: &str) -> usize {
    let space = text.find(char::is_whitespace).unwrap_or(text.len());
    let Some(equals) = text[..space].find('=') else {
        return space;
    };
    let value = &text[equals + 1..];
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return space;
    };
    let mut escaped = false;
    for (at, c) in value.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return equals + 1 + at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Whether the library holds the name of a flag, as a text of its own or as the end of one:
/// linkers may merge the two. All flags of XLA begin alike, which keeps other texts out.
fn is_known(file: &[u8], name: &str) -> bool {
    let ended: Vec<u8> = name.bytes().chain([0]).collect();
    name.starts_with("xla_") && memmem::find(file, &ended).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let names = flag_names("--xla_a=1  --xla_b --xla_c=x=y").expect("well formed");
        assert_eq!(names, ["xla_a", "xla_b", "xla_c"]);
        let names = flag_names("--xla_a=\"x --y\" --xla_b='it\\'s' --xla_c").expect("quoted");
        assert_eq!(names, ["xla_a", "xla_b", "xla_c"]);
        for wrong in ["xla_a=1", "--=1", "-xla_a=1", "--xla_a=1,--xla_b=2"] {
            assert!(flag_names(wrong).is_err(), "{wrong}");
        }
        assert!(expand("  ").is_err() && expand("").is_ok());
    }

    #[test]
    fn a_name_is_known_only_whole() {
        let file = b"\0xla_dump_to\0other\0";
        assert!(is_known(file, "xla_dump_to"));
        assert!(!is_known(file, "xla_dump"));
        assert!(!is_known(file, "xla_dump_too"));
        assert!(!is_known(file, "other"));
    }
}
