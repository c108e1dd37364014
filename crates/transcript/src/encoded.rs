//! Encoded files within JSON: sounds, videos, documents.
//!
//! Owns: distinguishing their content from text. Never: their kind or their tokens.

/// A run of base64 letters of at least this length is a file's content and not text.
const RUN_BYTES: usize = 512;

/// The ranges of base64 runs, from the first byte to after the last; they are cut at ASCII letters, so at character
/// boundaries. JSON may write `/` as `\/`.
pub fn encoded(raw: &str) -> impl Iterator<Item = (usize, usize)> {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_\\".contains(byte);
    let mut start = 0;
    raw.as_bytes()
        .chunk_by(move |left, right| is_base64(left) == is_base64(right))
        .filter_map(move |run| {
            let end = start + run.len();
            let span = (start, end);
            start = end;
            (run.len() >= RUN_BYTES && is_base64(&run[0])).then_some(span)
        })
}
