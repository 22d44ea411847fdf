//! What libtpu wants to be told, and the names that it must not be given.
//!
//! libtpu is made for machines with a TPU: without one it asks a metadata server, which isn't
//! there, for more than ten minutes, before it describes any topology. Variables of the environment
//! keep it from asking, and nothing else does. They are set when libtpu is loaded, before it is
//! initialised, and only where there is no TPU.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// The vendor of TPUs on the PCI bus.
const GOOGLE: &str = "0x1ae0";

/// The class of network devices on the PCI bus: virtual machines have one of the same vendor.
const NETWORK: &str = "0x02";

/// What keeps libtpu from asking, and from refusing to be loaded by two processes at once.
const ALONE: [(&str, &str); 2] = [
    ("TPU_SKIP_MDS_QUERY", "1"),
    ("ALLOW_MULTIPLE_LIBTPU_LOAD", "1"),
];

/// What it would have been told; without them it complains. They say nothing of the topologies
/// that are compiled for. One that the user has set means all three to be the user's.
const MACHINE: [(&str, &str); 3] = [
    ("TPU_ACCELERATOR_TYPE", "v5litepod-4"),
    ("TPU_WORKER_HOSTNAMES", "localhost"),
    ("TPU_WORKER_ID", "0"),
];

/// The variables that libtpu needs here.
pub(crate) fn variables() -> Vec<(&'static str, &'static str)> {
    variables_in(Path::new("/"), |name| std::env::var_os(name).is_some())
}

fn variables_in(root: &Path, is_set: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str)> {
    if has_tpu(root) {
        return Vec::new();
    }
    let mut wanted = ALONE.to_vec();
    if !MACHINE.iter().any(|(name, _)| is_set(name)) {
        wanted.extend(MACHINE);
    }
    wanted.retain(|(name, _)| !is_set(name));
    wanted
}

/// Whether the machine has a TPU that this process can see: `/dev/accel0`, or, of the newer
/// ones, a group such as `/dev/vfio/0` together with a device of Google's on the PCI bus that
/// isn't a network card. Either alone is found on other machines: `/dev/vfio` where devices are
/// handed to virtual machines, Google's network card inside of those.
fn has_tpu(root: &Path) -> bool {
    numbered(&root.join("dev"), "accel")
        || (numbered(&root.join("dev/vfio"), "")
            && google_device(&root.join("sys/bus/pci/devices")))
}

/// Whether a folder has an entry of this name and a number.
fn numbered(folder: &Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let file = entry.file_name();
        let number = file.to_str().and_then(|file| file.strip_prefix(name));
        number.is_some_and(|digits| {
            !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
        })
    })
}

/// Where the bus can't be looked at, there may be one.
fn google_device(bus: &Path) -> bool {
    let Ok(devices) = fs::read_dir(bus) else {
        return true;
    };
    devices.flatten().any(|device| {
        let read = |file: &str| fs::read_to_string(device.path().join(file)).unwrap_or_default();
        read("vendor").trim() == GOOGLE && !read("class").starts_with(NETWORK)
    })
}

/// The kinds that libtpu 0.0.52 describes.
pub(crate) const KINDS: &str = "v2, v3, v4, v5e, v5p, v6e, tpu7x";

