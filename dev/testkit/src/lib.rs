//! Fakes of every port that enforce its promises on every call, and the contract suites that adapters run
//! too.
//!
//! Owns: in-memory stores, a clock that tests move, scripted models, model servers without a model. Never:
//! code of the product.

pub mod backend;
pub mod caches;
pub mod clock;
mod events;
pub mod faults;
pub mod index;
pub mod ledger;
pub mod models;
pub mod reading;
pub mod vault;

pub use events::NoEvents;
