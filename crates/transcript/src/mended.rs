//! JSON with half a surrogate pair, as programs write a text that was cut inside an emoji.
//!
//! Owns: replacing it by U+FFFD. Never: another change, or a change of length.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Reads a JSON text as `serde_json` does, which refuses half a pair.
pub fn parse<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(json).or_else(|_| serde_json::from_slice(&mended(json.as_bytes())))
}

/// A JSON text in which U+FFFD replaces each escape of half a pair.
pub fn mended(json: &[u8]) -> Cow<'_, [u8]> {
    let mut mended = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(ahead) = json
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'\\'))
    {
        at += ahead;
        at += match (unit(json, at), unit(json, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.to_mut()[at..at + 6].copy_from_slice(br"\ufffd");
                6
            }
            _ => 2,
        };
    }
    mended
}

/// The UTF-16 unit of the escape at `at`.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(br"\u")?;
    let value =
        |unit: u16, digit: &u8| Some((unit << 4) | u16::try_from(char::from(*digit).to_digit(16)?).ok()?);
    digits.iter().try_fold(0, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_half_a_surrogate_pair_is_replaced() {
        for (json, text) in [
            (r#""loft \ud83d""#, "loft \u{fffd}"),
            (r#""\ude00\ud83d\ude00\uD83D.""#, "\u{fffd}\u{1f600}\u{fffd}."),
            (r#""\\ud83d \\\ud83d""#, "\\ud83d \\\u{fffd}"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
        ] {
            assert_eq!(parse::<String>(json).unwrap(), text, "{json}");
            assert_eq!(mended(json.as_bytes()).len(), json.len());
        }
        for json in [r#""\ud8""#, r#""\u+123""#, "\\"] {
            assert!(matches!(mended(json.as_bytes()), Cow::Borrowed(_)), "{json}");
            assert!(parse::<String>(json).is_err(), "{json}");
        }
    }
}
