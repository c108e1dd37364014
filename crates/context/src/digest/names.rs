//! Identifiers: exact strings that later work needs and that a paraphrase loses.
//!
//! Owns: finding paths, addresses, hashes, ids, numbers with units, versions and signatures in any text, in one pass.
//! Never: judging their relevance; `reader` knows the references.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

/// How specific a string is as an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// A word of code: it counts only if something else refers to it.
    Weak,
    /// A path, number with unit, version, constant.
    Fair,
    /// An address, id, hash, place in a file, signature with its types.
    Strong,
}

/// One identifier in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameSpan {
    pub(crate) range: Range<usize>,
    pub(crate) strength: Strength,
}

/// Longer strings are data.
const NAME_BYTES_MAX: usize = 200;
const URL_BYTES_MAX: usize = 600;
const SIGNATURE_BYTES_MAX: usize = 240;

/// In lower case, between spaces.
const UNITS: &str = " ms s sec secs second seconds min mins minute minutes h hour hours day days week weeks month \
    months b kb mb gb tb kib mib gib bytes bit bits hz khz mhz ghz rps qps req/s mb/s gb/s fps \
    px em rem km m cm mm kg g w v usd eur euro percent tokens rows retries connections threads \
    workers requests ";

const EXTENSIONS: [&str; 72] = [
    "rs", "py", "js", "ts", "tsx", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs", "rb",
    "php", "swift", "scala", "sh", "bash", "zsh", "ps1", "sql", "md", "txt", "json", "yaml", "yml", "toml",
    "xml", "html", "css", "scss", "vue", "svelte", "ini", "cfg", "conf", "env", "lock", "log", "csv", "tsv",
    "proto", "tf", "lua", "pl", "ex", "exs", "erl", "hs", "ml", "clj", "dart", "r", "ipynb", "mjs", "cjs",
    "gradle", "mk", "png", "svg", "pdf", "zip", "gz", "db", "sqlite", "parquet", "rst", "service", "bak",
];

/// Whether a list contains a word.
fn listed(list: &str, word: &str) -> bool {
    let borders = |at: usize| list[..at].ends_with(' ') && list[at + word.len()..].starts_with(' ');
    !word.is_empty() && list.match_indices(word).any(|(at, _)| borders(at))
}

/// The identifiers of a text, in order, not overlapping.
pub(crate) fn names(text: &str) -> Vec<NameSpan> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = joined(text, at);
        if length == 0 {
            at += 1;
            while !text.is_char_boundary(at) {
                at += 1;
            }
            continue;
        }
        let start = at;
        at += bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        let is_plain = bytes.get(at).is_none_or(|after| is_plain_end(*after));
        if is_plain && at > start {
            continue;
        }
        while at < bytes.len() {
            let length = joined(text, at);
            if length == 0 {
                break;
            }
            at += length;
        }
        let token = start..at;
        if let Some(name) = address(text, &token).or_else(|| signature(text, &token)) {
            at = at.max(name.range.end);
            found.push(name);
        } else if let Some(name) = number(text, &token).or_else(|| word(text, &token)) {
            at = at.max(name.range.end);
            found.push(name);
        }
    }
    found
}

/// Whether a byte ends a plain word of small letters: the word is no part of a longer token and has no parameters.
fn is_plain_end(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\n' | b'\t' | b',' | b';' | b'"' | b'\'' | b')' | b'!' | b'?'
    )
}

/// The bytes of the character at `at` if it can be inside an identifier, else 0.
fn joined(text: &str, at: usize) -> usize {
    let byte = text.as_bytes()[at];
    if byte.is_ascii() {
        let inside = byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'#' | b'%' | b'+' | b'~' | b'$'
            );
        return usize::from(inside);
    }
    match text[at..].chars().next() {
        Some(c) if c < '\u{2e80}' && c.is_alphanumeric() => c.len_utf8(),
        Some(c @ ('€' | '£' | 'µ')) => c.len_utf8(),
        _ => 0,
    }
}

