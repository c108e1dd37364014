//! Passwords and keys in sentences: "my db password was X", "das Passwort lautet X", "密码是X", "X is
//! my password".
//!
//! Owns: the words for a password in many languages, and the choice of the word near one that is
//! the password. Never: settings and code; see `assign`.

use std::ops::Range;

use super::assign::{is_file, is_filled, kind};
use super::{FoundSecret, LazyPattern};

/// Maximum number of words between the name and its value, on one line.
const WORDS_MAX: usize = 8;
/// Maximum distance of those words, in bytes; it bounds the work for a long line with many names.
const REACH_BYTES_MAX: usize = 400;
/// Minimum characters of a password; a shorter word is too often a plain one with a number.
const VALUE_CHARS_MIN: usize = 6;

/// Words for a password (group 1) and for a key (group 2), with the endings of their language.
const NAMES: &str = concat!(
    r"(?i)(pass ?words?|passwd|pass ?phrase|pass ?code|(?-u:\b)pwd?(?-u:\b)|cred(?:ential)?s|credential|mots? de passe|passw[oö]rt(?:s|es)?|kennwort|",
    r"contraseña|clave de acceso|senha|palavra-passe|wachtwoord|lösenord(?:et)?|passord(?:et)?|adgangskoden?|kodeord(?:et)?|salasana(?:ni)?|",
    r"hasło|hasła|hesl[oa]|parola|parolă|şifre(?:m|miz|si)?|jelsz[óa](?:m|va)?|пароль|паролем|пароля|κωδικός|סיסמה|הסיסמה|",
    r"كلمة المرور|كلمة السر|पासवर्ड|mật khẩu|kata sandi|รหัสผ่าน|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호)",
    r"|(api[ -]?key|access[ -]?key|private[ -]?key|secret[ -]?key|auth[ -]?key|token|secret|api-schlüssel|clé api|clave api|chave api|密钥|令牌)",
);

/// Words between a name and its value.
const LINKS: &[&str] = &[
    "is", "was", "are", "be", "to", "now", "ist", "jetzt", "auf", "war", "lautet", "lautete", "heißt", "est",
    "était", "es", "era", "é", "è", "foi", "são", "är", "var", "jest", "brzmi", "je", "to", "это", "—", "–",
    "-", "->", "→", "=", "是", "为", "為", "は", "が", "는", "은", "가", "이", "là", "adalah", "คือ", "है",
    "هي", "هو", "olarak", "as", "als", "comme", "como", "come", "som", "jako", "как",
];

/// Beginnings of names of techniques; these are near "password" as often as passwords are.
const TECHNIQUES: &[&str] = &[
    "sha1", "sha2", "sha3", "sha5", "sha-", "md5", "argon2", "bcrypt", "scrypt", "pbkdf", "base64", "base32",
    "utf8", "utf-8", "oauth", "x509", "x.509", "aes", "rsa", "ed25519", "rfc", "http", "ntlm", "kerberos",
    "ascii", "ipv", "iso",
];

static NAMES_REGEX: LazyPattern = LazyPattern::new(NAMES);

/// Appends the secrets of `text`.
pub(super) fn find(text: &str, secrets: &mut Vec<FoundSecret>) {
    for groups in NAMES_REGEX.get().captures_iter(text) {
        let Some(name) = groups.get(0) else { continue };
        let is_password = groups.get(1).is_some();
        if !is_word(text, name.range(), is_password) {
            continue;
        }
        let kind = if is_password {
            "password"
        } else {
            kind(&name.as_str().to_lowercase())
        };
        let found = after(text, name.end()).or_else(|| before(text, name.range()));
        secrets.extend(found.map(|range| FoundSecret { range, kind }));
    }
}

/// Whether the name is a word of a sentence and no part of code. A word for a password can end a
/// longer one, such as "Datenbankpasswort".
fn is_word(text: &str, name: Range<usize>, is_password: bool) -> bool {
    let before = text[..name.start].chars().next_back();
    let after = text[name.end..].chars().next();
    let begins = before.is_none_or(|c| match c {
        '-' => is_password,
        _ if c.is_ascii() => {
            c.is_whitespace()
                || matches!(c, '(' | '"' | '\'' | '*')
                || (is_password && c.is_ascii_lowercase())
        }
        _ => true,
    });
    let ends = after.is_none_or(|c| {
        !c.is_ascii() || c.is_whitespace() || matches!(c, ':' | '"' | '\'' | '*' | ',' | '.' | '!' | ')')
    });
    begins && ends
}

