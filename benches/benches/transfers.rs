//! Transfers between host and device, from 4 bytes to 256 MB, in each of the ways that host
//! memory is lent or given.

use std::sync::Arc;
use std::time::Duration;

use benches::raw::Kept;
use benches::side_by_side::{compare, is_short, is_wanted, Line};
use benches::table::begin;
use benches::{clients, raw};
use xla::{Buffer, Client, Device, HostVec};

/// What is transferred.
struct Case {
    client: Client,
    device: Device,
    raw: raw::Client,
    size: &'static str,
    /// Floats.
    count: usize,
}

fn main() {
    if !begin("Between host and device") {
        return;
    }
    let (client, raw) = clients(1);
    let sizes = [
        ("4 B", 1),
        ("4 KB", 1 << 10),
        ("4 MB", 1 << 20),
        ("256 MB", 1 << 26),
    ];
    for (size, count) in sizes {
        // `uploads` has a line of that size in a short run too.
        if is_short() && size == "256 MB" {
            continue;
        }
        let case = Case {
            device: client.device(0).expect("a device"),
            client: client.clone(),
            raw,
            size,
            count,
        };
        case.to_device_during_call();
        case.to_device_until_done();
        case.to_device_borrowed();
        case.to_device_owned();
        case.to_host();
    }
}

impl Case {
    fn measure(&self, what: &str, safe: impl FnMut(u64), raw: impl FnMut(u64)) {
        let line = Line {
            batch: Duration::from_micros(500),
            ..Line::new(what)
        };
        compare(line, safe, raw);
    }

    /// The line's name, if it is wanted.
    fn name(&self, what: &str) -> Option<String> {
        let name = format!("{}, {what}", self.size);
        is_wanted(&name).then_some(name)
    }

    fn values(&self) -> Vec<f32> {
        (0..self.count).map(|n| n as f32).collect()
    }

    /// `ImmutableOnlyDuringCall`: copied before the call returns.
    fn to_device_during_call(&self) {
        let Some(name) = self.name("to device, copied during the call") else {
            return;
        };
        let (values, raw, count) = (self.values(), self.raw, self.count);
        let run_safe = |times| {
            for _ in 0..times {
                Buffer::from_host(&self.device, &values, &[count]).expect("a buffer");
            }
        };
        let run_raw = |times| {
            for _ in 0..times {
                let buffer = raw.from_host(0, &values, &[count as i64]);
                // SAFETY: just made.
                unsafe { raw.destroy(buffer) };
            }
        };
        self.measure(&name, run_safe, run_raw);
    }

    /// `ImmutableUntilTransferCompletes`: copied behind the call's back, where the plugin does.
    fn to_device_until_done(&self) {
        let Some(name) = self.name("to device, copied until the event") else {
            return;
        };
        let (values, raw, count) = (Arc::<[f32]>::from(self.values()), self.raw, self.count);
        let run_safe = |times| {
            for _ in 0..times {
                let kept = Arc::clone(&values);
                let started = Buffer::from_host_async(&self.device, kept, &[count]);
                let (_buffer, done) = started.expect("a buffer");
                done.wait().expect("a copy");
            }
        };
        let run_raw = |times| {
            for _ in 0..times {
                // SAFETY: the values stay; the handles were just made.
                unsafe {
                    let kept = Kept::ImmutableUntilTransferCompletes;
                    let (buffer, done) = raw.from_host_kept(0, &values, &[count as i64], kept);
                    raw.wait(done);
                    raw.destroy(buffer);
                }
            }
        };
        self.measure(&name, run_safe, run_raw);
    }

