//! Values recognised as secrets by their name, or by their random look under any name.
//!
//! Owns: distinguishing `password = "x1"` from code and prose about passwords. Never: secrets with
//! a form of their own; see `shapes`.

use super::{FoundSecret, LazyPattern, hints_at};

/// A name with a secret's ending, an assignment, a value with or without quotes.
const NAMED: &str = concat!(
    r"(?i)(password|passwd|passphrase|passcode|pwd|(?:(?-u:\b)|_)pass|secret|token|api[_\- ]?key|access[_\- ]?key|private[_\- ]?key",
    r"|secret[_\- ]?key|auth[_\- ]?key|secret_key_base|credentials?|mot de passe|passwort|kennwort|contraseña|senha|wachtwoord|lösenord|hasło|пароль|密码|密碼|パスワード|비밀번호)",
    r#"\\?["'`]?\s{0,4}(?::=|=>|==?|:|\x{FF1A}|\s(?:is|was|est|ist|lautet|es|é|è|是)\s)\s{0,4}"#,
    r#"(?:\\?["“„«]([^"\\\n”“»]{4,400})|'([^'\n]{4,400})|`([^`\n]{4,400})|([^\s"'`,;&<>\[\]{}()]{4,400}))"#,
);

/// Each match of [`NAMED`] contains one of these, in lower case.
const NAMED_HINTS: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "kennwort",
    "contraseña",
    "senha",
    "wachtwoord",
    "lösenord",
    "hasło",
    "пар",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
];

/// Any name in capitals, or any name with a value in quotes, and a long value without spaces.
const ANY: &str = r#"(?:(?-u:\b)([A-Z][A-Z0-9_]{2,60})\s?[=:]\s?["']?|(?-u:([A-Za-z0-9_]{1,60}))["']?\s?[=:]\s?["'])([A-Za-z0-9+/_=.~-]{24,400})"#;

/// Endings of names whose random values are public.
const PUBLIC: &[&str] = &[
    "id", "ids", "hash", "digest", "integrity", "checksum", "etag", "md5", "sha1", "sha256", "sha512",
    "fingerprint", "cursor", "url", "uri", "href", "src", "path", "file", "version", "model",
];

/// Hints of [`ANY`].
const ANY_HINTS: &[&str] = &["=", ":"];

static NAMED_REGEX: LazyPattern = LazyPattern::new(NAMED);
static ANY_REGEX: LazyPattern = LazyPattern::new(ANY);

/// Appends the secrets of `text`; `small` is the text in lower case.
pub(super) fn find(text: &str, small: &str, secrets: &mut Vec<FoundSecret>) {
    if hints_at(small, NAMED_HINTS) {
        find_named(text, secrets);
    }
    if hints_at(small, ANY_HINTS) {
        find_any(text, secrets);
    }
}

fn find_named(text: &str, secrets: &mut Vec<FoundSecret>) {
    for groups in NAMED_REGEX.get().captures_iter(text) {
        let name = groups.get(1).map_or("", |name| name.as_str()).to_lowercase();
        let quoted = (2..=4).find_map(|group| groups.get(group));
        let secret = match (quoted, groups.get(5)) {
            (Some(value), _) => is_quoted_secret(&name, value.as_str()).then_some(value),
            (None, Some(value)) => {
                let after = text[value.end()..].chars().next();
                let sign = &text[groups.get(1).map_or(0, |name| name.end())..value.start()];
                is_bare_secret(&name, sign, value.as_str(), after).then_some(value)
            }
            (None, None) => None,
        };
        secrets.extend(secret.map(|value| FoundSecret {
            range: value.range(),
            kind: kind(&name),
        }));
    }
}

fn find_any(text: &str, secrets: &mut Vec<FoundSecret>) {
    for groups in ANY_REGEX.get().captures_iter(text) {
        let name = groups
            .get(1)
            .or_else(|| groups.get(2))
            .map_or("", |name| name.as_str());
        if is_public(name) {
            continue;
        }
        let value = groups.get(3).filter(|value| is_random(value.as_str()));
        secrets.extend(value.map(|value| FoundSecret {
            range: value.range(),
            kind: "high-entropy",
        }));
    }
}

pub(super) fn kind(name: &str) -> &'static str {
    match name {
        "token" => "token",
        "secret" => "secret",
        "credential" | "credentials" => "credential",
        _ if name.ends_with("key") => "key",
        _ => "password",
    }
}

