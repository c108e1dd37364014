//! The requirements of a proxy in front of a prefix cache, each with one test that has its number.
//!
//! Owns: the helpers that several of these tests share, and the table from numbers to tests. `O` numbers are behaviours
//! that the seed's tests pinned, each in a stronger form; `X` numbers are additions.
//!
//! | number | what | where |
//! |---|---|---|
//! | O-1 to O-5 | system text, time | `system` |
//! | O-6, O-7 | work after an answer | `background`; a stream between and during jobs in `gate` |
//! | O-8 to O-10, X-11 | extras of each server | `extras`; each kind as data in `prefix::backends` |
//! | X-1 | strict extension | `extension`; restyled echoes and compactions in `prefix::extension` |
//! | X-2, X-3, X-13 | bytes over restarts, frozen blocks, reasons | `bytes` |
//! | X-4 to X-7 | the gate | `background`; its rules under a random schedule in `gate` |
//! | X-8 to X-10 | the window, summaries | `window`; summaries by a model in `conversation` |
//! | X-12 | incognito | `incognito`; over the gateway's sockets in `gateway::v1` |

mod background;
mod bytes;
mod extras;
mod incognito;
mod system;
mod window;

use model::SessionId;
use proxy::Request;
use serde_json::Value;
use testkit::backend::{CacheKind, Config, Seen};

use crate::stage::Client;

fn strict() -> Config {
    Config {
        cache: CacheKind::StrictExtension,
        ..Config::default()
    }
}

fn body(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).expect("JSON")
}

/// The request of a client that names its conversation.
fn named_request(client: &Client, name: &str) -> Request {
    let mut request = client.request();
    request.conversation = Some(SessionId::new(name));
    request
}

/// All messages of that role, in order.
fn of_role(seen: &Seen, role: &str) -> Vec<String> {
    let body = body(seen);
    let messages = body["messages"].as_array().expect("messages").iter();
    let of_role = messages.filter(|message| message["role"] == role);
    of_role
        .map(|message| message["content"].as_str().expect("text").to_owned())
        .collect()
}
