//! Writing donations into a text.

use crate::form;
use crate::module;
use crate::{Error, Input, Main};

/// What an input's memory is given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Donation {
    /// The output of this index: `tf.aliasing_output = 0 : i32`.
    Output(usize),
    /// Whichever output the compiler finds to fit: `jax.buffer_donor = true`.
    Any,
}

impl Donation {
    /// As an entry of a dictionary.
    fn entry(self) -> String {
        match self {
            Donation::Output(index) => format!("tf.aliasing_output = {index} : i32"),
            Donation::Any => "jax.buffer_donor = true".to_owned(),
        }
    }
}

/// Where attributes can be written into a function's head.
pub(crate) struct Sites {
    pub(crate) inputs: Vec<Option<Site>>,
    pub(crate) missing: Option<Missing>,
}

/// Where a list of all arguments' attributes belongs: right behind the `{` of a dictionary
/// that has other entries.
pub(crate) struct Missing {
    pub(crate) inside: usize,
}

/// Where an argument's attributes are.
pub(crate) enum Site {
    /// There are none: they belong behind the type, which ends at this byte.
    Behind(usize),
    /// Right behind the `{`.
    Inside { at: usize, empty: bool },
}

impl Site {
    /// What is to be written.
    fn edit(&self, donation: Donation) -> Edit {
        let entry = donation.entry();
        match *self {
            Site::Behind(at) => (at, format!(" {{{entry}}}")),
            Site::Inside { at, empty: true } => (at, entry),
            Site::Inside { at, empty: false } => (at, format!("{entry}, ")),
        }
    }
}

/// What is written, and before which byte.
type Edit = (usize, String);

/// The same program with more inputs donated: each by its index, with what it is given for.
/// Nothing but these attributes changes, byte for byte.
///
/// # Errors
/// As [`parse`](crate::parse); there is no such input or output; an input is donated already,
/// or an output taken; one of them is named twice.
pub fn donate(code: &[u8], donations: &[(usize, Donation)]) -> Result<String, Error> {
    let text = form::text(code)?;
    let (main, sites) = module::read(text)?;
    let wanted = with(&main, donations)?;
    let mut edits = edits(&sites, main.inputs.len(), donations)?;
    edits.sort_by_key(|(at, _)| *at);
    let mut donating = String::with_capacity(text.len() + 64 * edits.len());
    let mut from = 0;
    for (at, new) in edits {
        donating.push_str(&text[from..at]);
        donating.push_str(&new);
        from = at;
    }
    donating.push_str(&text[from..]);
    // What was written is read, so that a form that isn't understood is an error, not
    // another program.
    match module::read(&donating) {
        Ok((main, _)) if main == wanted => Ok(donating),
        _ => Err(Error::whole(
            "the attributes of this program's inputs stand in a form into which nothing can be \
             written here",
        )),
    }
}

/// What the text is to say.
fn with(main: &Main, donations: &[(usize, Donation)]) -> Result<Main, Error> {
    let mut wanted = main.clone();
    let mut taken: Vec<Option<usize>> = vec![None; main.outputs.len()];
    for (index, input) in main.inputs.iter().enumerate() {
        if let Some(output) = input.aliasing_output {
            taken[output] = Some(index);
        }
    }
    for &(index, donation) in donations {
        let count = main.inputs.len();
        let Some(input) = wanted.inputs.get_mut(index) else {
            return Err(Error::whole(format!(
                "input {index} is to be donated, but the program has {count} inputs, counted from 0"
            )));
        };
        if input.donated() {
            return Err(Error::whole(format!(
                "input {index}{} is to be donated, but it is donated already",
                named(input)
            )));
        }
        match donation {
            Donation::Any => input.buffer_donor = true,
            Donation::Output(output) => {
                input.aliasing_output = Some(output);
                let name = named(input);
                let count = taken.len();
                match taken.get_mut(output) {
                    None => {
                        return Err(Error::whole(format!(
                            "input {index}{name} is to be donated into output {output}, but the \
                             program has {count} outputs, counted from 0"
                        )))
                    }
                    Some(Some(other)) => {
                        return Err(Error::whole(format!(
                        "input {index}{name} is to be donated into output {output}, which input \
                             {other} is donated into"
                    )))
                    }
                    Some(free) => *free = Some(index),
                }
            }
        }
    }
    Ok(wanted)
}

fn named(input: &Input) -> String {
    match &input.name {
        Some(name) => format!(" (`{name}`)"),
        None => String::new(),
    }
}

fn edits(
    sites: &Sites,
    inputs: usize,
    donations: &[(usize, Donation)],
) -> Result<Vec<Edit>, Error> {
    let Some(missing) = &sites.missing else {
        let edit = |&(index, donation): &(usize, Donation)| {
            let site = sites.inputs.get(index).and_then(Option::as_ref);
            let site = site
                .ok_or_else(|| Error::whole(format!("input {index} has no place in the text")))?;
            Ok(site.edit(donation))
        };
        return donations.iter().map(edit).collect();
    };
    if donations.is_empty() {
        return Ok(Vec::new());
    }
    let mut all = vec![String::new(); inputs];
    for (index, donation) in donations {
        all[*index] = donation.entry();
    }
    let dictionaries: Vec<String> = all.iter().map(|entry| format!("{{{entry}}}")).collect();
    let list = format!("arg_attrs = [{}], ", dictionaries.join(", "));
    Ok(vec![(missing.inside, list)])
}
