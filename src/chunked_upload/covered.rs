//! Which bytes were sent.

use std::ops::Range;

/// Ranges of 0 to `total` that are covered, in order; neighbours are one.
pub(super) struct Covered {
    ranges: Vec<Range<usize>>,
    missing: usize,
    total: usize,
}

impl Covered {
    pub(super) fn new(total: usize) -> Covered {
        Covered {
            ranges: Vec::new(),
            missing: total,
            total,
        }
    }

    /// How many are not covered.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// The first that is not covered; `total` when all are.
    pub(super) fn first_gap(&self) -> usize {
        match self.ranges.first() {
            Some(first) if first.start == 0 => first.end,
            _ => 0,
        }
    }

    /// What is covered already of a range that isn't empty.
    pub(super) fn overlap(&self, range: Range<usize>) -> Option<Range<usize>> {
        let at = self.behind(range.start);
        let known = self.ranges.get(at)?;
        (known.start < range.end).then(|| known.start.max(range.start)..known.end.min(range.end))
    }

    /// Covers a range that overlaps with nothing.
    pub(super) fn add(&mut self, range: Range<usize>) {
        self.missing -= range.len();
        let at = self.behind(range.start);
        let joins_next = self.ranges.get(at).is_some_and(|r| r.start == range.end);
        let joins_last = at > 0 && self.ranges[at - 1].end == range.start;
        match (joins_last, joins_next) {
            (true, true) => {
                self.ranges[at - 1].end = self.ranges[at].end;
                self.ranges.remove(at);
            }
            (true, false) => self.ranges[at - 1].end = range.end,
            (false, true) => self.ranges[at].start = range.start,
            (false, false) => self.ranges.insert(at, range),
        }
    }

    /// What is not covered, in order.
    pub(super) fn gaps(&self) -> Vec<Range<usize>> {
        let ends = std::iter::once(0).chain(self.ranges.iter().map(|range| range.end));
        let starts = self.ranges.iter().map(|range| range.start);
        ends.zip(starts.chain([self.total]))
            .filter(|(end, start)| end < start)
            .map(|(end, start)| end..start)
            .collect()
    }

    /// The number of the first range that ends behind a place.
    fn behind(&self, place: usize) -> usize {
        self.ranges.partition_point(|range| range.end <= place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_byte_by_byte_agrees() {
        // All ranges of 12 bytes in an order that a small generator draws, against a list of
        // truth values.
        let mut seed = 1u64;
        let mut draw = |below: usize| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        for _ in 0..500 {
            let mut covered = Covered::new(12);
            let mut bytes = [false; 12];
            for _ in 0..30 {
                let start = draw(12);
                let end = start + 1 + draw(12 - start);
                let taken = bytes[start..end].iter().any(|byte| *byte);
                let overlap = covered.overlap(start..end);
                assert_eq!(overlap.is_some(), taken, "{start}..{end}");
                if let Some(overlap) = overlap {
                    assert!(overlap.start >= start && overlap.end <= end);
                    assert!(bytes[overlap].iter().all(|byte| *byte));
                } else {
                    covered.add(start..end);
                    bytes[start..end].fill(true);
                }
                let missing = bytes.iter().filter(|byte| !**byte).count();
                assert_eq!(covered.missing(), missing);
                let first = bytes.iter().position(|byte| !byte).unwrap_or(12);
                assert_eq!(covered.first_gap(), first);
                let gaps = covered.gaps();
                assert_eq!(gaps.iter().map(Range::len).sum::<usize>(), missing);
                assert!(gaps.iter().all(|gap| !bytes[gap.clone()].contains(&true)));
                assert!(covered
                    .ranges
                    .windows(2)
                    .all(|two| two[0].end < two[1].start));
            }
        }
        assert!(Covered::new(0).gaps().is_empty());
        assert_eq!(Covered::new(3).gaps(), [0..3]);
    }
}