/// Refuses names with which libtpu ends the process (an extent of 0), or that it takes for
/// something else (an empty one is two by two chips of v2).
pub(crate) fn check_name(name: &str) -> Result<()> {
    let wrong = |why: &str| {
        Err(Error::invalid(format!(
            "the TPU topology `{name}` {why}; wanted a kind and the chips along each axis, such \
             as `v5e:2x2` or `v5p:2x2x1` (kinds: {KINDS})"
        )))
    };
    let Some((kind, extents)) = name.split_once([':', '=']) else {
        return wrong("has no `:`");
    };
    if kind.is_empty() {
        return wrong("has no kind");
    }
    let extents = extents.split('_').next().unwrap_or(extents);
    let extents: Option<Vec<u32>> = extents.split('x').map(|n| n.parse().ok()).collect();
    match extents {
        None => wrong("has an extent that is no number"),
        Some(extents) if extents.contains(&0) => wrong("has an extent of 0"),
        Some(extents) if !(2..=3).contains(&extents.len()) => wrong("hasn't 2 or 3 extents"),
        // The compiler ends the process over some of these.
        Some(extents) if kind == "v5e" && extents.get(2).is_some_and(|layers| *layers > 1) => {
            wrong("has layers of chips, but those of v5e lie in a plane")
        }
        // Far more than anybody has; libtpu lists each one.
        Some(extents) => match extents.iter().try_fold(1u32, |n, e| n.checked_mul(*e)) {
            Some(..=1_048_576) => Ok(()),
            _ => wrong("has too many chips"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str) -> Machine {
            let folder = format!("xla-pjrt-tpu-{}-{name}", std::process::id());
            let root = std::env::temp_dir().join(folder);
            let _ = fs::remove_dir_all(&root);
            fs::create_dir_all(root.join("dev")).expect("a folder");
            fs::create_dir_all(root.join("sys/bus/pci/devices")).expect("a folder");
            Machine(root)
        }

        fn with(self, file: &str, text: &str) -> Machine {
            let path = self.0.join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
            self
        }

        fn pci(self, slot: &str, vendor: &str, class: &str) -> Machine {
            let device = format!("sys/bus/pci/devices/{slot}");
            self.with(&format!("{device}/vendor"), vendor)
                .with(&format!("{device}/class"), class)
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn tpus_are_told_from_their_surroundings() {
        let tpu_v4 = Machine::new("v4").with("dev/accel0", "");
        let tpu_v6e = Machine::new("v6e").with("dev/vfio/0", "").pci(
            "0000:00:05.0",
            "0x1ae0\n",
            "0x120000\n",
        );
        let hidden_bus = Machine::new("hidden").with("dev/vfio/7", "");
        fs::remove_dir_all(hidden_bus.0.join("sys")).expect("removed");
        for machine in [tpu_v4, tpu_v6e, hidden_bus] {
            assert!(has_tpu(&machine.0), "{:?}", machine.0);
            assert_eq!(variables_in(&machine.0, |_| false), []);
        }
        let plain = Machine::new("plain");
        let cloud = Machine::new("cloud").pci("0000:00:04.0", "0x1ae0\n", "0x020000\n");
        let hosts_guests = Machine::new("guests")
            .with("dev/vfio/vfio", "")
            .with("dev/vfio/12", "")
            .pci("0000:01:00.0", "0x10de\n", "0x030000\n")
            .pci("0000:00:04.0", "0x1ae0\n", "0x020000\n");
        let other_accelerator = Machine::new("npu").with("dev/accel/accel0", "");
        for machine in [plain, cloud, hosts_guests, other_accelerator] {
            assert!(!has_tpu(&machine.0), "{:?}", machine.0);
            assert_eq!(variables_in(&machine.0, |_| false).len(), 5);
        }
    }

    #[test]
    fn what_the_user_set_stays_the_users() {
        let machine = Machine::new("user");
        let names = |is_set: &str| -> Vec<&str> {
            let wanted = variables_in(&machine.0, |name| name == is_set);
            wanted.into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names("TPU_SKIP_MDS_QUERY").len(), 4);
        assert!(!names("TPU_SKIP_MDS_QUERY").contains(&"TPU_SKIP_MDS_QUERY"));
        let rest = ["TPU_SKIP_MDS_QUERY", "ALLOW_MULTIPLE_LIBTPU_LOAD"];
        assert_eq!(names("TPU_WORKER_ID"), rest);
        assert_eq!(names("TPU_ACCELERATOR_TYPE"), rest);
    }

    #[test]
    fn names_that_kill_are_refused() {
        for good in ["v5e:2x2", "v5p:2x2x1", "tpu7x:2x2x1", "v5e=2x2", "v9:2x2"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "v5e",
            "v5e:",
            ":2x2",
            "v5e:0x2",
            "v5e:00x2",
            "v4:2x2x0",
            "v5e:2",
            "v5e:2xx2",
            "v5e:2x2x2x2",
            "v5e:-1x2",
            "v5litepod-4",
            "v5e:65536x65536",
        ] {
            let error = check_name(bad).expect_err(bad);
            assert!(error.message().contains("tpu7x"), "{error}");
        }
    }
}
