//! A text as one line, its beginning, and bytes and text in the letters of an address.
//!
//! Owns: the forms that every crate writes the same way. Never: what a text means.

use std::fmt::Write as _;

/// A text on one line, with single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The longest beginning of a text with at most so many characters.
pub fn head(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max);
    end.map_or(text, |(at, _)| &text[..at])
}

/// A text on one line; `…` ends it if more than so many characters were cut.
pub fn excerpt(text: &str, chars_max: usize) -> String {
    let mut line = one_line(text);
    if let Some((end, _)) = line.char_indices().nth(chars_max) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// The beginning of a text on one line, not cut within a word; `sign` stands for the rest.
pub fn beginning(text: &str, chars_max: usize, sign: &str) -> String {
    let line = one_line(text);
    let cut = head(&line, chars_max);
    if cut.len() == line.len() {
        return line;
    }
    let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    format!("{words}{sign}")
}

/// A text in a path or query of an address.
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

/// The bytes that [`hex`] shows.
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
    fn bytes_are_written_in_the_letters_of_an_address() {
        assert_eq!(percent_encoded("a-z_0.~ ä/?"), "a-z_0.~%20%C3%A4%2F%3F");
        let bytes = vec![0, 0x0f, 0xa0, 0xff];
        assert_eq!(hex(&bytes), "000fa0ff");
        assert_eq!(unhex("000fa0ff"), Some(bytes));
        assert_eq!((unhex("0"), unhex("0g")), (None, None));
    }
}
