//! The proxy on a test's clock: who may call a model server, what each call cost, and turns before real HTTP servers.

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
