//! Whether a Rust signature fits a program's file: what the expansion of
//! [`program`](macro@crate::program) asks while compiling. Not for use by hand.
//!
//! The leaf counts of types are known to the compiler only, not to the macro, so the
//! comparison and the wording of its message happen in constants.

/// A sentence that is made while compiling.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    bytes: [u8; Message::LONGEST],
    length: usize,
}

impl Message {
    const LONGEST: usize = 2048;

    const fn new(text: &str) -> Message {
        let message = Message {
            bytes: [0; Message::LONGEST],
            length: 0,
        };
        message.text(text)
    }

    /// With more text; what is too long is cut off, between two characters.
    const fn text(mut self, text: &str) -> Message {
        let text = text.as_bytes();
        let mut end = text.len();
        let room = Message::LONGEST - self.length;
        if end > room {
            end = room;
            // The bytes 10xxxxxx are no first ones.
            while end > 0 && text[end] & 0xc0 == 0x80 {
                end -= 1;
            }
        }
        let mut at = 0;
        while at < end {
            self.bytes[self.length] = text[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    const fn number(self, number: usize) -> Message {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let message = if number >= 10 {
            self.number(number / 10)
        } else {
            self
        };
        message.text(DIGITS[number % 10])
    }

    /// `1 leaf`, `2 leaves`.
    const fn leaves(self, number: usize) -> Message {
        let noun = if number == 1 { " leaf" } else { " leaves" };
        self.number(number).text(noun)
    }

    /// The sentence.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "the program doesn't fit",
        }
    }
}

/// Compares the leaves of one type with what the file says of it. `subject` begins the
/// sentence, `file` ends it; `fewer` stands behind where the file has fewer than the type.
pub const fn count(
    leaves: Option<usize>,
    wanted: usize,
    subject: &str,
    file: &str,
    fewer: &str,
) -> Option<Message> {
    match leaves {
        Some(leaves) if leaves != wanted => Some(
            Message::new(subject)
                .text(" has ")
                .leaves(leaves)
                .text(", but ")
                .text(file)
                .text(if wanted < leaves { fewer } else { "" }),
        ),
        _ => None,
    }
}

/// Compares the leaves of all types together with what the file has. What the file says of
/// one of them, in `places`, is compared by [`count`], and goes for it here.
pub const fn total(
    leaves: &[Option<usize>],
    places: &[Option<(usize, usize)>],
    wanted: usize,
    subject: &str,
    names: &[&str],
    file: &str,
    fewer: &str,
) -> Option<Message> {
    let (mut sum, mut known, mut index) = (0, true, 0);
    while index < leaves.len() {
        match (places[index], leaves[index]) {
            (Some((start, end)), _) => sum += end - start,
            (None, Some(leaves)) => sum += leaves,
            (None, None) => known = false,
        }
        index += 1;
    }
    if sum == wanted || (sum < wanted && !known) {
        return None;
    }
    let mut message = Message::new(subject).text(" has ");
    if !known {
        message = message.text("at least ");
    }
    message = message.leaves(sum);
    if leaves.len() > 1 {
        let mut index = 0;
        while index < leaves.len() {
            let before = if index == 0 { " (" } else { ", " };
            message = message.text(before);
            message = match (places[index], leaves[index]) {
                (Some((start, end)), _) => message.number(end - start),
                (None, Some(leaves)) => message.number(leaves),
                (None, None) => message.text("some"),
            };
            message = message.text(" in `").text(names[index]).text("`");
            index += 1;
        }
        message = message.text(")");
    }
    let fewer = if wanted < sum { fewer } else { "" };
    Some(message.text(", but ").text(file).text(fewer))
}

/// Compares how an argument is taken with what the program donates of it, where its place
/// among the inputs is known.
#[allow(clippy::too_many_arguments)] // written by a macro
pub const fn donation(
    leaves: &[Option<usize>],
    places: &[Option<(usize, usize)>],
    inputs: &[(&str, bool)],
    index: usize,
    by_value: bool,
    name: &str,
    file: &str,
    way: &str,
) -> Option<Message> {
    let (start, end) = match place(leaves, places, inputs.len(), index) {
        Some(place) => place,
        None => return None,
    };
    let mut donated = start;
    while donated < end && !inputs[donated].1 {
        donated += 1;
    }
    let message = Message::new("argument `").text(name);
    if !by_value && donated < end {
        return Some(
            message
                .text("` is taken by reference, but ")
                .text(file)
                .text(" donates ")
                .text(inputs[donated].0)
                .text(": ")
                .text(way),
        );
    }
    if by_value && donated == end && start < end {
        let mut message = message
            .text("` is taken by value, but ")
            .text(file)
            .text(" donates nothing of it (")
            .text(inputs[start].0);
        if start + 1 < end {
            message = message.text(" to ").text(inputs[end - 1].0);
        }
        return Some(message.text("): ").text(way));
    }
    None
}

/// Which inputs an argument has: from the first to before the last. `None` if that can't be
/// told, or if the counts don't fit anyway.
const fn place(
    leaves: &[Option<usize>],
    places: &[Option<(usize, usize)>],
    inputs: usize,
    index: usize,
) -> Option<(usize, usize)> {
    let known = match (places[index], leaves[index]) {
        (Some(place), _) => return Some(place),
        (None, known) => known,
    };
    let start = start_of(leaves, places, index);
    let end = end_of(leaves, places, inputs, index);
    let (start, end) = match (start, end, known) {
        (Some(start), Some(end), _) => (start, end),
        (Some(start), None, Some(known)) => (start, start + known),
        (None, Some(end), Some(known)) if known <= end => (end - known, end),
        _ => return None,
    };
    let fits = match known {
        Some(known) => start + known == end,
        None => start <= end,
    };
    if fits && end <= inputs {
        Some((start, end))
    } else {
        None
    }
}

/// The first input behind those of the arguments before.
const fn start_of(
    leaves: &[Option<usize>],
    places: &[Option<(usize, usize)>],
    mut index: usize,
) -> Option<usize> {
    let mut between = 0;
    while index > 0 {
        index -= 1;
        match (places[index], leaves[index]) {
            (Some((_, end)), _) => return Some(end + between),
            (None, Some(leaves)) => between += leaves,
            (None, None) => return None,
        }
    }
    Some(between)
}

/// The first input of the arguments behind.
const fn end_of(
    leaves: &[Option<usize>],
    places: &[Option<(usize, usize)>],
    inputs: usize,
    mut index: usize,
) -> Option<usize> {
    let mut between = 0;
    let mut end = inputs;
    while index + 1 < leaves.len() {
        index += 1;
        match (places[index], leaves[index]) {
            (Some((start, _)), _) => {
                end = start;
                break;
            }
            (None, Some(leaves)) => between += leaves,
            (None, None) => return None,
        }
    }
    if between <= end {
        Some(end - between)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: Option<Message>) -> String {
        message.map_or(String::new(), |message| message.as_str().to_owned())
    }

    #[test]
    fn counts() {
        const AGREED: Option<Message> = count(Some(2), 2, "it", "the file has 2", "!");
        assert!(AGREED.is_none());
        assert!(count(None, 2, "it", "the file has 2", "!").is_none());
        let message = count(Some(120), 2, "it", "the file has 2", "!");
        assert_eq!(text(message), "it has 120 leaves, but the file has 2!");
        let message = count(Some(1), 2, "it", "the file has 2", "!");
        assert_eq!(text(message), "it has 1 leaf, but the file has 2");
    }

    #[test]
    fn totals() {
        let names = &["a", "b"];
        let of = |leaves: &[Option<usize>], places: &[Option<(usize, usize)>]| {
            text(total(leaves, places, 4, "f", names, "the file has 4", "!"))
        };
        assert_eq!(of(&[Some(1), Some(3)], &[None, None]), "");
        assert_eq!(of(&[Some(1), None], &[None, None]), "");
        assert_eq!(of(&[Some(4), None], &[None, None]), "");
        assert_eq!(of(&[Some(9), Some(3)], &[Some((0, 1)), None]), "");
        assert_eq!(
            of(&[Some(1), Some(2)], &[None, None]),
            "f has 3 leaves (1 in `a`, 2 in `b`), but the file has 4"
        );
        assert_eq!(
            of(&[None, Some(5)], &[None, None]),
            "f has at least 5 leaves (some in `a`, 5 in `b`), but the file has 4!"
        );
        let message = total(&[Some(1)], &[None], 2, "f", &["a"], "the file has 2", "!");
        assert_eq!(text(message), "f has 1 leaf, but the file has 2");
    }

    #[test]
    fn donations() {
        let inputs = &[("x", true), ("y", false), ("z", false)];
        let of = |leaves: &[Option<usize>], index, by_value| {
            text(donation(
                leaves,
                &[None, None],
                inputs,
                index,
                by_value,
                "a",
                "the file",
                "do",
            ))
        };
        let two = &[Some(2), Some(1)];
        assert_eq!(of(two, 0, true), "");
        assert_eq!(
            of(two, 0, false),
            "argument `a` is taken by reference, but the file donates x: do"
        );
        assert_eq!(of(two, 1, false), "");
        assert_eq!(
            of(two, 1, true),
            "argument `a` is taken by value, but the file donates nothing of it (z): do"
        );
        // One place is known from the other.
        assert_ne!(of(&[None, Some(1)], 0, false), "");
        let message = of(&[Some(1), None], 1, true);
        assert!(
            message.ends_with("donates nothing of it (y to z): do"),
            "{message}"
        );
        // No place is known, or the counts don't fit.
        assert_eq!(of(&[None, None], 0, false), "");
        assert_eq!(of(&[Some(4), None], 0, false), "");
        assert_eq!(of(&[Some(1), Some(1)], 1, true), "");
        assert_eq!(of(&[None, Some(9)], 0, false), "");
        // No leaves, nothing to donate.
        assert_eq!(of(&[Some(3), Some(0)], 1, true), "");
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let long = "é".repeat(3000);
        let message = Message::new("a").text(&long);
        assert_eq!(message.as_str().len(), Message::LONGEST - 1);
        assert_eq!(message.text("b").text("c").as_str().len(), Message::LONGEST);
    }
}
