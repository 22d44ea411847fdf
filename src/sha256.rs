//! SHA-256 (FIPS 180-4): what the compile cache calls its entries by.
//!
//! A name stands for a program there, and two programs of one name would be a wrong
//! result. A checksum is too short for that. The algorithm is small, and so no package
//! comes with it.

/// The eight words that the standard begins with, and its 64 constants: the first 32
/// bits behind the point of the square roots of the first 8 primes, and of the cube
/// roots of the first 64.
const START: [u32; 8] = {
    let mut words = [0; 8];
    let mut at = 0;
    while at < 8 {
        words[at] = root(PRIMES[at], 2);
        at += 1;
    }
    words
};

const ROUND: [u32; 64] = {
    let mut words = [0; 64];
    let mut at = 0;
    while at < 64 {
        words[at] = root(PRIMES[at], 3);
        at += 1;
    }
    words
};

const PRIMES: [u128; 64] = {
    let mut primes = [0; 64];
    let mut found = 0;
    let mut number = 2;
    while found < 64 {
        let mut divisor = 2;
        while number % divisor != 0 {
            divisor += 1;
        }
        if divisor == number {
            primes[found] = number;
            found += 1;
        }
        number += 1;
    }
    primes
};

/// The first 32 bits behind the point of the root of `number`.
const fn root(number: u128, degree: u32) -> u32 {
    // The root of number * 2^(32 * degree), bit by bit: it has at most 37 bits.
    let wanted = number << (32 * degree);
    let mut root = 0u128;
    let mut bit = 1u128 << 36;
    while bit > 0 {
        if (root | bit).pow(degree) <= wanted {
            root |= bit;
        }
        bit >>= 1;
    }
    root as u32
}

/// The size of a block in bytes.
const BLOCK: usize = 64;

/// A hash of what was put in so far.
pub(crate) struct Sha256 {
    state: [u32; 8],
    /// The beginning of the next block.
    pending: Vec<u8>,
    length: u64,
}

impl Sha256 {
    pub(crate) fn new() -> Sha256 {
        Sha256 {
            state: START,
            pending: Vec::with_capacity(BLOCK),
            length: 0,
        }
    }

    /// Puts bytes in.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if !self.pending.is_empty() {
            let wanted = BLOCK - self.pending.len();
            let (first, rest) = bytes.split_at(wanted.min(bytes.len()));
            self.pending.extend_from_slice(first);
            bytes = rest;
            if self.pending.len() < BLOCK {
                return;
            }
            let block = std::mem::take(&mut self.pending);
            self.compress(&block);
        }
        let mut blocks = bytes.chunks_exact(BLOCK);
        for block in &mut blocks {
            self.compress(block);
        }
        self.pending.extend_from_slice(blocks.remainder());
    }

    /// The hash of all that was put in.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        let bits = self.length * 8;
        let zeros = (BLOCK * 2 - 9 - self.pending.len()) % BLOCK;
        let mut end = vec![0x80];
        end.resize(1 + zeros, 0);
        end.extend_from_slice(&bits.to_be_bytes());
        self.update(&end);
        let mut hash = [0; 32];
        for (bytes, word) in hash.chunks_exact_mut(4).zip(self.state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        hash
    }

    /// Names as in the standard.
    fn compress(&mut self, block: &[u8]) {
        let mut w = [0u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes
                .iter()
                .fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for t in 16..64 {
            let (early, late) = (w[t - 15], w[t - 2]);
            let sigma0 = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
            let sigma1 = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
            w[t] = w[t - 16]
                .wrapping_add(sigma0)
                .wrapping_add(w[t - 7])
                .wrapping_add(sigma1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for (word, constant) in w.iter().zip(ROUND) {
            let sum1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let t1 = h
                .wrapping_add(sum1)
                .wrapping_add(choice)
                .wrapping_add(constant)
                .wrapping_add(*word);
            let sum0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let t2 = sum0.wrapping_add(majority);
            (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
            (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
        }
        let end = [a, b, c, d, e, f, g, h];
        for (word, more) in self.state.iter_mut().zip(end) {
            *word = word.wrapping_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sha256;

    fn hash(parts: &[&[u8]]) -> String {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        let hash = hash.finish();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The examples of the standard, and what `sha256sum` says.
    #[test]
    fn hashes_are_those_of_the_standard() {
        let known = [
            (
                "",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ];
        for (text, wanted) in known {
            assert_eq!(hash(&[text.as_bytes()]), wanted, "{text}");
        }
        let million = vec![b'a'; 1_000_000];
        assert_eq!(
            hash(&[&million]),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    #[test]
    fn parts_are_hashed_as_the_whole() {
        let bytes: Vec<u8> = (0..=255).collect();
        let whole = hash(&[&bytes]);
        for first in 0..150 {
            let (a, rest) = bytes.split_at(first);
            let (b, c) = rest.split_at(first % 70);
            assert_eq!(hash(&[a, b, c]), whole, "{first}");
        }
        // Every number of bytes around the end of a block has a hash of its own.
        let hashes: std::collections::HashSet<String> =
            (0..200).map(|count| hash(&[&bytes[..count]])).collect();
        assert_eq!(hashes.len(), 200);
    }
}