/// The first word after the name that a link, a colon or the name itself introduces and that looks
/// made up.
fn after(text: &str, at: usize) -> Option<Range<usize>> {
    if text[at..].starts_with(['.', ',', '!', ')']) {
        return None;
    }
    let reach = &text[at..text.floor_char_boundary(at + REACH_BYTES_MAX)];
    let line = reach.split('\n').next().unwrap_or_default();
    let mut introduced = true;
    for word in line_words(line).take(WORDS_MAX) {
        let range = at + word.start..at + word.end;
        let said = &text[range.clone()];
        if introduced && let Some(value) = made_up(text, range) {
            return Some(value);
        }
        introduced = said.ends_with([':', '：']) || is_link(said);
        // The next sentence has another subject.
        if said.ends_with(['.', '。', '?']) {
            return None;
        }
    }
    None
}

/// The word before "is my password", if the name ends the clause.
fn before(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let ends = text[name.end..]
        .chars()
        .find(|c| *c != ' ')
        .is_none_or(|c| !c.is_alphanumeric());
    if !ends {
        return None;
    }
    let from = text.floor_char_boundary(name.start.saturating_sub(REACH_BYTES_MAX));
    let from = text[from..name.start]
        .rfind('\n')
        .map_or(from, |at| from + at + 1);
    let earlier: Vec<Range<usize>> = line_words(&text[from..name.start]).collect();
    let mut near = earlier
        .iter()
        .rev()
        .take(5)
        .map(|word| from + word.start..from + word.end);
    near.find(|word| is_link(&text[word.clone()]))?;
    made_up(text, near.next()?)
}

/// The words of a line: between spaces, and at the borders of a script without spaces.
fn line_words(line: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = line.char_indices().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|(_, c)| c.is_whitespace() || is_stop(*c)).is_some() {}
        let (start, first) = rest.next()?;
        let mut end = start + first.len_utf8();
        while let Some((at, c)) =
            rest.next_if(|(_, c)| !c.is_whitespace() && !is_stop(*c) && is_unspaced(*c) == is_unspaced(first))
        {
            end = at + c.len_utf8();
        }
        Some(start..end)
    })
}

/// Punctuation between words without a space.
fn is_stop(c: char) -> bool {
    matches!(
        c,
        '，' | '、'
            | '；'
            | '「'
            | '」'
            | '『'
            | '』'
            | '（'
            | '）'
            | '"'
            | '“'
            | '”'
            | '„'
            | '«'
            | '»'
            | '`'
            | ','
            | ';'
            | '<'
            | '>'
    )
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{0e00}'..='\u{0e7f}' | '。' | '：')
}

fn is_link(word: &str) -> bool {
    LINKS.contains(&word.to_lowercase().as_str())
}

/// The word without the punctuation around it, if it looks like no dictionary word, and like no
/// name of a file, a place or a technique.
fn made_up(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let said = &text[word.clone()];
    let head = said.trim_start_matches(['\'', '(', '[', ':', '=', '*', '_', '‘']);
    let value = head.trim_end_matches(['.', ',', ':', '?', '\'', ')', ']', '’', '*', '…']);
    let start = word.end - head.len();
    let range = start..start + value.len();
    let is_long = value.chars().count() >= VALUE_CHARS_MIN;
    (is_long && !is_place(value) && !is_technique(value) && is_mixed(value)).then_some(range)
}

/// Whether letters are next to digits, or next to a sign that words do not contain.
fn is_mixed(value: &str) -> bool {
    let inner = value.trim_end_matches('!');
    let sign = inner
        .chars()
        .any(|c| matches!(c, '#' | '!' | '@' | '$' | '%' | '^' | '&' | '*' | '+' | '~'));
    let digit = value.chars().any(|c| c.is_ascii_digit());
    let letter = value.chars().any(char::is_alphabetic);
    let pairs = value.chars().zip(value.chars().skip(1));
    let adjacent = pairs
        .into_iter()
        .any(|(a, b)| (a.is_ascii_digit() && b.is_alphabetic()) || (a.is_alphabetic() && b.is_ascii_digit()));
    letter && (adjacent || (sign && (digit || value.chars().count() >= 8)))
}

/// Whether it is a path, an address, a file, code, or a placeholder.
fn is_place(value: &str) -> bool {
    let code = ["://", "::", "->", "(", "${", "{{"]
        .iter()
        .any(|part| value.contains(part));
    let begins =
        value.starts_with(['/', '.', '-', '$', '{', '%', '#', '&']) && !value[1..].contains(['!', '#', '@']);
    let mail = value.split_once('@').is_some_and(|(_, host)| {
        host.rsplit_once('.')
            .is_some_and(|(_, end)| end.chars().all(char::is_alphabetic))
    });
    code || begins || mail || !is_filled(value) || is_file(value)
}

/// `sha256`, `argon2id`, `12-character`, `3rd`.
fn is_technique(value: &str) -> bool {
    let lower = value.to_lowercase();
    let after_number = lower.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = lower.len() - after_number.len();
    let counted = (1..=3).contains(&number)
        && after_number
            .trim_start_matches('-')
            .chars()
            .all(char::is_lowercase);
    counted || TECHNIQUES.iter().any(|name| lower.starts_with(name))
}
