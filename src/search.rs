//! Where plugins are looked for: the only search order there is.
//!
//! 1. The plugin's own variable, then JAX's. One that is set and wrong is an error: whoever set it means that file and no other.
//! 2. The file that the build has fetched.
//! 3. The cache of fetched wheels.
//! 4. The packages of the active virtual environment, and last those of the Python on the path, which has to be started for that.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cache::{self, Wheel};

/// JAX's variable for plugins of any kind: `name:path`, separated by commas.
const JAX_LIST: &str = "PJRT_NAMES_AND_LIBRARY_PATHS";

/// The places where one kind of plugin may be.
pub(crate) struct Recipe {
    /// The platform's name in lower case, the same that JAX uses.
    pub(crate) platform: &'static str,
    /// The variable in which a user names the file.
    variable: &'static str,
    /// The variable that JAX reads for this platform alone.
    jax_variable: Option<&'static str>,
    /// The feature that fetches the plugin, and the path that it has baked if it was on.
    fetched: Option<(&'static str, Option<&'static str>)>,
    /// Wheels that may be in the cache.
    pinned: &'static [Wheel],
    /// The plugin's path below `site-packages` in each wheel known to carry one, the better ones first.
    installed: &'static [&'static str],
    /// What to do to get one, to follow the word "to".
    remedy: &'static str,
}

/// XLA's own backend for the host.
pub(crate) const CPU: Recipe = Recipe {
    platform: "cpu",
    variable: "XLA_PJRT_CPU_PLUGIN",
    jax_variable: None,
    fetched: Some(("fetch-cpu", option_env!("XLA_PJRT_BAKED_CPU_PLUGIN"))),
    pinned: &[cache::CPU, cache::CPU_0_106, cache::CPU_0_81],
    installed: &[
        cache::CPU.file,
        cache::CPU_0_106.file,
        cache::CPU_0_81.file,
    ],
    remedy: "build with the feature `fetch-cpu`, or run\n    python3 -m pip install --no-deps lammps-jax-pjrt-cpu",
};

/// NVIDIA GPUs.
pub(crate) const CUDA: Recipe = Recipe {
    platform: "cuda",
    variable: "XLA_PJRT_CUDA_PLUGIN",
    jax_variable: None,
    fetched: Some(("fetch-cuda", option_env!("XLA_PJRT_BAKED_CUDA_PLUGIN"))),
    // Fetched for compiling, it lacks the libraries that runs need: found by the feature alone.
    pinned: &[],
    installed: &[
        "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        cache::CUDA.file,
        "xla_plugins/xla_cuda13_pjrt/xla_gpu_pjrt.so",
        "xla_plugins/xla_cuda12_pjrt/xla_gpu_pjrt.so",
    ],
    remedy: "build with the feature `fetch-cuda` (to compile without a GPU), or run\n    python3 -m pip install \"jax-cuda13-plugin[with-cuda]\"",
};

/// Google's TPUs.
pub(crate) const TPU: Recipe = Recipe {
    platform: "tpu",
    variable: "XLA_PJRT_TPU_PLUGIN",
    jax_variable: Some("TPU_LIBRARY_PATH"),
    fetched: Some(("fetch-tpu", option_env!("XLA_PJRT_BAKED_TPU_PLUGIN"))),
    pinned: &[cache::TPU],
    installed: &[cache::TPU.file],
    remedy: "build with the feature `fetch-tpu`, or run\n    python3 -m pip install libtpu",
};

/// AMD GPUs.
pub(crate) const ROCM: Recipe = Recipe {
    platform: "rocm",
    variable: "XLA_PJRT_ROCM_PLUGIN",
    jax_variable: None,
    fetched: None,
    pinned: &[],
    installed: &[
        "jax_plugins/xla_rocm10/xla_rocm_plugin.so",
        "jax_plugins/xla_rocm7/xla_rocm_plugin.so",
    ],
    remedy: "run\n    python3 -m pip install jax-rocm7-pjrt",
};

/// A plugin that was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The file, as an absolute path, so that the loader takes this file and does no search of its own.
    pub(crate) path: PathBuf,
    /// What led to it, for messages.
    pub(crate) origin: String,
}

