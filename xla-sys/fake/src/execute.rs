//! Runs.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use pjrt_sys::{PJRT_Buffer, PJRT_LoadedExecutable_Execute_Args};

use crate::buffer::Buffer;
use crate::call::Call;
use crate::event::{self, Event, Outcome, Promise};
use crate::executable::{Compiled, Loaded};
use crate::failure::{Answer, Failure};
use crate::program::Donation;
use crate::record::Execution;
use crate::state::{EventKind, State};
use crate::storage::Storage;
use crate::text::list;
use crate::values;

/// An argument.
struct Argument {
    buffer: Arc<Buffer>,
    id: u64,
}

/// A device's part of a run.
struct Part {
    /// What is read. Held until the outputs are ready.
    inputs: Vec<Arc<Storage>>,
    outputs: Vec<(Arc<Storage>, Arc<Promise>)>,
    done: Option<Arc<Promise>>,
}

pub(crate) fn execute(call: &Call, args: &mut PJRT_LoadedExecutable_Execute_Args) -> Answer {
    let loaded = call.get::<Loaded>(args.executable)?;
    let program = &loaded.compiled.program;
    // SAFETY: the caller passes options or null, and the list's length is beside it.
    let lent = unsafe {
        let options = args.options.as_ref();
        options.map_or(&[][..], |options| {
            list(
                options.non_donatable_input_indices,
                options.num_non_donatable_input_indices,
            )
        })
    };
    // SAFETY: the header asks for `num_args` buffers for each of `num_devices` devices.
    let lists: Vec<&[*mut PJRT_Buffer]> = unsafe {
        let lists = list(args.argument_lists, args.num_devices);
        lists
            .iter()
            .map(|each| list(*each, args.num_args))
            .collect()
    };
    let completion_events = !args.device_complete_events.is_null();
    note(call, args.num_devices, &lists, lent, completion_events);

    if loaded.deleted.load(Ordering::SeqCst) {
        return Err(Failure::invalid("the executable was deleted"));
    }
    if args.num_devices != loaded.devices.len() || args.num_args != program.inputs.len() {
        return Err(Failure::invalid(format!(
            "Execute takes {} arguments on {} devices, and was given {} on {}",
            program.inputs.len(),
            loaded.devices.len(),
            args.num_args,
            args.num_devices
        )));
    }
    let arguments = lists
        .iter()
        .map(|list| arguments(call, list))
        .collect::<Result<Vec<_>, _>>()?;
    check(call, &loaded, &arguments, lent)?;
    if let Some(fault) = &call.fault {
        for (device, list) in arguments.iter().enumerate() {
            for (index, of) in &fault.consumed {
                let here = of.unwrap_or(device) == device;
                if let Some(argument) = list.get(*index).filter(|_| here) {
                    drop(argument.buffer.consume());
                }
            }
        }
        if !fault.with_handles {
            return Err(fault.clone());
        }
    }
    launch(call, args, &loaded, &arguments, lent)
}

fn note(
    call: &Call,
    num_devices: usize,
    lists: &[&[*mut PJRT_Buffer]],
    lent: &[i64],
    completion_events: bool,
) {
    let arguments = {
        let registry = call.state().registry.lock();
        let id = |raw: &*mut PJRT_Buffer| registry.id_of::<Buffer>(*raw);
        lists
            .iter()
            .map(|list| list.iter().map(id).collect())
            .collect()
    };
    let execution = Execution {
        arguments,
        outputs: Vec::new(),
        non_donatable_input_indices: lent.to_vec(),
        num_devices,
        completion_events,
    };
    call.note(|call| call.execution = Some(execution));
}

fn arguments(call: &Call, list: &[*mut PJRT_Buffer]) -> Result<Vec<Argument>, Failure> {
    let each = list.iter().map(|raw| {
        let (buffer, id) = call.get_numbered::<Buffer>(*raw)?;
        Ok(Argument { buffer, id })
    });
    each.collect()
}