/// Whether the last word of a name, as in `callId`, `tool_call_id` or `ETAG`, is one of [`PUBLIC`].
fn is_public(name: &str) -> bool {
    let is_capital = |at: usize| name.as_bytes()[at].is_ascii_uppercase();
    let starts =
        |at: usize| at == 0 || name.as_bytes()[at - 1] == b'_' || (is_capital(at) && !is_capital(at - 1));
    let last = (0..name.len()).rev().find(|at| starts(*at)).unwrap_or(0);
    PUBLIC.contains(&name[last..].to_lowercase().as_str())
}

/// Placeholders that people write for a secret, or for none.
const HOLLOW: &[&str] = &[
    "none", "null", "true", "false", "string", "text", "password", "required", "optional", "example",
    "hidden",
];

/// Whether a value is neither a placeholder nor a sentence.
pub(super) fn is_filled(value: &str) -> bool {
    let lower = value.to_lowercase();
    let open = [
        "${", "$(", "{{", "{%", "<", "**", "%(", "...", "…", "xxx", "your", "env:", "op://", "process.env",
    ];
    let name = value.strip_prefix('$').unwrap_or(value);
    let variable = (name.len() < value.len() || name.contains('_'))
        && name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'_'));
    let hollow =
        variable || HOLLOW.contains(&lower.as_str()) || open.iter().any(|open| lower.starts_with(open));
    let words = value.split_whitespace().count();
    !hollow && words <= 1
}

/// A password in quotes can be any word; a key cannot.
fn is_quoted_secret(name: &str, value: &str) -> bool {
    let is_drawn = value.len() >= 16 || value.bytes().any(|byte| byte.is_ascii_digit());
    is_filled(value) && (kind(name) == "password" || is_drawn)
}

/// A value without quotes: in code and prose this is often another name, so it must not look like
/// one.
fn is_bare_secret(name: &str, sign: &str, value: &str, after: Option<char>) -> bool {
    // A value after a word, such as "the password is X", is a sentence; see `sentences`.
    let is_sentence = sign.contains(char::is_alphabetic);
    if is_sentence || !is_filled(value) || value.starts_with('\\') || matches!(after, Some('(' | '[' | '{')) {
        return false;
    }
    let passes = kind(name) == "password";
    let digit = value.chars().any(|c| c.is_ascii_digit());
    let letter = value.chars().any(char::is_alphabetic);
    let path = value.contains("::") || value.contains("->");
    let mark = value
        .chars()
        .any(|c| c.is_ascii_punctuation() && !matches!(c, '_' | '.' | ':' | '/' | '-' | '?' | '!'));
    if path {
        return false;
    }
    if passes {
        // `password=hunter` as a setting; `connect(password=password)` and `password: String` are code.
        let setting = sign == "="
            && !matches!(after, Some(')' | ',' | ';'))
            && !value.contains('.')
            && value.to_lowercase() != name;
        return digit || mark || setting;
    }
    (digit && letter && value.chars().count() >= 8) || (mark && digit)
}

/// Whether a value looks random: in its longest part, capitals, small letters and digits alternate.
/// No part of a hash in hexadecimal, a UUID, a path, the name of a model or a name in any common
/// style does so.
pub(super) fn is_random(value: &str) -> bool {
    if value.contains("..") || value.starts_with("sha") || is_file(value) {
        return false;
    }
    let parts = value.split(|c: char| !c.is_ascii_alphanumeric());
    let part = parts.max_by_key(|part| part.len()).unwrap_or_default().as_bytes();
    let class = |byte: &u8| match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    };
    let mut counts = [0_usize; 3];
    for byte in part {
        counts[class(byte)] += 1;
    }
    let changes = part
        .windows(2)
        .filter(|pair| class(&pair[0]) != class(&pair[1]))
        .count();
    counts[0] >= 2 && counts[1] >= 2 && counts[2] >= 1 && part.len() >= 10 && changes * 3 >= part.len()
}

/// Whether a value ends like the name of a file.
pub(super) fn is_file(value: &str) -> bool {
    value.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=5).contains(&end.len())
            && end.starts_with(|first: char| first.is_ascii_alphabetic())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
pub(super) fn patterns() -> [(&'static str, &'static [&'static str]); 2] {
    [(NAMED, NAMED_HINTS), (ANY, ANY_HINTS)]
}
