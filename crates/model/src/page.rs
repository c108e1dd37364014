//! What is kept at hand of an owner: three pages that machine and person write together.
//!
//! Owns: which pages there are. Never: what stands in them, or where they are kept.

/// A page of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Page {
    /// What matters now.
    Memory,
    /// Who the owner is.
    User,
    /// How the owner wants to be answered.
    Soul,
}

impl Page {
    /// Every page there is.
    pub const ALL: [Self; 3] = [Self::Memory, Self::User, Self::Soul];

    /// The name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Memory => "MEMORY.md",
            Self::User => "USER.md",
            Self::Soul => "SOUL.md",
        }
    }
}
