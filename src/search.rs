//! Where plugins are looked for: the only search order there is.
//!
//! 1. The plugin's own variable, then JAX's. One that is set and wrong is an error: whoever set it means that file and no other.
//! 2. The file that the build has fetched.
//! 3. The cache of fetched wheels.
//! 4. The packages of the active virtual environment, and last those of the Python on the path, which has to be started for that.

mod origin;
mod python;
mod recipe;
#[cfg(test)]
mod tests;

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{self, Path, PathBuf};

use crate::cache;
use crate::error::{Code, Error, Result};
use crate::plugin::Plugin;

pub use origin::PluginOrigin;
use recipe::{Recipe, CPU, CUDA, ROCM, TPU};

/// JAX's variable for plugins of any kind: `name:path`, separated by commas.
const JAX_LIST: &str = "PJRT_NAMES_AND_LIBRARY_PATHS";

/// A search for the plugin of a platform: where it was looked for, what led to it, and how to
/// get one where none is there. Nothing is loaded before [`PluginSearch::load`].
///
/// [`Plugin::cpu`] and its like make such a search and load what it finds.
///
/// ```
/// let search = xla::PluginSearch::cpu();
/// match search.found() {
///     Some((path, origin)) => println!("{} by {origin}", path.display()),
///     None => println!("to get one, {}", search.remedy()),
/// }
/// for place in search.places() {
///     println!("not at {place}");
/// }
/// ```
#[derive(Clone, Debug)]
pub struct PluginSearch {
    platform: &'static str,
    variable: &'static str,
    remedy: &'static str,
    command: &'static str,
    places: Vec<SearchedPlace>,
    end: Result<Found, Missed>,
}

/// A place without the plugin, from [`PluginSearch::places`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchedPlace {
    /// A variable, a feature, a folder or a file.
    pub place: String,
    /// What was there in place of a plugin.
    pub outcome: String,
}

impl fmt::Display for SearchedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.outcome)
    }
}

/// A plugin that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    /// The file, as an absolute path, so that the loader takes this file and does no search of its own.
    path: PathBuf,
    origin: PluginOrigin,
}

/// Why a search led to no plugin.
#[derive(Clone, Debug)]
enum Missed {
    /// A variable is set, to something that is no file.
    BadVariable {
        variable: &'static str,
        path: PathBuf,
    },
    /// The plugin is in none of the places.
    Nowhere,
}

impl PluginSearch {
    /// Looks for XLA's own backend for the host, in the order that [`Plugin::cpu`] tells.
    pub fn cpu() -> PluginSearch {
        search(&CPU)
    }

    /// Looks for the plugin for NVIDIA GPUs, as [`Plugin::cuda`].
    pub fn cuda() -> PluginSearch {
        search(&CUDA)
    }

    /// Looks for the plugin for TPUs, as [`Plugin::tpu`].
    pub fn tpu() -> PluginSearch {
        search(&TPU)
    }

    /// Looks for the plugin for AMD GPUs, as [`Plugin::rocm`].
    pub fn rocm() -> PluginSearch {
        search(&ROCM)
    }

    /// The platform's name in lower case, such as `cpu`.
    pub fn platform(&self) -> &'static str {
        self.platform
    }

    /// The file, and what led to it; `None` where no plugin was found.
    pub fn found(&self) -> Option<(&Path, &PluginOrigin)> {
        let found = self.end.as_ref().ok()?;
        Some((&found.path, &found.origin))
    }

    /// The places that were looked at in vain, in the order in which they were tried. What
    /// would have come after the plugin wasn't looked at.
    pub fn places(&self) -> &[SearchedPlace] {
        &self.places
    }

    /// The variable in which a user can name the file.
    pub fn variable(&self) -> &'static str {
        self.variable
    }

    /// What to do to get such a plugin, in words that follow "to get one,":
    /// [`PluginSearch::command`] stands at their end, on a line of its own.
    pub fn remedy(&self) -> String {
        format!("{}\n    {}", self.remedy, self.command)
    }

    /// The command that installs such a plugin.
    pub fn command(&self) -> &'static str {
        self.command
    }

    /// Loads what was found.
    ///
    /// # Errors
    /// Nothing was found: the message is that of this value; or it can't be loaded, as
    /// [`Plugin::load`].
    pub fn load(&self) -> Result<Plugin> {
        let Ok(found) = &self.end else {
            return Err(Error::new(Code::NotFound, self.to_string()));
        };
        let plugin = Plugin::load(&found.path)
            .map_err(|error| error.context(format!("plugin from {}", found.origin)))?;
        Ok(plugin.by(found.origin.clone()))
    }
}

