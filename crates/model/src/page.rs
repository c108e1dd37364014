//! Core memory of an owner: three pages that Quipu and people write together.
//!
//! Owns: the list of pages. Never: their content, or their place.

/// A page of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Page {
    /// Facts that matter now.
    Memory,
    /// The owner's profile.
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
