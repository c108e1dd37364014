//! Conversations in whole turns: their views, their roles, a user's own engine, the width of a window.

mod engines;
mod roles;
mod windows;