/// What led to the plugin; where nothing did, the places and the way out.
impl fmt::Display for PluginSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.end {
            Ok(Found { path, origin }) => write!(f, "{} by {origin}", path.display()),
            Err(Missed::BadVariable { variable, path }) => {
                let path = path.display();
                write!(f, "{variable} says {path}, but that is not a file")
            }
            Err(Missed::Nowhere) => {
                let platform = self.platform;
                writeln!(f, "no {platform} plugin found; tried, in this order:")?;
                for place in &self.places {
                    writeln!(f, "  - {place}")?;
                }
                writeln!(f, "To get one, {}", self.remedy())?;
                let variable = self.variable;
                write!(f, "One that lies elsewhere can be named in {variable}.")
            }
        }
    }
}

/// Looks for a plugin in this process's surroundings.
fn search(recipe: &Recipe) -> PluginSearch {
    let surroundings = Surroundings {
        variable: &|name| env::var_os(name),
        python_folders: &python::python_folders,
    };
    search_in(recipe, &surroundings)
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

fn search_in(recipe: &Recipe, surroundings: &Surroundings<'_>) -> PluginSearch {
    let mut search = Search {
        recipe,
        surroundings,
        places: Vec::new(),
    };
    let end = search.everywhere();
    PluginSearch {
        platform: recipe.platform,
        variable: recipe.variable,
        remedy: recipe.remedy,
        command: recipe.command,
        places: search.places,
        end,
    }
}

struct Search<'a> {
    recipe: &'a Recipe,
    surroundings: &'a Surroundings<'a>,
    places: Vec<SearchedPlace>,
}

impl Search<'_> {
    fn everywhere(&mut self) -> Result<Found, Missed> {
        if let Some(found) = self.variables()? {
            return Ok(found);
        }
        let found = self
            .fetched_by_the_build()
            .or_else(|| self.cache())
            .or_else(|| self.environments())
            .or_else(|| self.python());
        found.ok_or(Missed::Nowhere)
    }

    fn variables(&mut self) -> Result<Option<Found>, Missed> {
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

    fn jax_list(&mut self) -> Result<Option<Found>, Missed> {
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
        let origin = PluginOrigin::Feature(feature);
        match baked {
            Some(path) => self.file(PathBuf::from(path), origin),
            None => {
                self.miss(origin.short(), "not on in this build");
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
            .find_map(|wheel| self.file(wheel.path(&cache), PluginOrigin::Cache(cache.clone())))
    }

    fn environments(&mut self) -> Option<Found> {
        ["VIRTUAL_ENV", "CONDA_PREFIX"]
            .into_iter()
            .find_map(|variable| self.environment(variable))
    }

    fn environment(&mut self, variable: &'static str) -> Option<Found> {
        let Some(root) = self.surroundings.non_empty(variable) else {
            self.miss(variable, "not set");
            return None;
        };
        let root = PathBuf::from(root);
        let folders = python::package_folders(&root);
        if folders.is_empty() {
            let root = root.display();
            self.miss(variable, format!("no site-packages in {root}"));
        }
        folders.into_iter().find_map(|folder| {
            self.packages(
                PluginOrigin::Environment {
                    variable,
                    folder: folder.clone(),
                },
                &folder,
            )
        })
    }

    fn python(&mut self) -> Option<Found> {
        match (self.surroundings.python_folders)() {
            Ok(folders) => folders
                .into_iter()
                .find_map(|folder| self.packages(PluginOrigin::Python(folder.clone()), &folder)),
            Err(why) => {
                self.miss("python", why);
                None
            }
        }
    }

    /// Looks into a folder of Python packages.
    fn packages(&mut self, origin: PluginOrigin, folder: &Path) -> Option<Found> {
        let installed = self.recipe.installed;
        for file in installed {
            let path = folder.join(file);
            if path.is_file() {
                return Some(found(path, origin));
            }
        }
        self.miss(
            origin.to_string(),
            format!("no {}", installed.join(", no ")),
        );
        None
    }

    fn file(&mut self, path: PathBuf, origin: PluginOrigin) -> Option<Found> {
        if path.is_file() {
            return Some(found(path, origin));
        }
        self.miss(
            format!("{}: {}", origin.short(), path.display()),
            "no such file",
        );
        None
    }

    fn miss(&mut self, place: impl Into<String>, outcome: impl Into<String>) {
        self.places.push(SearchedPlace {
            place: place.into(),
            outcome: outcome.into(),
        });
    }
}

fn named_by(variable: &'static str, path: PathBuf) -> Result<Found, Missed> {
    if path.is_file() {
        Ok(found(path, PluginOrigin::Variable(variable)))
    } else {
        Err(Missed::BadVariable { variable, path })
    }
}

fn found(path: PathBuf, origin: PluginOrigin) -> Found {
    Found {
        // It fails for an empty path and without a current folder only; a file was seen at this path.
        path: path::absolute(&path).unwrap_or(path),
        origin,
    }
}
