//! The page, as a browser without scripts uses it: on the real API and the real engine with in-memory stores.

#[path = "../../../gateway/tests/it/gate.rs"]
#[expect(dead_code, reason = "the gateway's tests use more of it")]
mod gate;
#[path = "../../../gateway/tests/it/house.rs"]
#[expect(dead_code, reason = "the gateway's tests use more of it")]
mod house;
#[path = "../../../gateway/tests/it/library.rs"]
#[expect(dead_code, reason = "the gateway's tests use more of it")]
mod library;

mod changes;
mod forgetting;
mod safety;
mod stage;
mod tokens;
mod views;