fn trimmed(text: &str, token: &Range<usize>) -> Range<usize> {
    let whole = &text[token.clone()];
    let start = whole.trim_start_matches([':', '-', '+', '%']);
    let bare = start.trim_end_matches(['.', ':', '-', '/', '+', '#', '@', '~', '$']);
    let start = token.start + (whole.len() - start.len());
    start..start + bare.len()
}

/// A URL or an e-mail address.
fn address(text: &str, token: &Range<usize>) -> Option<NameSpan> {
    let word = &text[token.clone()];
    if let Some(scheme) = word.find("://").filter(|&at| at > 1) {
        let before = &word[..scheme];
        let bare =
            before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        let start = token.start + bare.len();
        let stop = |c: char| {
            c.is_whitespace()
                || c.is_control()
                || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\' | '|')
                || c >= '\u{2e80}'
        };
        let rest = &text[start..text.floor_char_boundary(start + URL_BYTES_MAX)];
        let end = rest.find(stop).unwrap_or(rest.len());
        let url = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '*']);
        return (url.len() > before.len() - bare.len() + 3).then(|| NameSpan {
            range: start..start + url.len(),
            strength: Strength::Strong,
        });
    }
    let range = trimmed(text, token);
    let (user, host) = text[range.clone()].split_once('@')?;
    let mail = !user.is_empty()
        && host.contains('.')
        && !host.contains(['/', '@'])
        && host.len() > 3
        && range.len() <= NAME_BYTES_MAX;
    mail.then_some(NameSpan {
        range,
        strength: Strength::Strong,
    })
}

/// A name with its parameters directly after it, and its return type.
fn signature(text: &str, token: &Range<usize>) -> Option<NameSpan> {
    if text.as_bytes().get(token.end) != Some(&b'(') {
        return None;
    }
    let name = &text[token.clone()];
    let named = name.len() >= 3
        && name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && !name.contains('/');
    let rest = &text[token.end..text.floor_char_boundary(token.end + SIGNATURE_BYTES_MAX)];
    let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let mut depth = 0_i32;
    let close = rest.bytes().position(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        depth == 0
    })?;
    let inside = &rest[1..close];
    let mut end = token.end + close + 1;
    let after = rest[close + 1..].trim_start();
    let returns = after.strip_prefix("->").or_else(|| {
        rest[close + 1..]
            .strip_prefix(':')
            .filter(|kind| kind.starts_with(' '))
    });
    if let Some(kind) = returns.filter(|kind| {
        kind.trim_start()
            .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '&' | '('))
    }) {
        let lead = rest.len() - kind.len() + (kind.len() - kind.trim_start().len());
        let typed = &rest[lead..];
        let stop = typed.find([' ', '{', ';', '`', '"', ',']).unwrap_or(typed.len());
        let stop = typed[..stop].rfind('<').map_or(stop, |open| {
            typed[open..]
                .find('>')
                .map_or(stop, |shut| stop.max(open + shut + 1))
        });
        end = token.end + lead + typed[..stop].trim_end_matches(['.', ':', '。']).len();
    }
    let coded = name.contains(['_', '.', ':']) || name.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let typed = returns.is_some() || inside.contains([':', ',', '=']) || inside.contains(' ') && coded;
    let strength = match (typed, coded) {
        (true, _) => Strength::Strong,
        (false, true) => Strength::Fair,
        (false, false) => Strength::Weak,
    };
    (named && (inside.len() > 1 || coded)).then_some(NameSpan {
        range: token.start..end,
        strength,
    })
}

