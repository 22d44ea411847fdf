//! Random programs and calls on a real CPU plugin: the one that [`xla::Plugin::cpu`] finds, so
//! `XLA_PJRT_CPU_PLUGIN` chooses another.

mod strategy;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use state_machine::{Compiled, Diary, Fault, Machine, Mishap, Program, World};
use strategy::Plan;
use xla::{Client, ClientOptions, Error};

/// A real plugin. Programs are compiled once, also when a failing case gets smaller.
#[derive(Default)]
struct Real {
    compiled: Mutex<HashMap<Program, Arc<Compiled>>>,
}

impl World for Real {
    fn compile(&self, client: &Client, program: &Program) -> xla::Result<Arc<Compiled>> {
        let mut all = self.compiled.lock().expect("nobody panics with it");
        if let Some(compiled) = all.get(program) {
            return Ok(Arc::clone(compiled));
        }
        let compiled = Arc::new(Compiled::new(client, program, program.stablehlo_text())?);
        all.insert(program.clone(), Arc::clone(&compiled));
        Ok(compiled)
    }

    fn minds_trouble(&self) -> bool {
        true
    }

    fn fails_on_demand(&self) -> bool {
        false
    }

    fn arm(&self, _: &Fault) -> String {
        unreachable!("a real plugin doesn't fail on demand")
    }

    fn heal(&self) {}

    fn with_mishap(&self, _: Mishap, _: &[usize], _: &mut dyn FnMut()) {
        unreachable!("a real plugin doesn't fail on demand")
    }

    fn asked_for(&self, _: &Error) -> bool {
        false
    }
}

#[test]
fn what_is_lent_stays_and_what_is_given_moves_on_a_real_plugin() {
    let plugin = xla::Plugin::cpu().expect("a CPU plugin");
    let options = ClientOptions::new().cpu_device_count(4);
    let client = plugin.client_with(&options).expect("a client");
    let (world, diary) = (Real::default(), Diary::new());
    let plan = Plan {
        steps: 10_240,
        steps_a_case: 640,
        trouble: true,
        happens: &[],
    };
    let test = |case: &state_machine::Case, _| {
        let mut machine = Machine::new(&world, &client, &diary, &case.programs);
        machine.run(case)?;
        machine.finish(false)
    };
    strategy::run(&plan, test, &diary);
    strategy::check_tally(&plan, &diary);
}
