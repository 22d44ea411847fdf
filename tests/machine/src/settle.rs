//! What must come of a call.

use std::collections::HashSet;

use xla::Buffer;

use crate::compiled::{Done, Outcome, Refusal};
use crate::form::{Way, FORMS};
use crate::machine::{speaks_of_donation, Machine, Verdict};
use crate::model::Content;
use crate::plan::Plan;
use crate::program::{Program, Trouble};
use crate::step::{Call, Mishap};

impl Machine<'_> {
    pub(crate) fn settle(
        &mut self,
        plan: &Plan,
        mishap: Option<Mishap>,
        consumed: &[usize],
        outcome: Outcome,
    ) -> Verdict {
        let trouble = match self.world.minds_trouble() {
            true => plan.compiled.program.trouble,
            false => Trouble::No,
        };
        let may_fail = trouble != Trouble::No || matches!(mishap, Some(Mishap::Fails { .. }));
        let fails_later = trouble != Trouble::No || mishap == Some(Mishap::FailsLater);
        match outcome {
            Ok(_) if may_fail && !fails_later => Err("a call that can't succeed did".to_owned()),
            Ok(done) => self.settle_done(plan, fails_later, done),
            Err(refusal) => {
                let has_failed = self.passes_failed(plan);
                let danger = self.passes_failed_to_danger(plan);
                let (error, lost) = (refusal.error.clone(), refusal.lost.clone());
                let back = self.take_back(plan, refusal)?;
                self.diary.note(format!("  failed, lost {lost:?}: {error}"));
                self.diary.count("calls failed");
                speaks_of_donation(&error)?;
                if error.function().is_none() && !lost.is_empty() {
                    return Err(format!("a refused call has lost {lost:?}"));
                }
                if danger {
                    if error.function().is_some() && !self.world.asked_for(&error) {
                        return Err(format!("a failed buffer reached the plugin: {error}"));
                    }
                    self.diary.count("failed buffers refused");
                } else if !may_fail && !has_failed {
                    self.excuse(&error)?;
                }
                if let (Some(Mishap::Fails { handles, .. }), Some(_)) = (mishap, error.function()) {
                    check_lost(plan, consumed, handles, &lost)?;
                }
                self.diary.count(match lost.len() {
                    0 => "calls failed without loss",
                    _ => "calls failed with losses",
                });
                self.look_at(back)
            }
        }
    }

    fn passes_failed(&self, plan: &Plan) -> bool {
        self.passes_failed_where(plan, |_| true)
    }

    fn passes_failed_where(&self, plan: &Plan, chosen: impl Fn(usize) -> bool) -> bool {
        let mut places = plan.uses.iter().flat_map(|list| list.iter().enumerate());
        places.any(|(index, each)| chosen(index) && self.slots[each.slot].content.has_failed())
    }

    /// Whether a failed buffer is passed where the process could end: to a collective, and on CPU where
    /// the runtime copies it. What the program donates is copied when it's lent; on 0.81 also behind
    /// one that is.
    fn passes_failed_to_danger(&self, plan: &Plan) -> bool {
        let donates = |index: usize| plan.compiled.consumes(index);
        let mut uses = plan.uses[0].iter().enumerate();
        let copies = uses.any(|(index, each)| !each.give && donates(index));
        plan.compiled.program.is_collective() && self.passes_failed(plan)
            || copies
                && self.client.platform_name() == "cpu"
                && self.passes_failed_where(plan, donates)
    }

    /// 0.81 lets a run fail that takes over what a failing run before it was lent. So there such runs
    /// are waited for.
    fn await_failure(&self, outputs: &[usize]) {
        for slot in outputs.iter().map(|slot| &self.slots[*slot]) {
            if let (true, Some(buffer)) = (slot.content.has_failed(), &slot.buffer) {
                // It's the failure that's known already.
                let _ = buffer.wait();
            }
        }
    }

    pub(crate) fn can_await_failure(&self, program: &Program) -> bool {
        !self.is_0_81() || program.output_count() > 0
    }

    fn is_0_81(&self) -> bool {
        self.client.plugin().api_version() < (0, 106)
    }

    /// A run consumes what's given and donated, and nothing else.
    fn check_report(&self, plan: &Plan, done: &Done) -> Verdict {
        let Some(report) = &done.report else {
            return Ok(());
        };
        self.diary.note(format!("  {report}"));
        let given = plan.uses[0]
            .iter()
            .enumerate()
            .filter(|(_, each)| each.give);
        let given: Vec<usize> = given.map(|(index, _)| index).collect();
        let leaves = report.leaves().iter();
        if leaves.map(|leaf| leaf.argument).collect::<Vec<_>>() != given {
            return Err(format!("{given:?} were given, {report:?}"));
        }
        for leaf in report.leaves() {
            let donated = plan.compiled.consumes(leaf.argument);
            let mut before = plan.uses[0][..leaf.argument].iter().enumerate();
            // 0.81 copies what's behind one that's lent and donated.
            let copied = self.is_0_81()
                && before.any(|(index, each)| !each.give && plan.compiled.consumes(index));
            // A run that fails may leave what it was given, and asking may be made to fail.
            let known = !self.world.fails_on_demand()
                && plan.compiled.program.trouble == Trouble::No
                && !self.passes_failed(plan);
            if leaf.consumed && !donated || known && leaf.consumed != (donated && !copied) {
                return Err(format!("{leaf:?}, and it's donated: {donated}"));
            }
        }
        self.diary.count("reports");
        Ok(())
    }

    fn settle_done(&mut self, plan: &Plan, fails_later: bool, done: Done) -> Verdict {
        let program = &plan.compiled.program;
        let contents: Vec<Vec<&Content>> = plan
            .uses
            .iter()
            .map(|list| {
                list.iter()
                    .map(|each| &self.slots[each.slot].content)
                    .collect()
            })
            .collect();
        if self.passes_failed_to_danger(plan) {
            return Err("a run is started with a failed buffer".to_owned());
        }
        self.check_report(plan, &done)?;
        let results = program.results(&contents);
        if done.outputs.len() != results.len() {
            return Err(format!("outputs of {} devices", done.outputs.len()));
        }
        let first = self.slots.len();
        let devices = program.devices.clone();
        for ((outputs, contents), device) in done.outputs.into_iter().zip(results).zip(devices) {
            if outputs.len() != program.output_count() {
                return Err(format!("{} outputs", outputs.len()));
            }
            let forms = program.outputs.iter().map(|output| output.form);
            let forms = forms.chain([FORMS[0]]);
            let contents = contents.into_iter().chain([Content::Failed]);
            for ((buffer, form), content) in outputs.into_iter().zip(forms).zip(contents) {
                if buffer.shape().byte_size() > 1 << 40 {
                    match buffer.wait() {
                        Ok(()) => return Err("2^48 bytes are there".to_owned()),
                        Err(error) => speaks_of_donation(&error)?,
                    }
                    continue;
                }
                let right = buffer.element_type() == form.element
                    && buffer.dims() == form.dims
                    && buffer.device() == self.devices[device];
                if !right {
                    return Err(format!("an output is {buffer:?}, not {form} on {device}"));
                }
                let content = if fails_later {
                    Content::Failed
                } else {
                    content
                };
                self.diary.count(match content {
                    Content::Failed => "outputs of failed runs",
                    Content::Values(_) => "outputs",
                });
                self.keep(buffer, form, device, content);
            }
        }
        let made: Vec<usize> = (first..self.slots.len()).collect();
        if self.is_0_81() {
            self.await_failure(&made);
        }
        let pending = |slot: &usize| {
            let buffer = self.slots[*slot].buffer.as_ref();
            matches!(buffer.map(Buffer::is_ready), Some(Ok(false)))
        };
        if made.first().is_some_and(pending) {
            self.diary.count("runs seen pending");
        }
        let made: Vec<String> = made
            .iter()
            .map(|slot| format!("b{slot} {:?}", self.slots[*slot].content))
            .collect();
        self.diary.note(format!("  gives {}", made.join(", ")));
        Ok(())
    }

    /// Puts what came back into its slots; it and the lost must be what was given.
    pub(crate) fn take_back(&mut self, plan: &Plan, refusal: Refusal) -> Verdict<Vec<usize>> {
        let mut missing = HashSet::new();
        for (device, list) in plan.uses.iter().enumerate() {
            for (input, each) in list.iter().enumerate() {
                if each.give {
                    missing.insert((device, input));
                }
            }
        }
        for place in &refusal.lost {
            if !missing.remove(place) {
                return Err(format!(
                    "{place:?} is lost, and wasn't given, or is lost twice"
                ));
            }
            self.diary.count("given and lost");
        }
        let mut slots = Vec::new();
        for (device, input, buffer) in refusal.back {
            if !missing.remove(&(device, input)) {
                return Err(format!(
                    "{:?} comes back, and wasn't given",
                    (device, input)
                ));
            }
            let slot = plan.uses[device][input].slot;
            self.slots[slot].buffer = Some(buffer);
            slots.push(slot);
            self.diary.count("given and back");
        }
        if !missing.is_empty() {
            return Err(format!(
                "{missing:?} were given, didn't come back and aren't lost: {}",
                refusal.error
            ));
        }
        Ok(slots)
    }

    pub(crate) fn look_at(&self, slots: Vec<usize>) -> Verdict {
        let mut slots = slots.into_iter();
        slots.try_for_each(|slot| self.read(slot, Way::ToHost))
    }

    pub(crate) fn look_at_lent(&self, call: &Call, plan: &Plan) -> Verdict {
        if !call.look {
            return Ok(());
        }
        let lent = plan.uses.iter().flatten().filter(|each| !each.give);
        self.look_at(lent.map(|each| each.slot).collect())
    }
}

/// A call that failed on demand has lost what it was told to consume, and what it donated if it did
/// its work first.
fn check_lost(plan: &Plan, consumed: &[usize], handles: bool, lost: &[(usize, usize)]) -> Verdict {
    let lost: HashSet<(usize, usize)> = lost.iter().copied().collect();
    for (device, list) in plan.uses.iter().enumerate() {
        for (input, each) in list.iter().enumerate() {
            let wanted = each.give
                && (consumed.contains(&input) || handles && plan.compiled.program.consumes(input));
            if lost.contains(&(device, input)) != wanted {
                return Err(format!(
                    "of what was given, {lost:?} are lost, not {consumed:?}"
                ));
            }
        }
    }
    Ok(())
}
