//! What led to a plugin.

use std::fmt;
use std::path::PathBuf;

/// What led a search to a plugin, from [`PluginSearch::found`](crate::PluginSearch::found) and
/// [`Plugin::origin`](crate::Plugin::origin).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginOrigin {
    /// An environment variable that names the file.
    Variable(&'static str),
    /// A feature of this build, which has fetched the file.
    Feature(&'static str),
    /// The folder of fetched plugins ([`cache_dir`](crate::cache_dir)).
    Cache(PathBuf),
    /// A package folder of the Python environment that a variable names.
    Environment {
        /// `VIRTUAL_ENV` or `CONDA_PREFIX`.
        variable: &'static str,
        /// The `site-packages` folder.
        folder: PathBuf,
    },
    /// A folder from which the Python on the path imports.
    Python(PathBuf),
}

impl PluginOrigin {
    /// The kind of place, such as `cache`, or the variable's name.
    pub(super) fn short(&self) -> String {
        match self {
            PluginOrigin::Variable(variable) | PluginOrigin::Environment { variable, .. } => {
                (*variable).to_owned()
            }
            PluginOrigin::Feature(feature) => format!("feature {feature}"),
            PluginOrigin::Cache(_) => "cache".to_owned(),
            PluginOrigin::Python(_) => "python".to_owned(),
        }
    }
}

/// The kind of place, and the folder: `python: FOLDER`.
impl fmt::Display for PluginOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())?;
        match self {
            PluginOrigin::Cache(folder)
            | PluginOrigin::Environment { folder, .. }
            | PluginOrigin::Python(folder) => write!(f, ": {}", folder.display()),
            PluginOrigin::Variable(_) | PluginOrigin::Feature(_) => Ok(()),
        }
    }
}
