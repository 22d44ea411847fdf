//! Random programs and calls on a plugin that fails on demand: every entry, at any time, with or
//! without handles, with what was donated consumed or not. It counts what is alive: in the end nothing
//! is, and nothing was done that the C API forbids.

mod strategy;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pjrt_fake::{Callbacks, Code, EventKind, Failure, Fake, Readiness, ENTRIES};
use state_machine::{Case, Compiled, Diary, Fault, Machine, Mishap, Program, Verdict, World};
use strategy::Plan;
use xla::{Client, Error};

/// What all failures say.
const ON_DEMAND: &str = "on demand";

/// The entries that calls of programs and reads use all the time. Every second failure is one of them.
const BUSY: [&str; 12] = [
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Client_Compile",
    "PJRT_Buffer_CopyToDevice",
    "PJRT_Buffer_Destroy",
    "PJRT_Buffer_IsDeleted",
    "PJRT_Buffer_ReadyEvent",
    "PJRT_Buffer_ToHostBuffer",
    "PJRT_Event_Await",
    "PJRT_Event_Error",
    "PJRT_Event_IsReady",
    "PJRT_Event_OnReady",
];

const KINDS: [EventKind; 6] = [
    EventKind::HostDone,
    EventKind::Upload,
    EventKind::Copy,
    EventKind::Output,
    EventKind::Completion,
    EventKind::Read,
];

struct OnDemand {
    fake: Fake,
    /// What events do while nothing else is asked for.
    readiness: Readiness,
    /// Held while events are released, and while none may be.
    gate: Mutex<()>,
}

/// How long it's waited that nothing is alive: not so long again once a case has failed and gets smaller.
static PATIENCE_MS: AtomicU64 = AtomicU64::new(60_000);

impl OnDemand {
    fn release(&self) {
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.fake.release_events();
    }
}

impl World for OnDemand {
    fn compile(&self, client: &Client, program: &Program) -> xla::Result<Arc<Compiled>> {
        Ok(Arc::new(Compiled::new(
            client,
            program,
            program.fake_text(),
        )?))
    }

    fn minds_trouble(&self) -> bool {
        false
    }

    fn fails_on_demand(&self) -> bool {
        true
    }

    fn arm(&self, fault: &Fault) -> String {
        let pick = usize::from(fault.entry.0);
        let entry = match pick % 2 {
            0 => BUSY[pick / 2 % BUSY.len()],
            _ => ENTRIES[pick / 2 % ENTRIES.len()],
        };
        let failure = Failure::new(Code::INTERNAL, format!("{entry} fails {ON_DEMAND}"));
        let mut failure = failure.on_call(usize::from(fault.after));
        if fault.handles {
            failure = failure.with_handles();
        }
        self.fake.fail(entry, failure);
        let handles = if fault.handles { ", with handles" } else { "" };
        format!("call {} of {entry} is to fail{handles}", fault.after)
    }

    fn heal(&self) {
        self.fake.heal();
    }

    fn with_mishap(&self, mishap: Mishap, consumed: &[usize], run: &mut dyn FnMut()) {
        // What else was to fail would make it uncertain which of the two did.
        self.fake.heal();
        match mishap {
            Mishap::Fails { handles, .. } => {
                let failure =
                    Failure::new(Code::RESOURCE_EXHAUSTED, format!("no room {ON_DEMAND}"));
                let mut failure = failure.consuming(consumed);
                if handles {
                    failure = failure.with_handles();
                }
                self.fake.fail("PJRT_LoadedExecutable_Execute", failure);
                run();
            }
            Mishap::FailsLater => {
                // Of earlier runs nothing is left to be done: theirs don't fail.
                let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
                self.fake.release_events();
                let failure = Failure::new(Code::ABORTED, format!("the run fails {ON_DEMAND}"));
                self.fake.fail_outputs(failure);
                run();
                for kind in [EventKind::Output, EventKind::Completion] {
                    self.fake.events(kind, self.readiness.clone());
                }
            }
        }
        self.fake.heal();
    }

    fn asked_for(&self, error: &Error) -> bool {
        error.message().contains(ON_DEMAND)
    }
}

/// Events fire at once, or late and from another thread, where the layer waits for what a
/// collective is passed: on `cpu`.
fn run(case: &Case, number: usize, diary: &Diary) -> Verdict {
    let (late, platform) = match number % 3 {
        0 => (false, "fake"),
        1 => (false, "cpu"),
        _ => (true, "cpu"),
    };
    diary.note(format!("on {platform}, late: {late}"));
    let world = OnDemand {
        fake: Fake::builder().devices(4).platform(platform).build(),
        readiness: if late {
            Readiness::Held
        } else {
            Readiness::Immediate
        },
        gate: Mutex::new(()),
    };
    if late {
        world.fake.callbacks(Callbacks::OnThread);
        for kind in KINDS {
            world.fake.events(kind, world.readiness.clone());
        }
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                world.release();
                thread::sleep(Duration::from_micros(200));
            }
        });
        let outcome = use_up(case, number % 2 == 0, &world, diary);
        over.store(true, Ordering::SeqCst);
        outcome
    })
}

fn use_up(case: &Case, client_first: bool, world: &OnDemand, diary: &Diary) -> Verdict {
    // SAFETY: the table stays as long as the process, and its functions keep the contract.
    let plugin = unsafe { xla::Plugin::from_table(world.fake.table()) };
    let client = plugin.and_then(|plugin| plugin.client());
    let client = client.map_err(|error| format!("no client: {error}"))?;
    let mut machine = Machine::new(world, &client, diary, &case.programs);
    drop(client);
    machine.run(case)?;
    world.fake.heal();
    machine.finish(client_first)?;
    let patience = Duration::from_millis(PATIENCE_MS.load(Ordering::SeqCst));
    let clean = world
        .fake
        .wait_for(patience, |live| live == Default::default());
    if !clean {
        PATIENCE_MS.store(100, Ordering::SeqCst);
        return Err(format!("left alive: {:?}", world.fake.live()));
    }
    match world.fake.violations() {
        violations if violations.is_empty() => Ok(()),
        violations => Err(format!("the contract is broken: {violations:#?}")),
    }
}

#[test]
fn nothing_is_lost_and_nothing_stays_on_a_plugin_that_fails() {
    let diary = Diary::new();
    let plan = Plan {
        steps: 10_000,
        steps_a_case: 200,
        trouble: false,
        happens: &["failures on demand", "given and lost"],
    };
    strategy::run(&plan, |case, number| run(case, number, &diary), &diary);
    strategy::check_tally(&plan, &diary);
}
