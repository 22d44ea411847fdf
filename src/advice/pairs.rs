//! Which inputs could be donated into which outputs.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::footprint::Footprint;
use crate::shape::Shape;
use crate::signature::{Donation, Input, Output, Signature};

/// What is left to be paired.
struct Free<'a> {
    signature: &'a Signature,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    pairs: Vec<(usize, usize)>,
}

/// Pairs of an input and an output, by input: no input and no output stands here twice.
/// As many inputs as can be, since any input fits any output of its footprint.
pub(super) fn candidates(signature: &Signature) -> Vec<(usize, usize)> {
    let mut taken = vec![false; signature.outputs().len()];
    for input in signature.inputs() {
        if let Donation::Into { output, .. } = input.donation() {
            taken[output] = true;
        }
    }
    // What has no bytes has nothing to give.
    let inputs = (0..signature.inputs().len()).filter(|index| {
        let input = &signature.inputs()[*index];
        input.donation() == Donation::None && input.device_bytes() > 0
    });
    let outputs = (0..taken.len()).filter(|index| !taken[*index]);
    let mut free = Free {
        signature,
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        pairs: Vec::new(),
    };
    free.offered();
    free.returned();
    for (input_way, output_way) in [(0, 1), (0, 0), (1, 1), (1, 0)] {
        free.pair(
            |input| Some((Kind::of_input(input), ways(input.name()?)[input_way]?)),
            |output| Some((Kind::of_output(output), ways(output.name()?)[output_way]?)),
        );
    }
    free.pair(
        |input| Some(Kind::of_input(input)),
        |output| Some(Kind::of_output(output)),
    );
    free.pair(
        |input| Some(input.footprint()),
        |output| Some(output.footprint()),
    );
    free.pairs.sort_unstable();
    free.pairs
}

/// What makes an input and an output the same kind of array.
#[derive(PartialEq, Eq, Hash)]
struct Kind<'a> {
    footprint: Footprint,
    shape: &'a Shape,
}

impl<'a> Kind<'a> {
    fn of_input(input: &'a Input) -> Kind<'a> {
        Kind {
            footprint: input.footprint(),
            shape: input.shape(),
        }
    }

    fn of_output(output: &'a Output) -> Kind<'a> {
        Kind {
            footprint: output.footprint(),
            shape: output.shape(),
        }
    }
}

/// The way to a leaf: behind the argument's name (`['w']` of `state['w']`), and behind the
/// number that a list of arguments, or of results, has there (of `result[0]['w']`).
fn ways(name: &str) -> [Option<&str>; 2] {
    let root = name.find(['.', '[']).unwrap_or(name.len());
    let way = &name[root..];
    let behind = way.strip_prefix('[').and_then(|rest| {
        let (number, behind) = rest.split_once(']')?;
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        (digits && !behind.is_empty()).then_some(behind)
    });
    [Some(way).filter(|way| !way.is_empty()), behind]
}

impl<'a> Free<'a> {
    /// Sets outputs aside for inputs that are offered already: the compiler takes any that fits.
    fn offered(&mut self) {
        let inputs = self.signature.inputs().iter();
        for input in inputs.filter(|input| input.donation() == Donation::Offered) {
            let outputs = self.signature.outputs();
            let mut free = self.outputs.iter();
            let fits = free.position(|output| outputs[*output].footprint() == input.footprint());
            if let Some(fits) = fits {
                self.outputs.remove(fits);
            }
        }
    }

    /// Pairs inputs that the program returns with their own outputs. Where that is taken,
    /// they are needed as they are.
    fn returned(&mut self) {
        let outputs = self.signature.outputs();
        let mut own: HashMap<usize, Option<usize>> = HashMap::new();
        for (index, output) in outputs.iter().enumerate() {
            if let Some(input) = output.returned_input() {
                own.entry(input).or_default();
                let fits = self.signature.inputs()[input].footprint() == output.footprint();
                if fits && self.outputs.binary_search(&index).is_ok() {
                    own.entry(input).and_modify(|first| {
                        first.get_or_insert(index);
                    });
                }
            }
        }
        let mut pairs = Vec::new();
        self.inputs.retain(|input| match own.get(input) {
            None => true,
            Some(output) => {
                pairs.extend(output.map(|output| (*input, output)));
                false
            }
        });
        self.outputs
            .retain(|output| !pairs.iter().any(|(_, taken)| taken == output));
        self.pairs.append(&mut pairs);
    }

    /// Pairs what has the same key, in order.
    fn pair<K: Hash + Eq>(
        &mut self,
        of_input: impl Fn(&'a Input) -> Option<K>,
        of_output: impl Fn(&'a Output) -> Option<K>,
    ) {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for output in &self.outputs {
            if let Some(key) = of_output(&self.signature.outputs()[*output]) {
                waiting.entry(key).or_default().push_back(*output);
            }
        }
        let mut taken = vec![false; self.signature.outputs().len()];
        let (signature, pairs) = (self.signature, &mut self.pairs);
        self.inputs.retain(|input| {
            let key = of_input(&signature.inputs()[*input]);
            let queue = key.and_then(|key| waiting.get_mut(&key));
            let Some(output) = queue.and_then(VecDeque::pop_front) else {
                return true;
            };
            pairs.push((*input, output));
            taken[output] = true;
            false
        });
        self.outputs.retain(|output| !taken[*output]);
    }
}

#[cfg(test)]
mod tests {
    use super::ways;

    #[test]
    fn ways_behind_names() {
        assert_eq!(ways("state['w']"), [Some("['w']"), None]);
        assert_eq!(ways("result[0]['w']"), [Some("[0]['w']"), Some("['w']")]);
        assert_eq!(ways("args[12].w[3]"), [Some("[12].w[3]"), Some(".w[3]")]);
        assert_eq!(ways("state.opt[0]"), [Some(".opt[0]"), None]);
        assert_eq!(ways("result[0]"), [Some("[0]"), None]);
        assert_eq!(ways("w"), [None, None]);
        assert_eq!(ways("a[0"), [Some("[0"), None]);
        assert_eq!(ways(""), [None, None]);
    }
}
