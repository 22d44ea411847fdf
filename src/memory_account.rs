//! What a client's buffers hold, by device and label: the figures that `account` keeps.

use std::fmt;

use crate::account::Figures;
use crate::client::Client;
use crate::label;

/// What the buffers of a client hold at a moment, from [`Client::memory_account`]: live and at
/// most, by device and by [`label`](label()).
///
/// It displays as a table. It doesn't hold the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccount {
    devices: Vec<DeviceAccount>,
}

/// A device's part of a [`MemoryAccount`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceAccount {
    /// The id of the device ([`Device::id`](crate::Device::id)).
    pub device_id: i32,
    /// What the plugin calls it.
    pub device_name: String,
    /// What its live buffers take, in bytes.
    pub live_bytes: usize,
    /// The most that they took at once, in bytes, since the client was made or
    /// [`Client::forget_memory_peaks`] was called.
    pub peak_bytes: usize,
    /// How many there are.
    pub live_buffers: usize,
    /// The labels that the client has seen, in the order in which the process did.
    pub labels: Vec<LabelAccount>,
}

/// The part of a [`DeviceAccount`] that stands under a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelAccount {
    /// The label.
    pub label: &'static str,
    /// What the live buffers under it take, in bytes.
    pub live_bytes: usize,
    /// The most that they took at once, in bytes. The peaks of labels may be of different
    /// moments.
    pub peak_bytes: usize,
    /// How many there are.
    pub live_buffers: usize,
}

impl Client {
    /// What the client's buffers hold now, and held at most: an account that this library
    /// keeps itself, on every plugin.
    ///
    /// Counted are the [`Buffer`](crate::Buffer)s that there are, from when each is made until it is
    /// dropped, pending and failed ones too, by the size of their shape on the device: elements
    /// narrower than a byte are taken as packed, padding is not counted
    /// ([`Buffer::on_device_size`](crate::Buffer::on_device_size) asks the plugin). One that shares host
    /// memory counts as any other; one in another memory than the device's default counts on the
    /// first device that addresses it. An output in a donated input's memory takes the input's
    /// place: it adds nothing, not for a moment. What is lent, or given without being donated,
    /// counts beside the outputs.
    ///
    /// Not counted is what XLA takes on its own: a run's scratch memory
    /// ([`Executable::memory_stats`](crate::Executable::memory_stats) tells), programs, and
    /// buffers that were dropped while a run still uses them.
    ///
    /// While other threads make and drop buffers, the figures may be of slightly different
    /// moments.
    pub fn memory_account(&self) -> MemoryAccount {
        let account = &self.session().account;
        let devices = self.devices().into_iter();
        let devices = devices.map(|device| {
            let labels = account.labels(device.index());
            let labels = labels.filter_map(|(number, tally)| {
                Some(LabelAccount::new(label::name_of(number)?, tally.figures()))
            });
            let labels = labels.collect();
            let own = account.device(device.index()).figures();
            DeviceAccount {
                device_id: device.id(),
                device_name: format!("{device:?}"),
                live_bytes: own.live_bytes as usize,
                peak_bytes: own.peak_bytes as usize,
                live_buffers: own.live_buffers as usize,
                labels,
            }
        });
        MemoryAccount {
            devices: devices.collect(),
        }
    }

    /// Sets the peaks of the [account](Client::memory_account) to what is held now, to find
    /// those of what follows.
    pub fn forget_memory_peaks(&self) {
        self.session().account.forget_peaks();
    }
}

impl MemoryAccount {
    /// The devices of this process, in the order of [`Client::devices`].
    pub fn devices(&self) -> &[DeviceAccount] {
        &self.devices
    }

    /// What live buffers take on all devices together, in bytes.
    pub fn live_bytes(&self) -> usize {
        self.devices.iter().map(|device| device.live_bytes).sum()
    }

    /// How many live buffers there are on all devices together.
    pub fn live_buffers(&self) -> usize {
        self.devices.iter().map(|device| device.live_buffers).sum()
    }

    /// What live buffers under a label take on all devices together, in bytes; 0 for one that
    /// the client hasn't seen.
    pub fn live_bytes_of(&self, label: &str) -> usize {
        let on_devices = self.devices.iter().filter_map(|device| device.label(label));
        on_devices.map(|account| account.live_bytes).sum()
    }

    /// The table that it displays as: a line a device that ever held anything, and below it one
    /// a label.
    pub fn explain(&self) -> String {
        self.to_string()
    }
}

impl DeviceAccount {
    /// What stands under a label; `None` for one that the client hasn't seen.
    pub fn label(&self, label: &str) -> Option<&LabelAccount> {
        self.labels.iter().find(|account| account.label == label)
    }

    /// What live buffers without a label take, in bytes.
    pub fn unlabelled_bytes(&self) -> usize {
        let labelled: usize = self.labels.iter().map(|account| account.live_bytes).sum();
        // Below it only while other threads are at work.
        self.live_bytes.saturating_sub(labelled)
    }

    /// How many live buffers without a label there are.
    pub fn unlabelled_buffers(&self) -> usize {
        let labelled: usize = self.labels.iter().map(|account| account.live_buffers).sum();
        self.live_buffers.saturating_sub(labelled)
    }
}

impl LabelAccount {
    fn new(label: &'static str, figures: Figures) -> LabelAccount {
        LabelAccount {
            label,
            live_bytes: figures.live_bytes as usize,
            peak_bytes: figures.peak_bytes as usize,
            live_buffers: figures.live_buffers as usize,
        }
    }
}

impl fmt::Display for MemoryAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![];
        for device in self.devices.iter().filter(|device| device.peak_bytes > 0) {
            let peak = size(device.peak_bytes);
            lines.push((
                device.device_name.clone(),
                device.live_bytes,
                peak,
                device.live_buffers,
            ));
            for of in device.labels.iter().filter(|of| of.peak_bytes > 0) {
                let name = format!("  {}", of.label);
                lines.push((name, of.live_bytes, size(of.peak_bytes), of.live_buffers));
            }
            let (bytes, buffers) = (device.unlabelled_bytes(), device.unlabelled_buffers());
            if buffers > 0 && buffers < device.live_buffers {
                lines.push(("  no label".to_owned(), bytes, String::new(), buffers));
            }
        }
        let widest = lines.iter().map(|(name, ..)| name.chars().count()).max();
        let width = widest.unwrap_or_default().max("memory".len());
        write!(
            f,
            "{:width$}  {:>10}  {:>10}  {:>8}",
            "memory", "live", "peak", "buffers"
        )?;
        for (name, live, peak, buffers) in lines {
            let live = size(live);
            write!(f, "\n{name:width$}  {live:>10}  {peak:>10}  {buffers:>8}")?;
        }
        Ok(())
    }
}

/// Bytes to be read.
fn size(bytes: usize) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut scaled = bytes as f64;
    let mut unit = "B";
    for larger in units {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = larger;
    }
    match unit {
        "B" => format!("{bytes} B"),
        unit => format!("{scaled:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_to_be_read() {
        let sizes = [0, 1023, 1024, 1536, 1 << 20, 264 << 20, 3 << 40];
        assert_eq!(
            sizes.map(size),
            [
                "0 B",
                "1023 B",
                "1.0 KiB",
                "1.5 KiB",
                "1.0 MiB",
                "264.0 MiB",
                "3.0 TiB"
            ]
        );
    }
}
