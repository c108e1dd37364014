//! The body of an e-mail's part.
//!
//! Owns: transfer encodings, the text of a part, quoted lines. Never: the parts of a body.

use encoding_rs::Encoding;

use super::header::Header;
use crate::markdown::Writer;
use crate::{Unreadable, base64, decode};

/// Maximum depth of quotations; deeper ones are written at this depth.
const QUOTES_MAX: usize = 8;

/// The text of a part.
pub(super) fn text(header: &Header, body: &[u8]) -> Result<String, Unreadable> {
    let bytes = match header.kind("content-transfer-encoding").as_str() {
        "base64" => {
            let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
            // Mailing lists append a text of their own after the end.
            let letters = body.iter().copied().take_while(|byte| *byte != b'=');
            let letters: Vec<u8> = letters.filter(is_letter).collect();
            base64(&letters).unwrap_or_default()
        }
        "quoted-printable" => quoted_printable(body),
        _ => body.to_vec(),
    };
    let charset = header.parameter("content-type", "charset");
    match charset.and_then(|label| Encoding::for_label(label.as_bytes())) {
        // Encodings that no page uses, such as that of old Japanese mail.
        Some(encoding) if !encoding.is_ascii_compatible() => {
            Ok(decode::clean(&encoding.decode_without_bom_handling(&bytes).0))
        }
        _ => decode::text(&bytes, header.raw("content-type")),
    }
}

/// The bytes of a quoted-printable text: `=C3=BC`, and lines joined by `=`.
pub(super) fn quoted_printable(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'=', [b'\r', b'\n', more @ ..] | [b'\n', more @ ..]) => rest = more,
            (b'=', [high, low, more @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(digit(*high) << 4 | digit(*low));
                rest = more;
            }
            _ => bytes.push(*first),
        }
    }
    bytes
}

fn digit(letter: u8) -> u8 {
    match letter {
        b'0'..=b'9' => letter - b'0',
        _ => letter.to_ascii_lowercase() - b'a' + 10,
    }
}

/// A plain text as Markdown: its lines, paragraphs and quotations.
pub(super) fn markdown(text: &str) -> String {
    let mut writer = Writer::default();
    let mut depth = 0;
    for line in text.lines() {
        let own = line.trim_start_matches(['>', ' ']);
        let quotes = line[..line.len() - own.len()]
            .matches('>')
            .count()
            .min(QUOTES_MAX);
        for _ in quotes..depth {
            writer.end_container();
        }
        for _ in depth..quotes {
            writer.start_quote();
        }
        depth = quotes;
        if own.is_empty() {
            writer.break_block();
        } else {
            writer.text(own);
            writer.line_break();
        }
    }
    writer.finish()
}
