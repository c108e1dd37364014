//! What no file of the tree may hold: large data, private keys, a last line without a line feed.
//!
//! Owns: these checks and the files that are exempt. Never: other white space and merge markers, which `git diff --check` finds.

use crate::tree::RawFile;

const BYTES_MAX: usize = 256 << 10;

/// Files that may be larger: generated, or needed to build and test.
const LARGE: [&str; 4] = [
    "Cargo.lock",
    "crates/providers/assets/",
    "docs/openapi.json",
    "fuzz/Cargo.lock",
];

/// Folders whose files are compared or read byte for byte.
const VERBATIM: [&str; 2] = ["/fixtures/", "fuzz/seeds/"];

/// Spelt in parts, so that this file does not find itself.
const KEY_OPENS: &str = "-----BEGIN ";
const KEY_NAME: &str = "PRIVATE KEY";

/// A key in a test has fewer characters of base64 than this after its header; a real one has hundreds.
const KEY_CHARS_MIN: usize = 32;

/// Every problem of one file.
pub(crate) fn check(file: &RawFile) -> Vec<String> {
    let path = file.path.as_str();
    let mut problems = Vec::new();
    if file.bytes.len() > BYTES_MAX && !LARGE.iter().any(|allowed| path.starts_with(allowed)) {
        let kib = BYTES_MAX >> 10;
        problems.push(format!(
            "{path}: larger than {kib} KiB: keep large data out of git"
        ));
    }
    if let Ok(text) = std::str::from_utf8(&file.bytes) {
        problems.extend(private_key(path, text));
        let is_verbatim = VERBATIM.iter().any(|place| path.contains(place));
        if !is_verbatim && !text.is_empty() && !text.ends_with('\n') {
            problems.push(format!("{path}: the last line has no line feed"));
        }
    }
    problems
}

/// A key's header counts only with a key behind it: code that looks for keys names the header too.
fn private_key(path: &str, text: &str) -> Option<String> {
    let (at, _) = text.match_indices(KEY_OPENS).find(|(at, _)| {
        let header = text[at + KEY_OPENS.len()..]
            .split("-----")
            .next()
            .unwrap_or_default();
        let rest = &text[at + KEY_OPENS.len() + header.len()..];
        header.contains(KEY_NAME) && !header.contains('\n') && is_key(rest.trim_start_matches('-'))
    })?;
    let number = text[..at].matches('\n').count() + 1;
    Some(format!(
        "{path}:{number}: a private key: revoke it, and never commit one"
    ))
}

/// Whether base64 follows, on lines of its own or in a string with escaped line feeds.
fn is_key(text: &str) -> bool {
    let text = text.replace("\\n", "\n").replace("\\r", "");
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let body = text
        .trim_start()
        .lines()
        .skip_while(|line| line.is_empty() || line.contains(": "));
    let mut chars = 0;
    for line in body {
        chars += line.chars().take_while(|&c| is_base64(c)).count();
        if chars >= KEY_CHARS_MIN {
            return true;
        }
        if !line.chars().all(is_base64) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::RawFile;

    fn problems(path: &str, text: &str) -> Vec<String> {
        check(&RawFile {
            path: path.to_owned(),
            bytes: text.as_bytes().to_vec(),
        })
    }

    #[test]
    fn large_files_are_named_unless_they_are_expected() {
        let text = "x\n".repeat(super::BYTES_MAX / 2 + 1);
        assert_eq!(
            problems("a.json", &text),
            ["a.json: larger than 256 KiB: keep large data out of git"]
        );
        for path in super::LARGE {
            assert_eq!(problems(path, &text), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn a_last_line_without_a_line_feed_is_named() {
        assert_eq!(problems("a.md", "a"), ["a.md: the last line has no line feed"]);
        for (path, text) in [
            ("a.md", ""),
            ("a.md", "a\n"),
            ("crates/x/fixtures/v1/a.md", "torn "),
        ] {
            assert_eq!(problems(path, text), [""; 0], "{path}: {text:?}");
        }
    }

    #[test]
    fn private_keys_are_named_and_their_headers_are_not() {
        let header = |kind: &str| format!("{}{kind}{}-----", super::KEY_OPENS, super::KEY_NAME);
        let body = "MIIEowIBAAKCAQEA0123456789abcdefghijklmnop";
        for text in [
            format!("{}\n{body}\n", header("RSA ")),
            format!("{}\n{}\n{}\n", header(""), &body[..20], &body[20..]),
            format!("{}\nProc-Type: 4,ENCRYPTED\n\n{body}\n", header("EC ")),
            format!("{{\"key\": \"{}\\n{body}\\n\"}}\n", header("OPENSSH ")),
        ] {
            let found = problems("fuzz/seeds/x/key", &text);
            assert_eq!(
                found,
                ["fuzz/seeds/x/key:1: a private key: revoke it, and never commit one"]
            );
        }
        for text in [
            format!("\"{}\",\n", header("")),
            format!("{}\nMIIEow+/12=\nAbc\n-----END\n", header("RSA ")),
            format!(
                "r\"{}[A-Z ]{{0,40}}{}-----\"\n",
                super::KEY_OPENS,
                super::KEY_NAME
            ),
        ] {
            assert_eq!(problems("a.rs", &text), Vec::<String>::new(), "{text}");
        }
    }
}
