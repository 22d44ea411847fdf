//! A loop of launches through the C API, with all its lists made before.

use std::ptr::null_mut;

use super::{Buffer, Client, Event, Executable};
use crate::MOST_DEVICES;

/// A program that is launched again and again on one device or several.
///
/// It takes donated arguments, then lent ones. Donated ones are replaced by the outputs, of
/// which there are as many; where none is donated, the outputs are kept until the launch after.
pub struct Launches {
    client: Client,
    executable: Executable,
    donated: usize,
    each: usize,
    lent: Vec<i64>,
    /// Of each device, one device after another.
    arguments: Vec<Buffer>,
    outputs: Vec<Buffer>,
    argument_lists: Vec<*const Buffer>,
    output_lists: Vec<*mut Buffer>,
    /// What the launch before gave, if nothing is donated.
    last: Vec<Buffer>,
    /// Of launches that sum: as the safe layer does, one waits until the one before it is
    /// done, without which a loop like this one ends in a hang.
    pending: Option<Vec<Event>>,
}

impl Launches {
    /// On each device the same arguments, of which the first are donated. The program gives as
    /// many outputs as it is donated, or `kept` if that is nothing.
    ///
    /// # Panics
    /// The plugin refuses.
    pub fn new(
        client: Client,
        executable: Executable,
        devices: usize,
        [donated, lent, kept]: [usize; 3],
        argument: impl Fn(&Client, usize) -> Buffer,
    ) -> Launches {
        let each = donated + lent;
        let arguments = (0..devices * each).map(|n| argument(&client, n / each));
        let arguments: Vec<Buffer> = arguments.collect();
        let gives = if donated > 0 { donated } else { kept };
        let mut outputs = vec![null_mut(); devices * gives];
        Launches {
            client,
            executable,
            donated,
            each,
            lent: (donated..each).map(|index| index as i64).collect(),
            argument_lists: arguments.chunks(each).map(<[_]>::as_ptr).collect(),
            output_lists: outputs.chunks_mut(gives).map(<[_]>::as_mut_ptr).collect(),
            arguments,
            outputs,
            last: Vec::new(),
            pending: None,
        }
    }

    /// Waits before each launch until the one before is done.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Launches {
        self.pending = Some(Vec::new());
        self
    }

    /// So many launches, the last one's outcome awaited.
    ///
    /// # Panics
    /// The plugin refuses.
    pub fn run(&mut self, times: u64) {
        for _ in 0..times {
            self.launch();
        }
        let gives = self.outputs.len() / self.output_lists.len();
        for outputs in self.outputs.chunks(gives) {
            // SAFETY: the outputs of the last launch, which have not been destroyed.
            unsafe { self.client.wait_for(outputs[gives - 1]) };
        }
    }

    fn launch(&mut self) {
        let devices = self.argument_lists.len();
        let mut events = [null_mut(); MOST_DEVICES];
        let events = match &mut self.pending {
            Some(pending) => {
                for event in pending.drain(..) {
                    // SAFETY: handed out by the launch before, and taken once.
                    unsafe { self.client.wait(event) };
                }
                &mut events[..devices]
            }
            None => &mut [],
        };
        // SAFETY: as many arguments and outputs on each device as the program has, in lists
        // that stay where they are; a handle is destroyed once.
        unsafe {
            self.client.execute(
                self.executable,
                &self.argument_lists,
                self.each,
                &self.lent,
                &self.output_lists,
                events,
            );
            if self.donated > 0 {
                let states = self.arguments.chunks_mut(self.each);
                for (state, outputs) in states.zip(self.outputs.chunks(self.donated)) {
                    for (before, after) in state.iter_mut().zip(outputs) {
                        self.client.destroy(*before);
                        *before = *after;
                    }
                }
            } else {
                for before in self.last.drain(..) {
                    self.client.destroy(before);
                }
                self.last.extend_from_slice(&self.outputs);
            }
        }
        if let Some(pending) = &mut self.pending {
            pending.extend_from_slice(events);
        }
    }
}