/// Checks what a real plugin checks: devices, sizes, that the memory is there, and that no buffer is
/// passed twice with one of the places donating.
fn check(
    call: &Call,
    loaded: &Loaded,
    arguments: &[Vec<Argument>],
    lent: &[i64],
) -> Result<(), Failure> {
    let program = &loaded.compiled.program;
    let must = program
        .inputs
        .iter()
        .position(|input| matches!(input.donation, Donation::Must(_)));
    if let Some(index) = must.filter(|index| lent.contains(&(*index as i64))) {
        return Err(Failure::invalid(format!(
            "argument {index} must be donated"
        )));
    }
    for (position, list) in arguments.iter().enumerate() {
        let Err(failure) = check_device(loaded, position, list, lent) else {
            continue;
        };
        // The other devices have started: they consume what they were given.
        for others in arguments
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != position)
        {
            for (index, argument) in others.1.iter().enumerate() {
                if donates(loaded, index, lent) {
                    drop(argument.buffer.consume());
                }
            }
        }
        if arguments.len() > 1 && program.collective {
            call.breach(format!(
                "{}: a real plugin ends the process",
                failure.message
            ));
        }
        return Err(failure);
    }
    let mut all = arguments.iter().flatten();
    if program.collective && all.any(|each| matches!(each.buffer.ready.outcome(), Some(Err(_)))) {
        call.breach("a collective is started with an error buffer: a real plugin ends the process");
    }
    Ok(())
}

fn donates(loaded: &Loaded, index: usize, lent: &[i64]) -> bool {
    let input = &loaded.compiled.program.inputs[index];
    input.target().is_some() && !lent.contains(&(index as i64))
}

fn check_device(
    loaded: &Loaded,
    position: usize,
    list: &[Argument],
    lent: &[i64],
) -> Result<(), Failure> {
    let mut seen = HashMap::new();
    for (index, argument) in list.iter().enumerate() {
        let buffer = &argument.buffer;
        let wrong = |what: String| {
            Err(Failure::invalid(format!(
                "Invalid buffer passed as argument {index} to device {position}: {what}"
            )))
        };
        if buffer.storage().is_none() {
            return wrong("it was deleted or donated".to_owned());
        }
        let (have, want) = (
            buffer.form.size(),
            loaded.compiled.program.inputs[index].form.size(),
        );
        if have != want {
            return wrong(format!("it has {have} bytes, not {want}"));
        }
        let on = loaded.devices[position];
        if !Arc::ptr_eq(&buffer.client, &loaded.client) || buffer.device != on {
            return wrong(format!("it isn't on device {on} of the program's client"));
        }
        let donating = donates(loaded, index, lent);
        if let Some(before) = seen.insert(argument.id, donating) {
            if before || donating {
                return wrong("it's passed twice, and donated".to_owned());
            }
        }
    }
    Ok(())
}

fn launch(
    call: &Call,
    args: &mut PJRT_LoadedExecutable_Execute_Args,
    loaded: &Loaded,
    arguments: &[Vec<Argument>],
    lent: &[i64],
) -> Answer {
    let state = Arc::clone(call.state());
    let ready: Vec<Arc<Promise>> = arguments
        .iter()
        .flatten()
        .map(|argument| Arc::clone(&argument.buffer.ready))
        .collect();
    let mut parts = Vec::new();
    let mut ids = Vec::new();
    for (position, list) in arguments.iter().enumerate() {
        let part = part(
            &state,
            loaded,
            list,
            lent,
            !args.device_complete_events.is_null(),
        );
        let mut of_device = Vec::new();
        for (index, (storage, ready)) in part.outputs.iter().enumerate() {
            let buffer = Buffer::new(
                Arc::clone(&loaded.client),
                loaded.compiled.program.outputs[index].form.clone(),
                loaded.devices[position],
                loaded.devices[position],
                Arc::clone(storage),
                Arc::clone(ready),
            );
            let (handle, id) = call.make_numbered(buffer, loaded.client.id);
            of_device.push(id);
            // SAFETY: the header asks for a list for each device, with room for its outputs.
            unsafe { (*args.output_lists.add(position)).add(index).write(handle) };
        }
        if let Some(done) = &part.done {
            let event = call.make(Event(Arc::clone(done)), loaded.client.id);
            // SAFETY: the list has room for an event a device.
            unsafe { args.device_complete_events.add(position).write(event) };
        }
        ids.push(of_device);
        parts.push(part);
    }
    call.note(|call| {
        if let Some(execution) = &mut call.execution {
            execution.outputs = ids;
        }
    });
    let compiled = Arc::clone(&loaded.compiled);
    event::all(&ready, move |outcomes| {
        run(&state, &compiled, parts, &outcomes)
    });
    Ok(())
}

