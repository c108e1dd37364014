//! The guarantees of the crate, through its public functions.

mod anthropic;
mod codebuddy_repair;
mod cut;
mod dialect;
mod edit;
mod hostile;
mod order;
mod properties;
mod repair;
mod robust;
mod say;
mod spoken;
mod subagent;

/// 512 cases of each property; `PROPTEST_CASES` can raise the number.
fn config() -> proptest::prelude::ProptestConfig {
    let default = proptest::prelude::ProptestConfig::default();
    proptest::prelude::ProptestConfig {
        cases: default.cases.max(512),
        failure_persistence: None,
        ..default
    }
}
