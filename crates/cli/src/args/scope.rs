//! The tenant of a command.
//!
//! Owns: the words that name it. Never: which project a folder has (`project`).

use std::path::Path;

use clap::Args;

use crate::project;

/// The tenant.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScopeArgs {
    /// The application
    #[arg(long, default_value = "default", value_name = "ID")]
    pub(crate) app: String,
    /// The project inside it; `.`: that of the current folder's repository
    #[arg(long, default_value = "default", value_name = "ID", value_parser = project::named)]
    pub(crate) project: String,
}

/// The tenant of an agent that works in a folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct FolderScopeArgs {
    /// The application
    #[arg(long, default_value = "default", value_name = "ID")]
    pub(crate) app: String,
    /// The project inside it [default: that of the repository that the agent works in]
    #[arg(long, value_name = "ID", value_parser = project::named)]
    pub(crate) project: Option<String>,
}

impl FolderScopeArgs {
    /// The tenant of an agent that works in this folder.
    pub(crate) fn at(&self, folder: &Path) -> ScopeArgs {
        ScopeArgs {
            app: self.app.clone(),
            project: self.project.clone().unwrap_or_else(|| project::of(folder)),
        }
    }
}
