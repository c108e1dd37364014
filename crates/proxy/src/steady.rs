//! Parts of a request that a client changes each time although they mean nothing to a model.
//!
//! Owns: the number in Claude Code's billing line. Older versions choose a new one for each request, and it stands
//! before the whole prompt. Never: a byte for Anthropic, which reads it.

use std::borrow::Cow;

use prefix::backend::Kind;

use crate::proxy::Speech;

/// The beginning of the block with the number, as JSON text.
const LINE: &str = "\"x-anthropic-billing-header:";
const NUMBER: &str = "cch=";

/// The system field as it is sent to a server of that kind.
pub(crate) fn system(field: Option<&str>, speech: Speech, kind: Kind) -> Option<Cow<'_, str>> {
    let field = field?;
    if speech != Speech::Messages || kind == Kind::Anthropic {
        return Some(Cow::Borrowed(field));
    }
    let number = number(field);
    Some(number.map_or(Cow::Borrowed(field), |(from, to)| {
        [&field[..from], "0", &field[to..]].concat().into()
    }))
}

/// The place of the number in the field.
fn number(field: &str) -> Option<(usize, usize)> {
    let line = field.find(LINE)? + LINE.len();
    let end = line + field[line..].find('"')?;
    let from = line + field[line..end].find(NUMBER)? + NUMBER.len();
    let digits = field[from..end].find(|c: char| !c.is_ascii_alphanumeric());
    Some((from, digits.map_or(end, |digits| from + digits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_becomes_constant_and_all_other_text_stays() {
        let field = |number: &str| {
            format!(
                r#"[{{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1; cch={number}"}},{{"type":"text","text":"cch=7"}}]"#
            )
        };
        for number in ["a1b2c", "00000"] {
            let sent = |kind| system(Some(&field(number)), Speech::Messages, kind).map(Cow::into_owned);
            assert_eq!(sent(Kind::LlamaCpp), Some(field("0")));
            assert_eq!(sent(Kind::Anthropic), Some(field(number)));
        }
        for other in [
            r#""Say cch=7.""#,
            r#"[{"type":"text","text":"x-anthropic-billing-header: a"}]"#,
        ] {
            assert_eq!(
                system(Some(other), Speech::Messages, Kind::Vllm).as_deref(),
                Some(other)
            );
        }
    }
}
