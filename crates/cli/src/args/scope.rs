//! The tenant and the owner of a command.
//!
//! Owns: their options, validated during parsing. Never: the project of a folder (`project`).

use std::path::Path;

use clap::Args;
use model::{InvalidId, Name, Owner, Scope};

use super::DEFAULT_USER;
use crate::project;

/// The tenant.
#[derive(Debug, Clone, Args)]
pub(crate) struct ScopeArgs {
    /// The application
    #[arg(long, default_value = "default", value_name = "ID", value_parser = Name::parse)]
    pub(crate) app: Name,
    /// The project inside it; `.`: that of the current folder's repository
    #[arg(long, default_value = "default", value_name = "ID", value_parser = project::named)]
    pub(crate) project: Name,
}

impl ScopeArgs {
    pub(crate) fn scope(&self) -> Scope {
        Scope::new(self.app.clone(), self.project.clone())
    }
}

/// A user id from any text except an empty one.
pub(crate) fn user(text: &str) -> Result<Name, InvalidId> {
    proxy::name_of(text).ok_or(InvalidId::Empty)
}

/// The default user.
pub(crate) fn me() -> Name {
    Name::parse(DEFAULT_USER).expect("it is a name")
}

/// Owner and tenant of a memory.
#[derive(Debug, Args)]
pub(crate) struct OwnerArgs {
    /// The user whose memory it is
    #[arg(long, value_name = "ID", value_parser = user, conflicts_with = "agent")]
    pub(crate) user: Option<Name>,
    /// The agent whose memory it is
    #[arg(long, value_name = "ID", value_parser = Name::parse)]
    pub(crate) agent: Option<Name>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

impl OwnerArgs {
    /// The named owner, else the default user.
    pub(crate) fn owner(&self) -> Owner {
        match (&self.user, &self.agent) {
            (_, Some(agent)) => Owner::agent(agent.clone()),
            (user, None) => Owner::user(user.clone().unwrap_or_else(me)),
        }
    }
}

/// The tenant of an agent that works in a folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct FolderScopeArgs {
    /// The application
    #[arg(long, default_value = "default", value_name = "ID", value_parser = Name::parse)]
    pub(crate) app: Name,
    /// The project inside it [default: that of the repository that the agent works in]
    #[arg(long, value_name = "ID", value_parser = project::named)]
    pub(crate) project: Option<Name>,
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
