//! Answers of model servers as they arrive: pieces of text become events, events a whole reply.
//!
//! Owns: server-sent events, what the chunks of each dialect add up to, what an answer says of its cost. Never: changing a byte
//! that goes to the client; I/O.
