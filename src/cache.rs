//! Where fetched wheels lie, and which file of each one counts.
//!
//! The build script that fetches them includes this file too, so it rests on the standard library alone.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder in which fetched plugins are kept, or `None` if neither it nor a home folder is known.
///
/// It is what the variable `XLA_PJRT_CACHE` says; else the folder `xla-pjrt` in the user's own cache: `XDG_CACHE_HOME` or
/// `~/.cache`, `~/Library/Caches` on macOS, `LOCALAPPDATA` on Windows. It need not exist.
pub fn cache_dir() -> Option<PathBuf> {
    cache_dir_by(|name| env::var_os(name))
}

/// [`cache_dir`] for an environment that the caller supplies.
pub(crate) fn cache_dir_by(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(own) = folder("XLA_PJRT_CACHE") {
        return Some(own);
    }
    let users = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // The XDG specification wants a relative path here to be ignored.
        folder("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    users.map(|users| users.join("xla-pjrt"))
}

/// A wheel that `third_party` pins, with the one file of it that is asked for. Another wheel that
/// the file makes use of may be pinned with it, and is then unpacked into the same folder.
#[derive(Clone, Copy)]
pub(crate) struct Wheel {
    /// The pin in pip's own form, the only place that has its name and version.
    pub(crate) pin: &'static str,
    /// The file's path in the unpacked wheel, which is also its path in a `site-packages` that has the wheel installed.
    pub(crate) file: &'static str,
}

/// The default CPU plugin, PJRT API 0.115.
pub(crate) const CPU: Wheel = Wheel {
    pin: include_str!("../third_party/cpu.txt"),
    file: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
};

/// An older CPU plugin, PJRT API 0.106.
pub(crate) const CPU_0_106: Wheel = Wheel {
    pin: include_str!("../third_party/cpu-0.106.txt"),
    file: "fastatomstruct_xla_cpu/libpjrt_cpu.so",
};

/// The oldest CPU plugin, PJRT API 0.81; the official C header lies beside it in `include/`.
pub(crate) const CPU_0_81: Wheel = Wheel {
    pin: include_str!("../third_party/cpu-0.81.txt"),
    file: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
};

/// The TPU plugin, PJRT API 0.117.
pub(crate) const TPU: Wheel = Wheel {
    pin: include_str!("../third_party/tpu.txt"),
    file: "libtpu/libtpu.so",
};

/// The CUDA plugin, PJRT API 0.116, with `ptxas` and `libdevice`, which it looks for in
/// `../../nvidia/cuda_nvcc`.
pub(crate) const CUDA: Wheel = Wheel {
    pin: include_str!("../third_party/cuda.txt"),
    file: "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
};

impl Wheel {
    /// What pip calls the wheels: `name==version` each.
    pub(crate) fn requirements(&self) -> impl Iterator<Item = &'static str> {
        let pinned = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphanumeric());
        let lines = self.pin.lines().filter(pinned);
        lines.filter_map(|line| line.split_whitespace().next())
    }

    /// The folder of their own in which the wheels are unpacked.
    pub(crate) fn folder(&self, cache: &Path) -> PathBuf {
        let names: Vec<String> = self
            .requirements()
            .map(|it| it.replace("==", "-"))
            .collect();
        cache.join(names.join("+"))
    }

    /// Where the file lies once the wheel is unpacked.
    pub(crate) fn path(&self, cache: &Path) -> PathBuf {
        self.folder(cache).join(self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(variables: &[(&str, &str)]) -> Option<PathBuf> {
        cache_dir_by(|name| {
            let (_, value) = variables.iter().find(|(key, _)| *key == name)?;
            Some(OsString::from(value))
        })
    }

    #[test]
    fn own_variable_wins_and_an_empty_one_is_unset() {
        let both = [
            ("XLA_PJRT_CACHE", "/own"),
            ("HOME", "/home/me"),
            ("LOCALAPPDATA", "/home/me"),
        ];
        assert_eq!(dir(&both), Some(PathBuf::from("/own")));
        assert_eq!(dir(&[("XLA_PJRT_CACHE", "")]), None);
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn users_cache_folder_follows_xdg() {
        let home = ("HOME", "/home/me");
        let standard = Some(PathBuf::from("/home/me/.cache/xla-pjrt"));
        assert_eq!(dir(&[home]), standard);
        assert_eq!(dir(&[home, ("XDG_CACHE_HOME", "relative")]), standard);
        assert_eq!(
            dir(&[home, ("XDG_CACHE_HOME", "/fast")]),
            Some(PathBuf::from("/fast/xla-pjrt"))
        );
        assert_eq!(dir(&[]), None);
    }

    #[test]
    fn every_pin_has_one_hash_for_each_requirement() {
        for (wheel, wheels) in [(CPU, 1), (CPU_0_106, 1), (CPU_0_81, 1), (TPU, 1), (CUDA, 2)] {
            let all: Vec<&str> = wheel.requirements().collect();
            assert_eq!(all.len(), wheels, "{all:?}");
            assert_eq!(
                wheel.pin.matches("--hash=sha256:").count(),
                wheels,
                "{all:?}"
            );
            let folder = wheel.folder(Path::new("cache"));
            for requirement in all {
                let (name, version) = requirement.split_once("==").expect("name==version");
                assert!(!name.is_empty() && version.starts_with(|c: char| c.is_ascii_digit()));
                let folder = folder.to_str().expect("text");
                assert!(folder.contains(&format!("{name}-{version}")), "{folder}");
            }
            assert!(wheel.path(Path::new("cache")).starts_with(folder));
        }
        assert_eq!(
            CPU.folder(Path::new("cache")),
            Path::new("cache").join("lammps-jax-pjrt-cpu-0.11.2")
        );
    }
}