/// A search that led to no plugin.
#[derive(Debug)]
pub(crate) enum SearchError {
    /// A variable is set, to something that is no file.
    BadVariable {
        /// Its name.
        variable: &'static str,
        /// The file that it names.
        path: PathBuf,
    },
    /// The plugin is in none of the places.
    NotFound {
        /// The platform it was for.
        platform: &'static str,
        /// The places in the order in which they were tried.
        tried: Vec<Tried>,
        /// What to do to get one.
        remedy: &'static str,
        /// The variable in which a file can be named.
        variable: &'static str,
    },
}

/// A place without the plugin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tried {
    /// A variable, a folder or a file.
    pub(crate) place: String,
    /// What was there in place of a plugin.
    pub(crate) outcome: String,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.outcome)
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadVariable { variable, path } => {
                let path = path.display();
                write!(f, "{variable} says {path}, but that is not a file")
            }
            Self::NotFound {
                platform,
                tried,
                remedy,
                variable,
            } => {
                writeln!(f, "no {platform} plugin found; tried, in this order:")?;
                for place in tried {
                    writeln!(f, "  - {place}")?;
                }
                writeln!(f, "To get one, {remedy}")?;
                write!(f, "One that lies elsewhere can be named in {variable}.")
            }
        }
    }
}

impl std::error::Error for SearchError {}

/// Looks for a plugin in this process's surroundings.
pub(crate) fn find(recipe: &Recipe) -> Result<Found, SearchError> {
    let surroundings = Surroundings {
        variable: &|name| env::var_os(name),
        python_folders: &python_folders,
    };
    find_in(recipe, &surroundings)
}

/// All that a search asks its process for, besides files.
struct Surroundings<'a> {
    /// An environment variable.
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The folders that Python imports from, or why they are not known. Costs a process, so it is asked last.
    python_folders: &'a dyn Fn() -> Result<Vec<PathBuf>, String>,
}

impl Surroundings<'_> {
    fn non_empty(&self, variable: &str) -> Option<OsString> {
        (self.variable)(variable).filter(|value| !value.is_empty())
    }
}

fn find_in(recipe: &Recipe, surroundings: &Surroundings<'_>) -> Result<Found, SearchError> {
    let mut search = Search {
        recipe,
        surroundings,
        tried: Vec::new(),
    };
    if let Some(found) = search.variables()? {
        return Ok(found);
    }
    let found = search
        .fetched_by_the_build()
        .or_else(|| search.cache())
        .or_else(|| search.environments())
        .or_else(|| search.python());
    found.ok_or(SearchError::NotFound {
        platform: recipe.platform,
        tried: search.tried,
        remedy: recipe.remedy,
        variable: recipe.variable,
    })
}

struct Search<'a> {
    recipe: &'a Recipe,
    surroundings: &'a Surroundings<'a>,
    tried: Vec<Tried>,
}

