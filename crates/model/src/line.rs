//! A text as one line, its beginning, and bytes and text in percent-encoding and hexadecimal.
//!
//! Owns: the forms that every crate writes the same way. Never: the meaning of a text.

use std::fmt::Write as _;

/// A text on one line, with single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The longest beginning of a text with at most `chars_max` characters.
pub fn head(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max);
    end.map_or(text, |(at, _)| &text[..at])
}

/// A text on one line; a text of more than `chars_max` characters is cut and ends with `…`.
pub fn excerpt(text: &str, chars_max: usize) -> String {
    let mut line = one_line(text);
    if let Some((end, _)) = line.char_indices().nth(chars_max) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// The beginning of a text on one line, cut between words; `sign` replaces the rest.
pub fn beginning(text: &str, chars_max: usize, sign: &str) -> String {
    let line = one_line(text);
    let cut = head(&line, chars_max);
    if cut.len() == line.len() {
        return line;
    }
    let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    format!("{words}{sign}")
}

/// A text for a path or query of an address, percent-encoded.
pub fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a string takes any text");
        }
    }
    out
}

/// Bytes in hexadecimal.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("a string takes any text");
        out
    })
}

/// The bytes of hexadecimal digits that [`hex`] wrote.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| byte(pair).filter(|_| pair.len() == 2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_between_characters() {
        assert_eq!(one_line(" a\n\tb  c "), "a b c");
        assert_eq!((head("äöü", 2), head("äöü", 3)), ("äö", "äöü"));
        assert_eq!(
            (excerpt("ä  öü", 3), excerpt("ä  öü", 4)),
            ("ä ö…".into(), "ä öü".into())
        );
        let cuts = [9, 13, 2].map(|chars_max| beginning("one two  three", chars_max, " …"));
        assert_eq!(cuts, ["one two …", "one two three", "on …"]);
    }

    #[test]
    fn bytes_are_written_percent_encoded_and_in_hexadecimal() {
        assert_eq!(percent_encoded("a-z_0.~ ä/?"), "a-z_0.~%20%C3%A4%2F%3F");
        let bytes = vec![0, 0x0f, 0xa0, 0xff];
        assert_eq!(hex(&bytes), "000fa0ff");
        assert_eq!(unhex("000fa0ff"), Some(bytes));
        assert_eq!((unhex("0"), unhex("0g")), (None, None));
    }
}