/// A significant number: with a unit, a sign, or many digits.
fn number(text: &str, token: &Range<usize>) -> Option<NameSpan> {
    let range = trimmed(text, token);
    let word = &text[range.clone()];
    let bare = word.trim_start_matches(['$', '€', '£', '~']);
    if !bare.starts_with(|c: char| c.is_ascii_digit())
        || word.len() > 40
        || bare.contains(['/', '-', ':']) && !bare.contains("/s")
    {
        return None;
    }
    let digits = bare
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '_'))
        .unwrap_or(bare.len());
    let unit = &bare[digits..];
    if bare[..digits].matches('.').count() > 1 {
        return None;
    }
    let priced = bare.len() < word.len();
    let fair = |end: usize| {
        Some(NameSpan {
            range: range.start..end,
            strength: Strength::Fair,
        })
    };
    if unit.is_empty() {
        let rest = &text[token.end..];
        let spaced = rest.strip_prefix(' ').unwrap_or(rest);
        let next = spaced
            .find(|c: char| !c.is_alphanumeric() && c != '/')
            .unwrap_or(spaced.len());
        let next = &spaced[..spaced.floor_char_boundary(next.min(12))];
        if next.chars().next().is_some_and(|c| c >= '\u{2e80}') {
            return fair(
                token.end
                    + (rest.len() - spaced.len())
                    + next.chars().take(2).map(char::len_utf8).sum::<usize>(),
            );
        }
        if listed(UNITS, &next.to_ascii_lowercase()) && token.end == range.end {
            return fair(token.end + (rest.len() - spaced.len()) + next.len());
        }
        let long = bare.len() >= 4 && bare.bytes().filter(u8::is_ascii_digit).count() >= 4;
        return if long || priced { fair(range.end) } else { None };
    }
    let short = unit.len() <= 3 && unit.chars().all(|c| c.is_alphabetic() || c == '%');
    let known = short || listed(UNITS, &unit.to_ascii_lowercase());
    if known { fair(range.end) } else { None }
}

/// A path, id, hash, version, constant or word of code.
fn word(text: &str, token: &Range<usize>) -> Option<NameSpan> {
    let range = trimmed(text, token);
    let word = &text[range.clone()];
    if word.len() < 3 || word.len() > NAME_BYTES_MAX {
        return None;
    }
    let strength = strength(word)?;
    Some(NameSpan { range, strength })
}

fn strength(word: &str) -> Option<Strength> {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let letters = count(u8::is_ascii_alphabetic);
    let upper = count(u8::is_ascii_uppercase);
    if digits + upper == 0 && !word.contains(['/', '.', '_', '-', ':']) {
        return None;
    }
    if let Some(strength) = place(word, digits) {
        return Some(strength);
    }
    if is_id(word, digits, letters) {
        return Some(Strength::Strong);
    }
    if let Some(rest) = word.strip_prefix('#') {
        return rest
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(Strength::Fair);
    }
    if let Some((key, number)) = word.split_once('-') {
        let issue = key.len() >= 2 && key.bytes().all(|byte| byte.is_ascii_uppercase()) && !number.is_empty();
        if issue && number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Strength::Strong);
        }
    }
    let dots = word.matches('.').count();
    let plain = word.strip_prefix('v').unwrap_or(word);
    let numeric = plain.starts_with(|c: char| c.is_ascii_digit()) && digits > 1;
    if numeric && (dots >= 2 || dots == 1 && plain.len() < word.len() || dashed_date(word)) {
        return Some(if dots == 3 && digits + 3 == word.len() {
            Strength::Strong
        } else {
            Strength::Fair
        });
    }
    let shouted = upper >= 3 && word.contains('_') && !word.bytes().any(|byte| byte.is_ascii_lowercase());
    if shouted {
        return Some(Strength::Fair);
    }
    let inner = word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()) && upper < letters;
    (word.contains('_') || word.contains("::") || inner || digits > 0 && letters > 0)
        .then_some(Strength::Weak)
}

fn dashed_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 10 && bytes[4] == b'-' && bytes[7] == b'-' && bytes[..4].iter().all(u8::is_ascii_digit)
}