/// Consumes what is donated, and finds memory for the outputs.
fn part(
    state: &Arc<State>,
    loaded: &Loaded,
    arguments: &[Argument],
    lent: &[i64],
    with_completion: bool,
) -> Part {
    let program = &loaded.compiled.program;
    let mut donated: HashMap<usize, Arc<Storage>> = HashMap::new();
    let mut inputs = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        // Checked to be there; another thread may have deleted it since.
        let storage = argument
            .buffer
            .storage()
            .unwrap_or_else(|| Storage::device(state, &vec![0; argument.buffer.form.size()]));
        if donates(loaded, index, lent) && !argument.buffer.is_held() {
            drop(argument.buffer.consume());
            if let (Some(into), true) = (program.inputs[index].target(), storage.is_writable()) {
                donated.insert(into, Arc::clone(&storage));
            }
        }
        inputs.push(storage);
    }
    let outputs = program.outputs.iter().enumerate().map(|(index, output)| {
        let storage = donated
            .remove(&index)
            .unwrap_or_else(|| Storage::device(state, &vec![0; output.form.size()]));
        (storage, Arc::new(Promise::default()))
    });
    Part {
        outputs: outputs.collect(),
        inputs,
        done: with_completion.then(Arc::default),
    }
}

/// Computes, once all inputs are there or have failed.
fn run(state: &State, compiled: &Compiled, parts: Vec<Part>, outcomes: &[Outcome]) {
    let program = &compiled.program;
    let failed = |outcomes: &[Outcome]| {
        let mut failures = outcomes.iter().filter_map(|outcome| outcome.clone().err());
        failures.next().map_or(Ok(()), Err)
    };
    let values: Vec<Vec<Vec<u8>>> = parts
        .iter()
        .map(|part| part.inputs.iter().map(|input| input.read()).collect())
        .collect();
    let arity = program.inputs.len();
    let outcome_of = |device: usize| match program.collective {
        true => failed(outcomes),
        false => failed(&outcomes[device * arity..][..arity]),
    };
    for (device, part) in parts.iter().enumerate() {
        if outcome_of(device).is_err() {
            continue;
        }
        for (output, (storage, _)) in program.outputs.iter().zip(&part.outputs) {
            storage.write(&values::compute(output.op, &output.form, device, &values));
        }
    }
    for (device, part) in parts.into_iter().enumerate() {
        let outcome = outcome_of(device);
        // The run uses its inputs until all its outputs are there.
        let inputs = Arc::new(part.inputs);
        for (_, ready) in part.outputs {
            let (outcome, inputs) = (outcome.clone(), Arc::clone(&inputs));
            state.schedule(EventKind::Output, move |ran| {
                drop(inputs);
                ready.resolve(outcome.and(ran));
            });
        }
        if let Some(done) = part.done {
            state.schedule(EventKind::Completion, move |ran| {
                drop(inputs);
                done.resolve(outcome.and(ran));
            });
        }
    }
}
