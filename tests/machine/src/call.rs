//! Calls of programs, right and wrong, in a row and at once.

use std::thread;

use xla::{Argument, Buffer};

use crate::compiled::Outcome;
use crate::form::{Memory, Way};
use crate::machine::{Machine, Verdict};
use crate::plan::{Plan, Reserved, Use};
use crate::step::{Call, How, Misfit, Mishap};

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
        if call.borrow && mishap.is_none() {
            let outcome = self.call_borrowing(&plan, given)?;
            self.settle(&plan, None, &[], outcome)?;
            return self.look_at_lent(call, &plan);
        }
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

    /// Calls with host memory in the place of some of what's lent.
    fn call_borrowing(&self, plan: &Plan, given: Vec<Buffer>) -> Verdict<Outcome> {
        // A wait that fails at the end of a scope ends the process.
        self.world.heal();
        let slot = |each: &Use| &self.slots[each.slot];
        let memories = plan.uses.iter().map(|list| {
            let memories = list.iter().map(|each| {
                let borrowed = !each.give && each.slot % 2 == 0 && !slot(each).content.has_failed();
                borrowed.then(|| slot(each).form.memory(slot(each).content.values()))
            });
            memories.collect()
        });
        let memories: Vec<Vec<Option<Box<dyn Memory>>>> = memories.collect();
        self.client.scope(|scope| {
            let mut arguments = self.arguments(plan, given);
            for ((list, memories), uses) in arguments.iter_mut().zip(&memories).zip(&plan.uses) {
                for ((argument, memory), each) in list.iter_mut().zip(memories).zip(uses) {
                    let Some(memory) = memory else { continue };
                    let (device, dims) = (&self.devices[slot(each).device], slot(each).form.dims);
                    let borrowed = memory.borrow(scope, device, dims);
                    let borrowed = borrowed.map_err(|error| format!("not lent: {error}"))?;
                    *argument = Argument::Lent(borrowed);
                    self.diary.count("borrowed");
                }
            }
            Ok(plan.compiled.call(plan.how, arguments))
        })
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
}
