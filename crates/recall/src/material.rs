//! What of a message is quoted: not its writer's own account.
//!
//! Owns: the marks of quotations. Never: their weight.

/// The mark that closes a quotation, by the one that opens it.
fn closing(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' => &['"'],
        '“' => &['”', '"'],
        '„' => &['“', '”', '"'],
        '«' => &['»'],
        '»' => &['«'],
        '「' => &['」'],
        '『' => &['』'],
        _ => return None,
    })
}

/// The beginning of a message tells what it is.
const READ_BYTES_MAX: usize = 4096;

/// The share of a message that is quoted, by length: 0 to 1.
pub(crate) fn quoted(text: &str) -> f32 {
    let text = &text[..text.floor_char_boundary(READ_BYTES_MAX)];
    let (mut quoted, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        at += c.len_utf8();
        let end = closing(c).and_then(|close| text[at..].find(close));
        let end = end.unwrap_or_default();
        quoted += end;
        at += end;
    }
    quoted as f32 / text.len().max(1) as f32
}

#[cfg(test)]
mod tests;