    /// `ImmutableZeroCopy`: the device looks at borrowed memory.
    fn to_device_borrowed(&self) {
        let Some(name) = self.name("to device, borrowed") else {
            return;
        };
        let values = HostVec::from_slice(&self.values());
        let (raw, count) = (self.raw, self.count);
        let run_safe = |times| {
            for _ in 0..times {
                let shared = self.client.scope(|scope| {
                    let borrowed = scope.borrow(&self.device, &values, &[count]);
                    borrowed.expect("a buffer").is_zero_copy()
                });
                assert!(shared, "a CPU shares aligned memory");
            }
        };
        let run_raw = |times| {
            for _ in 0..times {
                // SAFETY: the values stay; the handles were just made.
                unsafe {
                    let kept = Kept::ImmutableZeroCopy;
                    let (buffer, done) = raw.from_host_kept(0, &values, &[count as i64], kept);
                    raw.destroy(buffer);
                    raw.wait(done);
                }
            }
        };
        self.measure(&name, run_safe, run_raw);
    }

    /// `MutableZeroCopy`: the device has the memory, which is made for it and released after.
    fn to_device_owned(&self) {
        let Some(name) = self.name("to device, given") else {
            return;
        };
        let (raw, count) = (self.raw, self.count);
        let run_safe = |times| {
            for _ in 0..times {
                let values = HostVec::<f32>::zeroed(count);
                let buffer = Buffer::from_host_vec(&self.device, values, &[count]);
                assert!(buffer.expect("a buffer").is_zero_copy(), "as above");
            }
        };
        let run_raw = |times| {
            for _ in 0..times {
                let values = HostVec::<f32>::zeroed(count);
                // SAFETY: the values stay until the event has fired, and nobody looks at them;
                // the handles were just made.
                unsafe {
                    let kept = Kept::MutableZeroCopy;
                    let (buffer, done) = raw.from_host_kept(0, &values, &[count as i64], kept);
                    raw.drop_after(done, values);
                    raw.destroy(buffer);
                }
            }
        };
        self.measure(&name, run_safe, run_raw);
    }

    /// Into new memory, into memory that is there, and as a view of the device's own.
    fn to_host(&self) {
        let names = ["to host, new", "to host, into", "to host, viewed"];
        let names = names.map(|what| self.name(what));
        if names.iter().all(Option::is_none) {
            return;
        }
        let (values, raw, count) = (self.values(), self.raw, self.count);
        let last = count - 1;
        let buffer = Buffer::from_host(&self.device, &values, &[count]).expect("a buffer");
        let raw_buffer = raw.from_host(0, &values, &[count as i64]);
        let [new, into, viewed] = names;
        if let Some(name) = new {
            let run_safe = |times| {
                for _ in 0..times {
                    let read = buffer.to_host::<f32>().expect("values");
                    assert_eq!(read[last], values[last]);
                }
            };
            let run_raw = |times| {
                for _ in 0..times {
                    // SAFETY: the buffer was made with `count` floats.
                    let read: Vec<f32> = unsafe { raw.to_host(raw_buffer, count) };
                    assert_eq!(read[last], values[last]);
                }
            };
            self.measure(&name, run_safe, run_raw);
        }
        if let Some(name) = into {
            let [mut ours, mut theirs] = [vec![0f32; count], vec![0f32; count]];
            let run_safe = |times| {
                for _ in 0..times {
                    buffer.read_into(&mut ours).expect("values");
                    assert_eq!(ours[last], values[last]);
                }
            };
            let run_raw = |times| {
                for _ in 0..times {
                    // SAFETY: the buffer was made with `count` floats.
                    unsafe { raw.read_into(raw_buffer, &mut theirs) };
                    assert_eq!(theirs[last], values[last]);
                }
            };
            self.measure(&name, run_safe, run_raw);
        }
        if let Some(name) = viewed {
            let run_safe = |times| {
                for _ in 0..times {
                    let view = buffer.view::<f32>().expect("a view");
                    assert_eq!(view[last], values[last]);
                }
            };
            let run_raw = |times| {
                for _ in 0..times {
                    // SAFETY: `count` floats lie there once they are there.
                    let read = unsafe {
                        raw.wait_for(raw_buffer);
                        *(raw.address(raw_buffer) as *const f32).add(last)
                    };
                    assert_eq!(read, values[last]);
                }
            };
            self.measure(&name, run_safe, run_raw);
        }
        drop(buffer);
        // SAFETY: not used any more.
        unsafe { raw.destroy(raw_buffer) };
    }
}
