//! What no file of the tree may hold: large data, private keys.
//!
//! Owns: these checks and the files that are exempt. Never: white space and merge markers, which `git diff --check` finds.

use crate::tree::RawFile;

const BYTES_MAX: usize = 256 << 10;

/// Files that may be larger: generated, or needed to build and test.
const LARGE: [&str; 4] = [
    "Cargo.lock",
    "crates/providers/assets/",
    "docs/openapi.json",
    "fuzz/Cargo.lock",
];

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
    let text = String::from_utf8_lossy(&file.bytes);
    for (number, _) in (1..).zip(text.lines()).filter(|(_, line)| opens_key(line)) {
        problems.push(format!(
            "{path}:{number}: a private key: revoke it, and never commit one"
        ));
    }
    problems
}

/// Whether a line is the header of a key. Code that looks for keys has the header between quotes.
fn opens_key(line: &str) -> bool {
    line.starts_with("-----BEGIN ") && line.trim_end().ends_with("PRIVATE KEY-----")
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
    fn private_keys_are_named_and_their_headers_in_code_are_not() {
        for kind in ["", "RSA ", "EC ", "OPENSSH "] {
            let header = format!("-----BEGIN {kind}PRIVATE KEY-----");
            assert_eq!(
                problems("fuzz/seeds/x/key", &format!("a\n{header}\nMIIE\n")),
                ["fuzz/seeds/x/key:2: a private key: revoke it, and never commit one"]
            );
            assert_eq!(problems("a.rs", &format!("    \"{header}\",\n")), [""; 0]);
        }
        assert_eq!(problems("a.pem", "-----BEGIN CERTIFICATE-----\n"), [""; 0]);
    }
}
