//! The machine as clients see it: a home folder, variables, programs.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Folders and variables of this machine.
#[derive(Debug, Clone)]
pub(crate) struct ClientMachine {
    pub(crate) home: PathBuf,
    pub(crate) is_mac: bool,
    pub(crate) variables: BTreeMap<String, String>,
}

impl ClientMachine {
    /// A variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?;
        (!value.is_empty()).then_some(value)
    }

    /// The path for a place of the table: `~/…`, `$VARIABLE(folder of the home)/…`, or `@application/…`, which has its own folder
    /// on macOS.
    pub(crate) fn place(&self, place: &str) -> PathBuf {
        if let Some(rest) = place.strip_prefix("~/") {
            return self.home.join(rest);
        }
        match place.strip_prefix("@application/") {
            Some(rest) if self.is_mac => self.home.join("Library/Application Support").join(rest),
            Some(rest) => self.place(&format!("$XDG_CONFIG_HOME(.config)/{rest}")),
            None => {
                let parts = place.strip_prefix('$').and_then(|rest| rest.split_once('('));
                let (variable, rest) = parts.expect("a place of the table");
                let (usual, rest) = rest.split_once(')').expect("a place of the table");
                let folder = self.variable(variable).map(PathBuf::from);
                let folder = folder.unwrap_or_else(|| self.home.join(usual));
                folder.join(rest.trim_start_matches('/'))
            }
        }
    }

    /// The file that the shell would run for a program's name.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = self
            .variable("PATH")?
            .split(':')
            .filter(|folder| !folder.is_empty());
        folders
            .map(|folder| Path::new(folder).join(name))
            .find(|file| is_executable(file))
    }
}

/// Whether the file is executable.
fn is_executable(file: &Path) -> bool {
    let about = file.metadata();
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}
