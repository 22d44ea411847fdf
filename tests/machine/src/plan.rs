//! What a call passes: settled from choices, and made wrong on purpose.

use std::collections::HashSet;
use std::sync::Arc;

use crate::compiled::Compiled;
use crate::form::{Form, FORMS};
use crate::machine::{Machine, Verdict};
use crate::step::{Argument as Choice, Call, How, Misfit, Origin, Pick};

/// What is passed at one place.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    pub(crate) slot: usize,
    pub(crate) give: bool,
}

/// A call that's settled.
pub(crate) struct Plan {
    /// The program's.
    pub(crate) name: String,
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) how: How,
    /// Device by device.
    pub(crate) uses: Vec<Vec<Use>>,
}

/// Buffers that are used by calls which are made at once.
#[derive(Default)]
pub(crate) struct Reserved {
    given: HashSet<usize>,
    lent: HashSet<usize>,
}

impl Machine<'_> {
    /// Settles what's passed; makes the buffers that there aren't. `None` when something failed as it
    /// was told to.
    pub(crate) fn plan(&mut self, call: &Call, reserved: &mut Reserved) -> Verdict<Option<Plan>> {
        let index = call.program.of(self.programs.len()).unwrap_or(0);
        let compiled = match &self.compiled[index] {
            Some(compiled) => Arc::clone(compiled),
            None => {
                self.diary.note(format!("compile p{index}"));
                match self.world.compile(&self.client, &self.programs[index]) {
                    Ok(compiled) => {
                        if let Some(wrong) = compiled.contradiction() {
                            return Err(wrong);
                        }
                        self.compiled[index] = Some(Arc::clone(&compiled));
                        compiled
                    }
                    Err(error) => return self.excuse(&error).map(|()| None),
                }
            }
        };
        let (program, mut how) = (compiled.program.clone(), call.how);
        if program.devices.len() > 1 {
            how = How::Run;
        }
        let choices: Vec<Choice> = (0..program.inputs.len())
            .map(|index| {
                let mut choice = call.arguments[index % call.arguments.len()];
                choice.give |= how == How::Typed;
                choice
            })
            .collect();
        let mut uses: Vec<Vec<Use>> = Vec::new();
        for (position, device) in program.devices.iter().enumerate() {
            let mut list = Vec::new();
            for (index, choice) in choices.iter().enumerate() {
                let form = program.inputs[index].form;
                let failed = call.failed && self.can_await_failure(&program);
                let chosen = self.choose(form, *device, *choice, position, failed, reserved)?;
                let Some(slot) = chosen else { return Ok(None) };
                list.push(Use {
                    slot,
                    give: choice.give,
                });
            }
            uses.push(list);
        }
        Ok(Some(Plan {
            name: format!("p{index}"),
            compiled,
            how,
            uses,
        }))
    }

    fn choose(
        &mut self,
        form: Form,
        device: usize,
        choice: Choice,
        position: usize,
        failed: bool,
        reserved: &mut Reserved,
    ) -> Verdict<Option<usize>> {
        let mut candidates = self.live();
        candidates.retain(|index| {
            let slot = &self.slots[*index];
            slot.form == form
                && slot.device == device
                && slot.content.is_small()
                && (failed || !slot.content.has_failed())
                && !reserved.given.contains(index)
                && !(choice.give && reserved.lent.contains(index))
        });
        let pick = match choice.from {
            Origin::Any(Pick(pick)) => usize::from(pick) + position,
            _ => position,
        };
        let chosen = match (choice.from, candidates.len()) {
            (Origin::New, _) | (_, 0) => {
                self.upload(form, device, ((pick % 100) as i8, 1), false)?
            }
            (Origin::Latest, count) => Some(candidates[count - 1]),
            (Origin::Any(_), count) => Some(candidates[pick % count]),
        };
        if let Some(slot) = chosen {
            let users = if choice.give {
                &mut reserved.given
            } else {
                &mut reserved.lent
            };
            users.insert(slot);
        }
        Ok(chosen)
    }

    /// Makes a plan wrong. `false` when that isn't possible here.
    pub(crate) fn spoil(&mut self, plan: &mut Plan, misfit: Misfit) -> Verdict<bool> {
        let (devices, inputs) = (plan.uses.len(), plan.uses[0].len());
        let place = |pick: Pick| {
            let place = usize::from(pick.0);
            (place / inputs % devices, place % inputs)
        };
        let replaced = match misfit {
            Misfit::Form(pick) => {
                let (device, input) = place(pick);
                let right = plan.compiled.program.inputs[input].form;
                let start = FORMS.iter().position(|form| *form == right).unwrap_or(0);
                let wrong =
                    FORMS[(start + 1 + usize::from(pick.0) % (FORMS.len() - 1)) % FORMS.len()];
                Some((device, input, wrong, plan.compiled.program.devices[device]))
            }
            Misfit::Device(pick) => {
                let (device, input) = place(pick);
                let right = plan.compiled.program.devices[device];
                let wrong = (right + 1) % self.devices.len();
                let form = plan.compiled.program.inputs[input].form;
                (wrong != right).then_some((device, input, form, wrong))
            }
            Misfit::TooFew => {
                plan.uses.iter_mut().for_each(|list| {
                    list.pop();
                });
                return Ok(true);
            }
            Misfit::TooMany => {
                let device = plan.compiled.program.devices[devices - 1];
                let Some(slot) = self.upload(FORMS[0], device, (1, 1), false)? else {
                    return Ok(false);
                };
                plan.uses[devices - 1].push(Use { slot, give: true });
                return Ok(true);
            }
            Misfit::NoDevice => {
                plan.uses.pop();
                return Ok(devices > 1);
            }
            Misfit::GivenAndLent(pick) => {
                let input = place(pick).1;
                let device = devices - 1;
                let form = plan.compiled.program.inputs[input].form;
                let on = plan.compiled.program.devices[device];
                plan.uses[device][input].give ^= true;
                (devices > 1).then_some((device, input, form, on))
            }
        };
        let Some((device, input, form, on)) = replaced else {
            return Ok(false);
        };
        let Some(slot) = self.upload(form, on, (1, 1), false)? else {
            return Ok(false);
        };
        plan.uses[device][input].slot = slot;
        Ok(true)
    }
}
