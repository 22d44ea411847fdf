//! Running programs: what is passed, and what must come of it.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread;

use xla::{Argument, Buffer};

use crate::compiled::{Compiled, Done, Refusal};
use crate::form::{Form, Way, FORMS};
use crate::machine::{speaks_of_donation, Machine, Verdict};
use crate::model::Content;
use crate::program::Trouble;
use crate::step::{Argument as Choice, Call, How, Misfit, Mishap, Origin, Pick};

/// What is passed at one place.
#[derive(Clone, Copy)]
struct Use {
    slot: usize,
    give: bool,
}

/// A call that's settled.
struct Plan {
    name: String,
    compiled: Arc<Compiled>,
    how: How,
    /// Device by device.
    uses: Vec<Vec<Use>>,
}

/// Buffers that calls use which are made at once.
#[derive(Default)]
struct Reserved {
    given: HashSet<usize>,
    lent: HashSet<usize>,
}

type Outcome = Result<Done, Refusal>;

impl Machine<'_> {
    pub(crate) fn call(&mut self, call: &Call) -> Verdict {
        let Some(mut plan) = self.plan(call, &mut Reserved::default())? else {
            return Ok(());
        };
        let mishap = call.mishap.filter(|_| self.world.fails_on_demand());
        // What it's told to consume must have been given.
        let consumed: Vec<usize> = match mishap {
            Some(Mishap::Fails { consumed, .. }) => (0..plan.uses[0].len())
                .filter(|input| consumed & 1 << input != 0 && plan.uses[0][*input].give)
                .collect(),
            _ => Vec::new(),
        };
        if matches!(plan.how, How::Reported) && mishap.is_some() {
            plan.how = How::Run;
        }
        self.note(&plan, mishap);
        let given = self.take(&plan);
        let arguments = self.arguments(&plan, given);
        let outcome = match mishap {
            Some(mishap) => {
                let (mut arguments, mut outcome) = (Some(arguments), None);
                self.world.with_mishap(mishap, &consumed, &mut || {
                    outcome = arguments
                        .take()
                        .map(|arguments| plan.compiled.call(plan.how, arguments));
                });
                outcome.ok_or("the call was not made")?
            }
            None if call.elsewhere => {
                let looked = self.live().first().copied();
                let (outcome, read) = thread::scope(|scope| {
                    let there = scope.spawn(|| plan.compiled.call(plan.how, arguments));
                    let read = looked.map_or(Ok(()), |slot| self.read(slot, Way::ToHost));
                    (there.join(), read)
                });
                read?;
                outcome.map_err(|_| "the calling thread panicked")?
            }
            None => plan.compiled.call(plan.how, arguments),
        };
        self.settle(&plan, mishap, &consumed, outcome)?;
        self.look_at_lent(call, &plan)
    }

    pub(crate) fn call_together(&mut self, one: &Call, other: &Call) -> Verdict {
        let mut reserved = Reserved::default();
        let Some(first) = self.plan(one, &mut reserved)? else {
            return Ok(());
        };
        let Some(second) = self.plan(other, &mut reserved)? else {
            return Ok(());
        };
        self.note(&first, None);
        self.note(&second, None);
        self.diary.count("pairs of calls at once");
        let (given, more) = (self.take(&first), self.take(&second));
        let arguments = self.arguments(&first, given);
        let more = self.arguments(&second, more);
        let (outcome, another) = thread::scope(|scope| {
            let there = scope.spawn(|| second.compiled.call(second.how, more));
            let outcome = first.compiled.call(first.how, arguments);
            (outcome, there.join())
        });
        let another = another.map_err(|_| "the calling thread panicked")?;
        self.settle(&first, None, &[], outcome)?;
        self.settle(&second, None, &[], another)?;
        self.look_at_lent(one, &first)?;
        self.look_at_lent(other, &second)
    }

    pub(crate) fn call_wrongly(&mut self, call: &Call, misfit: Misfit) -> Verdict {
        let Some(mut plan) = self.plan(call, &mut Reserved::default())? else {
            return Ok(());
        };
        if !self.spoil(&mut plan, misfit)? {
            return Ok(());
        }
        self.note(&plan, None);
        self.diary.note(format!("  which is wrong: {misfit:?}"));
        let given = self.take(&plan);
        let arguments = self.arguments(&plan, given);
        match plan.compiled.call(plan.how, arguments) {
            Ok(_) => Err(format!("a wrong call is let through: {misfit:?}")),
            Err(refusal) => {
                let (error, function) = (refusal.error.clone(), refusal.error.function());
                let lost = refusal.lost.len();
                let back = self.take_back(&plan, refusal)?;
                self.diary.note(format!("  refused: {error}"));
                if function.is_some() || error.code() != xla::Code::InvalidArgument || lost > 0 {
                    return Err(format!("a wrong call isn't refused as such: {error}"));
                }
                self.diary.count("wrong calls refused");
                self.look_at(back)
            }
        }
    }

    // What is passed.

    /// Settles what's passed; makes the buffers that there aren't. `None` when something failed as it
    /// was told to.
    fn plan(&mut self, call: &Call, reserved: &mut Reserved) -> Verdict<Option<Plan>> {
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
                let chosen =
                    self.choose(form, *device, *choice, position, call.failed, reserved)?;
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
    fn spoil(&mut self, plan: &mut Plan, misfit: Misfit) -> Verdict<bool> {
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

    /// Takes out of the slots what a plan gives, in the order of its uses.
    fn take(&mut self, plan: &Plan) -> Vec<Buffer> {
        let given = plan.uses.iter().flatten().filter(|each| each.give);
        let taken: Vec<Buffer> = given
            .filter_map(|each| self.slots[each.slot].buffer.take())
            .collect();
        for buffer in &taken {
            let pending = matches!(buffer.is_ready(), Ok(false));
            self.diary.count(if pending {
                "given pending"
            } else {
                "given ready"
            });
        }
        taken
    }

    /// What's passed: the given ones by value, the others by reference.
    fn arguments(&self, plan: &Plan, given: Vec<Buffer>) -> Vec<Vec<Argument<'_>>> {
        let mut given = given.into_iter();
        let lists = plan.uses.iter().map(|list| {
            let arguments = list.iter().filter_map(|each| match each.give {
                true => given.next().map(Argument::Given),
                false => {
                    self.diary.count("lent");
                    self.slots[each.slot].buffer.as_ref().map(Argument::Lent)
                }
            });
            arguments.collect()
        });
        lists.collect()
    }

    fn note(&self, plan: &Plan, mishap: Option<Mishap>) {
        let lists = plan.uses.iter().map(|list| {
            let uses = list.iter().map(|each| {
                let verb = if each.give { "give" } else { "lend" };
                format!("{verb} b{}", each.slot)
            });
            uses.collect::<Vec<_>>().join(", ")
        });
        let lists = lists.collect::<Vec<_>>().join("; ");
        let how = match plan.how {
            How::Run => String::new(),
            how => format!(" {how:?}"),
        };
        let mishap = match mishap {
            Some(mishap) => format!(" with {mishap:?}"),
            None => String::new(),
        };
        self.diary
            .note(format!("call {} ({lists}){how}{mishap}", plan.name));
        self.diary.count(match plan.uses.len() {
            1 => "calls on one device",
            _ if plan.compiled.program.is_collective() => "collective calls",
            _ => "calls on several devices",
        });
    }

    // What must come of it.

    fn settle(
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
        if let (Some(report), false) = (&done.report, self.passes_failed(plan)) {
            self.diary.note(format!("  {report}"));
            for leaf in report.leaves() {
                let donated = plan.compiled.consumes(leaf.argument);
                self.diary.count(match (donated, leaf.consumed) {
                    (true, true) => "donated and consumed",
                    (true, false) => "donated and not consumed",
                    (false, true) => return Err(format!("{leaf:?}, which isn't donated")),
                    (false, false) => "not donated",
                });
            }
            let given = plan.uses[0].iter().filter(|each| each.give).count();
            if report.leaves().len() != given {
                return Err(format!("{given} given, {report:?}"));
            }
            self.diary.count("reports");
        }
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
        if let Some(Ok(false)) = self
            .slots
            .get(first)
            .and_then(|slot| Some(slot.buffer.as_ref()?.is_ready()))
        {
            self.diary.count("runs seen pending");
        }
        let made: Vec<String> = (first..self.slots.len())
            .map(|slot| format!("b{slot} {:?}", self.slots[slot].content))
            .collect();
        self.diary.note(format!("  gives {}", made.join(", ")));
        Ok(())
    }

    /// Puts what came back into its slots; it and the lost must be what was given.
    fn take_back(&mut self, plan: &Plan, refusal: Refusal) -> Verdict<Vec<usize>> {
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

    fn look_at(&self, slots: Vec<usize>) -> Verdict {
        let mut slots = slots.into_iter();
        slots.try_for_each(|slot| self.read(slot, Way::ToHost))
    }

    fn look_at_lent(&self, call: &Call, plan: &Plan) -> Verdict {
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
