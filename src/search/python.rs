//! The folders in which Python packages lie.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The package folders of a Python environment: `Lib/site-packages` on Windows, `lib/pythonX.Y/site-packages` elsewhere.
pub(super) fn package_folders(root: &Path) -> Vec<PathBuf> {
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
pub(super) fn python_folders() -> Result<Vec<PathBuf>, String> {
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
