//! Core memory of an owner: three pages that Quipu and people write together.
//!
//! Owns: the list of pages. Never: their content, or their place.

crate::worded! {
    /// A page of an owner.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Page {
        /// Facts that matter now.
        Memory = "MEMORY.md",
        /// The owner's profile.
        User = "USER.md",
        /// The owner's wishes for answers.
        Soul = "SOUL.md",
    }
}
