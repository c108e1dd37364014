//! Conversations in whole turns: their views, their roles, the engine of a user, how wide a window is.

mod engines;
mod roles;
mod windows;
