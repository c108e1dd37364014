//! Values known as secrets by the name they are given to, or by the look of a value that is given to any name.
//!
//! Owns: telling `password = "x1"` from code and prose about passwords. Never: forms that speak for themselves; see
//! `shapes`.

use std::sync::LazyLock;

use regex::Regex;

use super::FoundSecret;

/// A name that ends like a secret's, an assignment, a value in or without quotes.
const NAMED: &str = concat!(
    r"(?i)(password|passwd|passphrase|passcode|pwd|(?:(?-u:\b)|_)pass|secret|token|api[_\- ]?key|access[_\- ]?key|private[_\- ]?key",
    r"|secret[_\- ]?key|auth[_\- ]?key|credentials?|mot de passe|passwort|kennwort|contraseña|senha|пароль|密码|密碼|パスワード|비밀번호)",
    r#"\\?["'`]?\s{0,4}(?::=|=>|==?|:|\x{FF1A}|\s(?:is|est|ist|es|是)\s)\s{0,4}"#,
    r#"(?:\\?"([^"\\\n]{4,400})|'([^'\n]{4,400})|`([^`\n]{4,400})|([^\s"'`,;&<>\[\]{}()]{4,400}))"#,
);

/// Any name in capitals, or any name with a value in quotes, given a long value without spaces.
const ANY: &str = r#"(?:(?-u:\b)[A-Z][A-Z0-9_]{2,60}\s?[=:]\s?["']?|(?-u:[A-Za-z0-9_])["']?\s?[=:]\s?["'])([A-Za-z0-9+/_=.~-]{24,400})"#;

static NAMED_REGEX: LazyLock<Regex> = LazyLock::new(|| Regex::new(NAMED).expect("a test compiles it"));
static ANY_REGEX: LazyLock<Regex> = LazyLock::new(|| Regex::new(ANY).expect("a test compiles it"));

/// Appends the secrets of `text`.
pub(super) fn find(text: &str, secrets: &mut Vec<FoundSecret>) {
    for groups in NAMED_REGEX.captures_iter(text) {
        let name = groups.get(1).map_or("", |name| name.as_str()).to_lowercase();
        let quoted = (2..=4).find_map(|group| groups.get(group));
        let secret = match (quoted, groups.get(5)) {
            (Some(value), _) => is_filled(value.as_str()).then_some(value),
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
    for groups in ANY_REGEX.captures_iter(text) {
        let value = groups.get(1).filter(|value| is_random(value.as_str()));
        secrets.extend(value.map(|value| FoundSecret {
            range: value.range(),
            kind: "high-entropy",
        }));
    }
}

fn kind(name: &str) -> &'static str {
    match name {
        "token" => "token",
        "secret" => "secret",
        "credential" | "credentials" => "credential",
        _ if name.ends_with("key") => "key",
        _ => "password",
    }
}

/// A value in quotes that is not a place for one to be filled in, nor a sentence.
fn is_filled(value: &str) -> bool {
    let lower = value.to_lowercase();
    let open = ["${", "$(", "{{", "{%", "<", "**", "%(", "...", "xxx", "your"];
    let variable = value
        .strip_prefix('$')
        .is_some_and(|name| name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'_')));
    let hollow = variable || open.iter().any(|open| lower.starts_with(open));
    let words = value.split_whitespace().count();
    !hollow && words <= 1
}

/// A value without quotes: code and prose put other names there, so it has to look like no name.
fn is_bare_secret(name: &str, sign: &str, value: &str, after: Option<char>) -> bool {
    if !is_filled(value) || value.starts_with('\\') || matches!(after, Some('(' | '[' | '{')) {
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

/// Looks drawn by lot: capitals, small letters and digits in turn. A hash in hexadecimal, a UUID, a path, a name in any
/// common style does not.
fn is_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    let class = |byte: &u8| match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let mut counts = [0_usize; 4];
    let mut changes = 0;
    for (place, byte) in bytes.iter().enumerate() {
        counts[class(byte)] += 1;
        changes += usize::from(place > 0 && class(&bytes[place - 1]) != class(byte));
    }
    let named =
        value.contains("..") || value.bytes().filter(|byte| *byte == b'.').count() > 1 || is_file(value);
    !named && counts[0] >= 3 && counts[1] >= 3 && counts[2] >= 2 && changes * 3 >= bytes.len()
}

/// Ends like the name of a file.
fn is_file(value: &str) -> bool {
    value.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=5).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