impl Search<'_> {
    fn variables(&mut self) -> Result<Option<Found>, SearchError> {
        for variable in [Some(self.recipe.variable), self.recipe.jax_variable]
            .into_iter()
            .flatten()
        {
            match self.surroundings.non_empty(variable) {
                Some(path) => return named_by(variable, path.into()).map(Some),
                None => self.miss(variable, "not set"),
            }
        }
        self.jax_list()
    }

    fn jax_list(&mut self) -> Result<Option<Found>, SearchError> {
        let Some(list) = self.surroundings.non_empty(JAX_LIST) else {
            self.miss(JAX_LIST, "not set");
            return Ok(None);
        };
        let platform = self.recipe.platform;
        let list = list.to_string_lossy();
        let entry = list
            .split(',')
            .filter_map(|entry| entry.split_once(':'))
            .find(|(name, _)| name.trim() == platform);
        match entry {
            Some((_, path)) => named_by(JAX_LIST, path.trim().into()).map(Some),
            None => {
                self.miss(JAX_LIST, format!("no entry {platform}:PATH in `{list}`"));
                Ok(None)
            }
        }
    }

    fn fetched_by_the_build(&mut self) -> Option<Found> {
        let (feature, baked) = self.recipe.fetched?;
        let origin = format!("feature {feature}");
        match baked {
            Some(path) => self.file(PathBuf::from(path), &origin),
            None => {
                self.miss(origin, "not on in this build");
                None
            }
        }
    }

    fn cache(&mut self) -> Option<Found> {
        let pinned = self.recipe.pinned;
        if pinned.is_empty() {
            return None;
        }
        let Some(cache) = cache::cache_dir_by(self.surroundings.variable) else {
            self.miss("cache", "no folder known, set XLA_PJRT_CACHE");
            return None;
        };
        pinned
            .iter()
            .find_map(|wheel| self.file(wheel.path(&cache), "cache"))
    }

    fn environments(&mut self) -> Option<Found> {
        ["VIRTUAL_ENV", "CONDA_PREFIX"]
            .into_iter()
            .find_map(|variable| self.environment(variable))
    }

    fn environment(&mut self, variable: &str) -> Option<Found> {
        let Some(root) = self.surroundings.non_empty(variable) else {
            self.miss(variable, "not set");
            return None;
        };
        let root = PathBuf::from(root);
        let folders = package_folders(&root);
        if folders.is_empty() {
            let root = root.display();
            self.miss(variable, format!("no site-packages in {root}"));
        }
        folders
            .iter()
            .find_map(|folder| self.packages(folder, variable))
    }

    fn python(&mut self) -> Option<Found> {
        match (self.surroundings.python_folders)() {
            Ok(folders) => folders
                .iter()
                .find_map(|folder| self.packages(folder, "python")),
            Err(why) => {
                self.miss("python", why);
                None
            }
        }
    }

    /// Looks into a folder of Python packages.
    fn packages(&mut self, folder: &Path, origin: &str) -> Option<Found> {
        let installed = self.recipe.installed;
        for file in installed {
            let path = folder.join(file);
            if path.is_file() {
                return Some(found(path, origin));
            }
        }
        let place = format!("{origin}: {}", folder.display());
        self.miss(place, format!("no {}", installed.join(", no ")));
        None
    }

    fn file(&mut self, path: PathBuf, origin: &str) -> Option<Found> {
        if path.is_file() {
            return Some(found(path, origin));
        }
        self.miss(format!("{origin}: {}", path.display()), "no such file");
        None
    }

    fn miss(&mut self, place: impl Into<String>, outcome: impl Into<String>) {
        self.tried.push(Tried {
            place: place.into(),
            outcome: outcome.into(),
        });
    }
}

fn named_by(variable: &'static str, path: PathBuf) -> Result<Found, SearchError> {
    if path.is_file() {
        Ok(found(path, variable))
    } else {
        Err(SearchError::BadVariable { variable, path })
    }
}

fn found(path: PathBuf, origin: &str) -> Found {
    Found {
        // It fails for an empty path and without a current folder only; a file was seen at this path.
        path: path::absolute(&path).unwrap_or(path),
        origin: origin.to_owned(),
    }
}

/// The package folders of a Python environment: `Lib/site-packages` on Windows, `lib/pythonX.Y/site-packages` elsewhere.
fn package_folders(root: &Path) -> Vec<PathBuf> {
    let libraries = root.join(if cfg!(windows) { "Lib" } else { "lib" });
    let versions = fs::read_dir(&libraries).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions
        .map(|version| version.path())
        .chain([libraries])
        .map(|folder| folder.join("site-packages"))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    folders
}

/// Asks the Python on the path where it imports from.
fn python_folders() -> Result<Vec<PathBuf>, String> {
    const SCRIPT: &str = "import sys; print('\\n'.join(folder for folder in sys.path if folder))";
    for python in ["python3", "python"] {
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        match command.output() {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout);
                let folders = text.lines().map(PathBuf::from);
                return Ok(folders.filter(|folder| may_hold_packages(folder)).collect());
            }
            Ok(output) => return Err(format!("{python} ended with {}", output.status)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{python} cannot be run: {error}")),
        }
    }
    Err("neither python3 nor python is on the path".to_owned())
}

