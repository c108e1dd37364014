//! The proxy on a test's clock: access to a model server, the cost of each call, and turns against real HTTP servers.

mod caches;
mod conformance;
mod conversation;
mod extension;
mod gate;
mod gated;
mod idle;
mod learnt;
mod marks;
mod measure;
mod responses;
mod seeds;
mod slots;
mod stage;
mod turns;
