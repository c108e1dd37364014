//! Base64 decoding.
//!
//! Owns: the alphabets of base64, standard and URL-safe. Never: the meaning of the bytes.

/// The bytes of a base64 text; none if it is invalid. White space and padding at the end do not
/// count.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    let letters = text.trim_ascii_end();
    let padding = letters
        .iter()
        .rev()
        .take(2)
        .take_while(|letter| **letter == b'=')
        .count();
    for letter in &letters[..letters.len() - padding] {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ if letter.is_ascii_whitespace() => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    // Six bits alone are no byte.
    (count < 6).then_some(bytes)
}
