//! Configuration: one file, the environment, the defaults, and the origin of each value.
//!
//! Owns: `quipu.toml`, the `QUIPU_…` variables, and the errors for a wrong key or value. Never: acting on a setting.

mod load;
mod portable;
mod schema;

pub(crate) use load::{LoadedConfig, load};
pub(crate) use portable::portable;
pub(crate) use schema::{
    Config, ContextEngine, Dangerous, EmbeddingProvider, RerankProvider, RoleKey, StrategyKeys, TokenPurpose,
    Upstream,
};

#[cfg(test)]
mod tests;
