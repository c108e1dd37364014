//! The machine as clients see it: a home, variables, programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where this machine keeps things.
#[derive(Debug, Clone)]
pub struct ClientMachine {
    pub home: PathBuf,
    pub is_mac: bool,
    pub variables: BTreeMap<String, String>,
}

impl ClientMachine {
    /// A variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?;
        (!value.is_empty()).then_some(value)
    }

    /// The folder that a variable names, or else one of the home.
    pub(crate) fn folder(&self, variable: &str, rest: &str) -> PathBuf {
        self.variable(variable)
            .map_or_else(|| self.home.join(rest), PathBuf::from)
    }

    /// A place below the folder of configurations.
    pub(crate) fn config(&self, rest: &str) -> PathBuf {
        self.folder("XDG_CONFIG_HOME", ".config").join(rest)
    }

    /// The same for a desktop application, which macOS keeps elsewhere.
    pub(crate) fn application(&self, rest: &str) -> PathBuf {
        if self.is_mac {
            self.home.join("Library/Application Support").join(rest)
        } else {
            self.config(rest)
        }
    }

    /// The file that runs when a person types the name.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = self
            .variable("PATH")?
            .split(':')
            .filter(|folder| !folder.is_empty());
        folders
            .map(|folder| Path::new(folder).join(name))
            .find(|file| is_executable(file))
    }
}

/// Whether the file can be run.
fn is_executable(file: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        about.is_file() && about.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        about.is_file()
    }
}
