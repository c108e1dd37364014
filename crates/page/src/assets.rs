//! Style and script: the same for every visitor, under names that change with their content.
//!
//! Owns: these files, and their cache time in a browser. Never: anything of memory.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::visit::IdPath;

/// htmx 2.0.11, from `dist/htmx.min.js` of its npm package; the page disables the features that evaluate text.
const HTMX: &[u8] = match include_bytes!("../assets/htmx.min.js").split_last() {
    // Every file of the repository ends with a line feed; the file of the package does not.
    Some((b'\n', script)) => script,
    _ => panic!("the file ends with a line feed"),
};
const STYLE: &[u8] = include_bytes!("../assets/page.css");
const SCRIPT: &[u8] = include_bytes!("../assets/page.js");
const ICON: &[u8] = include_bytes!("../assets/icon.svg");
/// The SHA-256 of htmx: a browser runs no script with other bytes.
pub(crate) const HTMX_INTEGRITY: &str = "sha256-1v3HXyBOa976mbab8ebUrGm4o2T3eSn0XBNHa0AA9xc=";

/// Digits of the digest in a file's name.
const DIGITS: usize = 12;

/// The addresses of the files.
pub(crate) struct Assets {
    pub(crate) htmx: String,
    pub(crate) style: String,
    pub(crate) script: String,
    pub(crate) icon: String,
}

pub(crate) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    htmx: address("htmx", "js", HTMX),
    style: address("page", "css", STYLE),
    script: address("page", "js", SCRIPT),
    icon: address("icon", "svg", ICON),
});

fn address(name: &str, kind: &str, bytes: &[u8]) -> String {
    let digits = model::hex(Sha256::digest(bytes));
    format!("/page/assets/{name}.{}.{kind}", &digits[..DIGITS])
}

pub(crate) async fn asset(Path(IdPath { id }): Path<IdPath>) -> Response {
    let known = [
        (&ASSETS.htmx, "text/javascript; charset=utf-8", HTMX),
        (&ASSETS.style, "text/css; charset=utf-8", STYLE),
        (&ASSETS.script, "text/javascript; charset=utf-8", SCRIPT),
        (&ASSETS.icon, "image/svg+xml", ICON),
    ];
    let found = known
        .into_iter()
        .find(|(address, ..)| address.rsplit('/').next() == Some(&id));
    match found {
        Some((_, kind, bytes)) => {
            let headers = [
                (CONTENT_TYPE, kind),
                (CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            (headers, bytes).into_response()
        }
        // A file of another version: the browser shows a view of that version too, and must load it again.
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digest in base64.
    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let number = (0..3).fold(0, |number, at| {
                number << 8 | u32::from(three.get(at).copied().unwrap_or_default())
            });
            for at in 0..=three.len() {
                let index = (number >> (18 - 6 * at)) & 63;
                text.push(char::from(LETTERS[index as usize]));
            }
            text.extend(std::iter::repeat_n('=', 3 - three.len()));
        }
        text
    }

    #[test]
    fn the_vendored_script_has_the_pinned_digest() {
        let digest = base64(&Sha256::digest(HTMX));
        assert_eq!(format!("sha256-{digest}"), HTMX_INTEGRITY);
    }

    #[test]
    fn our_own_script_stays_small() {
        let script = std::str::from_utf8(SCRIPT).expect("text");
        assert!(script.lines().count() <= 195, "{}", script.lines().count());
    }
}
