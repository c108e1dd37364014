//! Configuration: one file, one environment, one set of defaults, and where each value came from.
//!
//! Owns: `quipu.toml`, the `QUIPU_…` variables, and the errors for a wrong key or value. Never: acting on a setting.

mod load;
mod portable;
mod schema;

pub(crate) use load::{LoadedConfig, load};
pub(crate) use portable::portable;
pub(crate) use schema::{
    Config, ContextEngine, Dangerous, EmbeddingProvider, QuietWhen, RerankProvider, RoleKey, StrategyKeys,
    TokenPurpose, Upstream,
};

#[cfg(test)]
mod tests;
