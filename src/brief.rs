//! Values in messages, cut where they are longer than anyone reads.

use std::fmt::{self, Write};

/// Bytes.
const MOST: usize = 300;

/// A text of which no more is written than fits.
struct Cut(String);

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MOST - self.0.len();
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        let end = (0..=room).rev().find(|end| text.is_char_boundary(*end));
        self.0.push_str(&text[..end.unwrap_or(0)]);
        // Nothing more is asked of what is being written.
        Err(fmt::Error)
    }
}

/// As it displays, with `...` for what is too much.
pub(crate) fn brief(value: impl fmt::Display) -> String {
    let mut cut = Cut(String::new());
    match write!(cut, "{value}") {
        Ok(()) => cut.0,
        Err(_) => cut.0 + "...",
    }
}

/// As [`brief`], in its debug form.
pub(crate) fn brief_debug(value: impl fmt::Debug) -> String {
    brief(format_args!("{value:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut_between_characters() {
        assert_eq!(brief("short"), "short");
        assert_eq!(brief("x".repeat(MOST)), "x".repeat(MOST));
        assert_eq!(
            brief("x".repeat(MOST + 1)),
            format!("{}...", "x".repeat(MOST))
        );
        let wide = "é".repeat(MOST);
        assert_eq!(brief(&wide), format!("{}...", "é".repeat(MOST / 2)));
        let odd = format!("x{wide}");
        assert_eq!(brief(odd), format!("x{}...", "é".repeat(MOST / 2 - 1)));
        assert_eq!(brief_debug("a\n"), r#""a\n""#);
    }
}