/// A path or host, alone or followed by a line or port.
fn place(word: &str, digits: usize) -> Option<Strength> {
    if !word.contains(['/', '.', ':']) {
        return None;
    }
    let (path, tail) = word.split_once(':').unwrap_or((word, ""));
    let counted = !tail.is_empty()
        && tail
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'-'));
    let letters = path.bytes().any(|byte| byte.is_ascii_alphabetic());
    let (stem, extension) = path.rsplit_once('.').unwrap_or((path, ""));
    let file = !extension.is_empty() && !stem.is_empty() && EXTENSIONS.contains(&extension);
    let slashes = path.matches('/').count();
    let rooted = path.starts_with(['/', '~']) || path.starts_with("./") || path.starts_with("../");
    let is_path = letters
        && (file && tail.is_empty() | counted || slashes >= 2 || slashes == 1 && rooted && path.len() > 4);
    if counted
        && (is_path
            || letters && path.len() > 2 && tail.len() >= 2
            || path.matches('.').count() == 3 && digits > 4)
    {
        return Some(Strength::Strong);
    }
    (is_path && tail.is_empty()).then_some(Strength::Fair)
}

/// A UUID, a hash, or another generated string.
fn is_id(word: &str, digits: usize, letters: usize) -> bool {
    let bare = word.rsplit([':', '@']).next().unwrap_or(word);
    let bare = bare.strip_prefix("0x").unwrap_or(bare);
    let hex = bare.bytes().filter(u8::is_ascii_hexdigit).count();
    let dashes = bare.bytes().filter(|&byte| byte == b'-').count();
    if bare.len() == 36 && dashes == 4 && hex == 32 {
        return true;
    }
    let some_digits = bare.bytes().filter(u8::is_ascii_digit).count();
    if hex == bare.len() && bare.len() >= 7 && some_digits >= 2 {
        return some_digits < bare.len() || bare.len() >= 9;
    }
    let mixed = digits >= 3 && letters >= 3 && word.len() >= 10 && !word.contains(['/', '.']);
    mixed
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A hash that is equal for equal names, in every run and on every machine.
pub(crate) fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str, least: Strength) -> Vec<&str> {
        names(text)
            .into_iter()
            .filter(|name| name.strength >= least)
            .map(|name| &text[name.range])
            .collect()
    }

    #[test]
    fn each_kind_of_identifier_is_found_whole() {
        for (text, strong) in [
            (
                "see src/a/b.rs:42, or (lib.py:7)",
                vec!["src/a/b.rs:42", "lib.py:7"],
            ),
            ("at https://x.io/a?b=c&d=1#e.", vec!["https://x.io/a?b=c&d=1#e"]),
            (
                "mail ann@example.org; id 550e8400-e29b-41d4-a716-446655440000",
                vec!["ann@example.org", "550e8400-e29b-41d4-a716-446655440000"],
            ),
            (
                "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 or `a1b2c3d`",
                vec!["9fceb02d0ae598e95dc970b74767f19372d61af8", "a1b2c3d"],
            ),
            (
                "call fn sum_all(xs: &[u8], n: usize) -> Result<u64, E> {",
                vec!["sum_all(xs: &[u8], n: usize) -> Result<u64, E>"],
            ),
            ("def load(path, retries=3):", vec!["load(path, retries=3)"]),
            (
                "PROJ-123 on db.internal:5432 (10.0.0.7)",
                vec!["PROJ-123", "db.internal:5432", "10.0.0.7"],
            ),
        ] {
            assert_eq!(found(text, Strength::Strong), strong);
        }
        let fair = found(
            "512 MB, 30s, 99.5%, $40, v1.2, 1.2.3, port 8443, 等待30秒, MAX_RETRIES, #12, 2024-05-06",
            Strength::Fair,
        );
        let wanted = [
            "512 MB", "30s", "99.5%", "$40", "v1.2", "1.2.3", "8443", "30秒", "MAX_RETRIES", "#12",
            "2024-05-06",
        ];
        assert_eq!(fair, wanted);
    }

    #[test]
    fn prose_contains_no_identifiers() {
        assert!(
            found(
                "We tried it 3 times, and/or asked e.g. Bob. Function(s) are fine; item 2 too.",
                Strength::Fair
            )
            .is_empty()
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_ordered_names(text in "([a-z0-9 :/.@(){}<>,#$%-]|\\PC|https://|\\n){0,80}") {
            let mut last = 0;
            for name in names(&text) {
                prop_assert!(name.range.start >= last && text.get(name.range.clone()).is_some_and(|name| !name.is_empty()));
                last = name.range.end;
            }
        }
    }
}
