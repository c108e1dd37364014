//! Bytes to characters.
//!
//! Owns: the encoding of a text, one form of line end, dropping invisible characters. Never:
//! markup.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::Unreadable;

/// Bytes of a page that are searched for its `<meta charset>`; the standard's bound.
const META_WITHIN_BYTES: usize = 1024;

/// The text of a file. Its encoding is that of the byte order mark, else the declared one or the
/// page's own, else UTF-8 if all but a few bytes are valid, else Latin-1 as the web defines it.
pub(crate) fn text(bytes: &[u8], media_type: &str) -> Result<String, Unreadable> {
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, bytes.get(length..).unwrap_or_default()),
        None => (without_mark(bytes, media_type), bytes),
    };
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    // Text contains no NUL, nearly every other format does.
    if text.contains('\0') {
        return Err(Unreadable::Unsupported);
    }
    Ok(clean(&text))
}

fn without_mark(bytes: &[u8], media_type: &str) -> &'static Encoding {
    let head = bytes.get(..META_WITHIN_BYTES).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let meta = head.match_indices("<meta").find_map(|(at, _)| {
        let tag = head.get(at..)?;
        charset(tag.get(..tag.find('>')?)?)
    });
    let declared = charset(media_type).or(meta);
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    match declared {
        // Any bytes are valid Latin-1, so a UTF-8 page that declares Latin-1 is mislabelled.
        Some(encoding) if !(is_utf8 && encoding == WINDOWS_1252) => {
            let fits = encoding
                .decode_without_bom_handling_and_without_replacement(bytes)
                .is_some();
            if fits || !is_utf8 { encoding } else { UTF_8 }
        }
        _ if is_utf8 || is_broken_utf8(bytes) => UTF_8,
        _ => WINDOWS_1252,
    }
}

/// Whether more characters are complete than broken: true for a text that was cut or joined inside
/// a character.
fn is_broken_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        whole += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    whole > broken
}

fn charset(declaration: &str) -> Option<&'static Encoding> {
    let (_, label) = declaration.split_once("charset=")?;
    let label = label.trim_start_matches(['"', '\'']);
    let label = label
        .split(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)))
        .next()?;
    // A readable meta tag is not in UTF-16, even if it declares it.
    Encoding::for_label(label.as_bytes()).filter(|encoding| encoding.is_ascii_compatible())
}

/// Ends lines in `\n`, and removes control characters. Also removes tag characters, which are
/// invisible to people and readable to a model.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                clean.push('\n');
            }
            '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' => clean.push('\n'),
            '\u{2029}' => clean.push_str("\n\n"),
            '\n' | '\t' => clean.push(c),
            '\u{e0000}'..='\u{e007f}' | '\u{feff}' => {}
            c if c.is_control() => {}
            c => clean.push(c),
        }
    }
    clean
}