/// Leaves out what Python imports its standard library from, where nothing is ever installed.
fn may_hold_packages(folder: &Path) -> bool {
    let standard = folder.join("os.py").is_file() || folder.ends_with("lib-dynload");
    folder.is_dir() && !standard
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes away with its test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let name = format!("xla-pjrt-search-{}-{test}", std::process::id());
            let path = env::temp_dir().join(name);
            fs::create_dir_all(&path).expect("a folder");
            Self(path)
        }

        /// Makes a file, and says where.
        fn file(&self, name: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(&path, "plugin").expect("a file");
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Searches with these variables alone. The build's own file is left out, since it depends on the features of the test run.
    fn search(
        recipe: &Recipe,
        variables: &[(&str, &Path)],
        python: Result<Vec<PathBuf>, String>,
    ) -> Result<Found, SearchError> {
        let fetched = recipe.fetched.map(|(feature, _)| (feature, None));
        let recipe = Recipe { fetched, ..*recipe };
        let surroundings = Surroundings {
            variable: &|name| {
                let (_, value) = variables.iter().find(|(key, _)| *key == name)?;
                Some(OsString::from(value))
            },
            python_folders: &|| python.clone(),
        };
        find_in(&recipe, &surroundings)
    }

    fn no_python() -> Result<Vec<PathBuf>, String> {
        Err("not started".to_owned())
    }

    fn assert_found(result: Result<Found, SearchError>, path: &Path, origin: &str) {
        let (path, origin) = (path.to_owned(), origin.to_owned());
        assert_eq!(result.expect("a plugin"), Found { path, origin });
    }

    #[test]
    fn places_are_tried_in_order() {
        let folder = Folder::new("order");
        let own = folder.file("own.so");
        let jax = folder.file("jax.so");
        let list = PathBuf::from(format!("tpu:/nowhere, cpu:{}", jax.display()));
        let cached = cache::CPU.path(Path::new(""));
        let cached = folder.file(cached.to_str().expect("text"));
        let packages = "env/lib/python3.11/site-packages";
        let in_environment = folder.file(&format!("{packages}/{}", cache::CPU_0_81.file));
        let in_python = folder.file(&format!("dist-packages/{}", cache::CPU_0_106.file));
        let environment = folder.0.join("env");
        let python = || Ok(vec![folder.0.join("dist-packages")]);

        let all = [
            ("XLA_PJRT_CPU_PLUGIN", own.as_path()),
            (JAX_LIST, list.as_path()),
            ("XLA_PJRT_CACHE", folder.0.as_path()),
            ("VIRTUAL_ENV", environment.as_path()),
        ];
        assert_found(search(&CPU, &all, python()), &own, "XLA_PJRT_CPU_PLUGIN");
        assert_found(search(&CPU, &all[1..], python()), &jax, JAX_LIST);
        assert_found(search(&CPU, &all[2..], python()), &cached, "cache");
        if cfg!(unix) {
            let result = search(&CPU, &all[3..], python());
            assert_found(result, &in_environment, "VIRTUAL_ENV");
        }
        assert_found(search(&CPU, &[], python()), &in_python, "python");
    }

    #[test]
    fn what_the_build_has_fetched_comes_before_the_cache() {
        let folder = Folder::new("baked");
        let path = folder.file("baked.so");
        let baked: &'static str = Box::leak(path.display().to_string().into_boxed_str());
        let fetched = Some(("fetch-cpu", Some(baked)));
        let recipe = Recipe { fetched, ..CPU };
        let surroundings = Surroundings {
            variable: &|_| None,
            python_folders: &no_python,
        };
        assert_found(find_in(&recipe, &surroundings), &path, "feature fetch-cpu");
        drop(folder);
        let error = find_in(&recipe, &surroundings).expect_err("gone");
        assert!(error
            .to_string()
            .contains(&format!("{baked}: no such file")));
    }

    #[test]
    fn newer_wheels_of_a_platform_come_first() {
        let folder = Folder::new("newer");
        let old = folder.file("jax_plugins/xla_cuda12/xla_cuda_plugin.so");
        let python = || Ok(vec![folder.0.clone()]);
        assert_found(search(&CUDA, &[], python()), &old, "python");
        let new = folder.file("jax_plugins/xla_cuda13/xla_cuda_plugin.so");
        assert_found(search(&CUDA, &[], python()), &new, "python");
        let libtpu = folder.file("libtpu/libtpu.so");
        assert_found(search(&TPU, &[], python()), &libtpu, "python");
    }

    #[test]
    fn variable_that_names_no_file_is_an_error_at_once() {
        let folder = Folder::new("bad");
        let good = folder.file("libtpu/libtpu.so");
        let absent = folder.0.join("absent.so");
        let entry = PathBuf::from(format!("tpu:{}", absent.display()));
        let python = || Ok(vec![folder.0.clone()]);
        let wrong = [
            ("XLA_PJRT_TPU_PLUGIN", absent.as_path()),
            ("TPU_LIBRARY_PATH", absent.as_path()),
            (JAX_LIST, entry.as_path()),
        ];
        for (variable, value) in wrong {
            let error = search(&TPU, &[(variable, value)], python()).expect_err("refused");
            assert_eq!(
                error.to_string(),
                format!(
                    "{variable} says {}, but that is not a file",
                    absent.display()
                )
            );
        }
        let empty = [("XLA_PJRT_TPU_PLUGIN", Path::new(""))];
        assert_found(search(&TPU, &empty, python()), &good, "python");
    }

    #[test]
    fn wheels_of_accelerators_are_found_where_pip_puts_them() {
        let folder = Folder::new("accelerators");
        let packages = "env/lib/python3.11/site-packages";
        let env = folder.0.join("env");
        let environment = [("VIRTUAL_ENV", env.as_path())];
        let tpu = folder.file(&format!("{packages}/libtpu/libtpu.so"));
        assert_found(search(&TPU, &environment, no_python()), &tpu, "VIRTUAL_ENV");
        let cuda12 = "jax_plugins/xla_cuda12/xla_cuda_plugin.so";
        let cuda12 = folder.file(&format!("{packages}/{cuda12}"));
        assert_found(
            search(&CUDA, &environment, no_python()),
            &cuda12,
            "VIRTUAL_ENV",
        );
        // What a feature has fetched comes before, where it can run too.
        for file in [cache::CUDA, cache::TPU].map(|it| it.path(Path::new("cache"))) {
            folder.file(file.to_str().expect("text"));
        }
        let cache = folder.0.join("cache");
        let both = [environment[0], ("XLA_PJRT_CACHE", cache.as_path())];
        assert_found(search(&CUDA, &both, no_python()), &cuda12, "VIRTUAL_ENV");
        let fetched = cache::TPU.path(&cache);
        assert_found(search(&TPU, &both, no_python()), &fetched, "cache");
    }

    #[test]
    fn failure_lists_every_place_and_the_way_out() {
        let tpu = [
            (JAX_LIST, Path::new("cpu:/a.so")),
            ("VIRTUAL_ENV", Path::new("/no/env")),
        ];
        let python = Ok(vec![PathBuf::from("/no/dist-packages")]);
        assert_eq!(
            search(&TPU, &tpu, python).expect_err("nothing").to_string(),
            "no tpu plugin found; tried, in this order:
  - XLA_PJRT_TPU_PLUGIN: not set
  - TPU_LIBRARY_PATH: not set
  - PJRT_NAMES_AND_LIBRARY_PATHS: no entry tpu:PATH in `cpu:/a.so`
  - feature fetch-tpu: not on in this build
  - cache: no folder known, set XLA_PJRT_CACHE
  - VIRTUAL_ENV: no site-packages in /no/env
  - CONDA_PREFIX: not set
  - python: /no/dist-packages: no libtpu/libtpu.so
To get one, build with the feature `fetch-tpu`, or run
    python3 -m pip install libtpu
One that lies elsewhere can be named in XLA_PJRT_TPU_PLUGIN."
        );

        let cpu = [("XLA_PJRT_CACHE", Path::new("/no/cache"))];
        let text = search(&CPU, &cpu, no_python())
            .expect_err("nothing")
            .to_string();
        for part in [
            "feature fetch-cpu: not on in this build",
            "  - cache: /no/cache/lammps-jax-pjrt-cpu-",
            "python: not started",
            "build with the feature `fetch-cpu`",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
