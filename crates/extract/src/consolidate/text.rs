//! Text that is safe in a page, an entry or a prompt, and ids made from text.
//!
//! Owns: replaced characters, the cut of a text, and the hashes in ids. Never: the meaning of a
//! text.

use sha2::{Digest as _, Sha256};

/// One line of at most `chars_max` characters that can neither close a mark around it nor pose as a
/// citation. Drops control and direction characters, and replaces angle and square brackets by
/// look-alikes.
pub fn plain(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        let word: String = word.chars().filter(|c| !is_invisible(*c)).map(inert).collect();
        if !word.is_empty() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&word);
        }
    }
    if out.chars().nth(chars_max).is_none() {
        return out;
    }
    let kept: String = out.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn inert(c: char) -> char {
    match c {
        '<' => '‹',
        '>' => '›',
        '[' => '(',
        ']' => ')',
        c => c,
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The first `digits` hexadecimal digits of a hash of these parts; the borders between the parts
/// count.
pub(crate) fn hash(parts: &[&str], digits: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut out = model::hex(hash.finalize());
    out.truncate(digits);
    out
}
