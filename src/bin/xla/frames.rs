//! How a worker's words are told from what a plugin prints.
//!
//! A plugin shares its process's stdout, and may print there at any time, from any thread. So a
//! worker sends frames, each by one write that pipes don't take apart, and each with a mark at
//! its head that nobody else knows. What lies between frames is the plugin's.

/// A pipe takes as many bytes at once without mixing them with others': POSIX grants 512.
const ATOMIC: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What the worker does from now on.
    Doing,
    /// The next part of what the command prints.
    Output,
    /// All is said; the content is the exit code.
    End,
}

const KINDS: [(u8, Kind); 3] = [(b'd', Kind::Doing), (b'o', Kind::Output), (b'e', Kind::End)];

/// The digits of a frame's length.
const DIGITS: usize = 4;

/// The frames of some content; at least one.
pub(crate) fn encode<'a>(
    mark: &'a str,
    kind: Kind,
    content: &'a [u8],
) -> impl Iterator<Item = Vec<u8>> + 'a {
    let room = ATOMIC - mark.len() - 1 - DIGITS;
    let count = content.len().div_ceil(room).max(1);
    (0..count).map(move |part| {
        let start = part * room;
        let part = &content[start..content.len().min(start + room)];
        let letter = KINDS.iter().find(|(_, it)| *it == kind);
        let mut frame = mark.as_bytes().to_vec();
        frame.extend(letter.map(|(letter, _)| *letter));
        frame.extend(format!("{:04x}", part.len()).bytes());
        frame.extend(part);
        frame
    })
}

/// Takes apart what comes through the pipe.
pub(crate) struct Decoder {
    mark: String,
    waiting: Vec<u8>,
}

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Frame(Kind, Vec<u8>),
    /// What a plugin printed.
    Foreign(Vec<u8>),
}

impl Decoder {
    pub(crate) fn new(mark: &str) -> Decoder {
        Decoder {
            mark: mark.to_owned(),
            waiting: Vec::new(),
        }
    }

    /// Takes the next bytes, and gives the pieces that are whole.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        self.waiting.extend(bytes);
        let mut pieces = Vec::new();
        let mut done = 0;
        loop {
            let rest = &self.waiting[done..];
            let mark = self.mark.as_bytes();
            let Some(at) = rest.windows(mark.len()).position(|it| it == mark) else {
                // The mark may have begun.
                let kept = (1..mark.len().min(rest.len() + 1))
                    .rev()
                    .find(|length| mark.starts_with(&rest[rest.len() - length..]));
                let end = rest.len() - kept.unwrap_or(0);
                foreign(&mut pieces, &rest[..end]);
                done += end;
                break;
            };
            foreign(&mut pieces, &rest[..at]);
            done += at;
            match frame(&rest[at + mark.len()..]) {
                Some((kind, content)) => {
                    done += mark.len() + 1 + DIGITS + content.len();
                    pieces.push(Piece::Frame(kind, content));
                }
                None => break,
            }
        }
        self.waiting.drain(..done);
        pieces
    }

    /// What is left at the end of the stream: part of a frame whose writer died, or of a mark.
    pub(crate) fn rest(self) -> Vec<u8> {
        match self.waiting.starts_with(self.mark.as_bytes()) {
            true => Vec::new(),
            false => self.waiting,
        }
    }
}

fn foreign(pieces: &mut Vec<Piece>, bytes: &[u8]) {
    if !bytes.is_empty() {
        pieces.push(Piece::Foreign(bytes.to_vec()));
    }
}

/// Kind and content of what follows a mark, where all of it is there.
fn frame(rest: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let (letter, rest) = rest.split_first()?;
    let (_, kind) = KINDS.iter().find(|(it, _)| it == letter)?;
    let (digits, rest) = rest.split_at_checked(DIGITS)?;
    let length = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((*kind, rest.get(..length)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "<mark>";

    /// The pieces of a stream that comes in parts of this size, put together again.
    fn decoded(stream: &[u8], size: usize) -> (Vec<u8>, Vec<u8>, Vec<Vec<u8>>) {
        let mut decoder = Decoder::new(MARK);
        let (mut output, mut others, mut doing) = (Vec::new(), Vec::new(), Vec::new());
        for part in stream.chunks(size) {
            for piece in decoder.push(part) {
                match piece {
                    Piece::Foreign(bytes) => others.extend(bytes),
                    Piece::Frame(Kind::Output, bytes) => output.extend(bytes),
                    Piece::Frame(_, bytes) => doing.push(bytes),
                }
            }
        }
        others.extend(decoder.rest());
        (output, others, doing)
    }

    #[test]
    fn frames_come_back_out_of_any_noise() {
        let long: Vec<u8> = (0..20_000u32).map(|n| n as u8).collect();
        let mut stream = b"noise <mar".to_vec();
        for frame in encode(MARK, Kind::Doing, b"compiling") {
            stream.extend(frame);
        }
        for (at, frame) in encode(MARK, Kind::Output, &long).enumerate() {
            assert!(frame.len() <= ATOMIC);
            stream.extend(frame);
            stream.extend(format!("<{at}>").bytes().take(1));
        }
        for frame in encode(MARK, Kind::End, b"") {
            stream.extend(frame);
        }
        let count = long.len().div_ceil(ATOMIC - MARK.len() - 5);
        let noise = format!("noise <mar{}", "<".repeat(count));
        for size in [1, 2, 7, 4096, stream.len()] {
            let (output, others, doing) = decoded(&stream, size);
            assert_eq!(output, long);
            assert_eq!(String::from_utf8_lossy(&others), noise);
            assert_eq!(doing, [b"compiling".to_vec(), Vec::new()]);
        }
    }

    #[test]
    fn what_a_dying_writer_leaves_is_no_frame() {
        let frame = encode(MARK, Kind::Output, b"all or nothing").next();
        let frame = frame.expect("one");
        for end in MARK.len()..frame.len() {
            let (output, others, _) = decoded(&frame[..end], 3);
            assert!(output.is_empty() && others.is_empty(), "{end}");
        }
    }
}
