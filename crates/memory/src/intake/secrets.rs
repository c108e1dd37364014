//! Removes secrets from messages before anything of them is written.
//!
//! Owns: the parts of a message that are checked. Never: the patterns of secrets (`redact`).

use std::borrow::Cow;
use std::sync::Arc;

use model::{Content, Message, Part};

/// Replaces a message's secrets with marks; returns the number of new marks. Of the sender, only the name is checked:
/// the id identifies the owner of the memory.
pub(crate) fn take_out(message: &mut Message) -> usize {
    let texts: Vec<&mut String> = match Arc::make_mut(&mut message.content) {
        Content::Text(text) => vec![text],
        Content::Parts(parts) => parts.iter_mut().flat_map(texts).collect(),
    };
    let calls = message
        .tool_calls
        .iter_mut()
        .flat_map(|call| [&mut call.id, &mut call.name, &mut call.arguments]);
    let names = message.sender_name.iter_mut().chain(&mut message.tool_call_id);
    texts.into_iter().chain(calls).chain(names).map(clean).sum()
}

/// All texts of a part except a `data:` address, which holds the bytes of a file.
fn texts(part: &mut Part) -> impl Iterator<Item = &mut String> {
    let uri = part.uri.as_mut().filter(|uri| !uri.starts_with("data:"));
    let texts = [
        &mut part.text,
        &mut part.name,
        &mut part.ext,
        &mut part.extras_json,
    ];
    texts.into_iter().flatten().chain(uri)
}

/// As [`take_out`], for one text.
pub(crate) fn clean(text: &mut String) -> usize {
    match model::redact::redact(text) {
        Cow::Borrowed(_) => 0,
        Cow::Owned(less) => {
            let before = model::redact::marks(text).len();
            let count = model::redact::marks(&less).len().saturating_sub(before);
            *text = less;
            count
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{MessageId, Name, PartKind, Role, Scope, SessionId, SessionKey, Timestamp, ToolCall};

    use super::*;

    #[test]
    fn every_text_of_a_message_is_checked_but_not_the_bytes_of_a_file() {
        let key = ["sk-", "ant-api03-Zk3v9Qp2Lm8Rt5Wx7Yb1"].concat();
        let some = || Some(key.clone());
        let part = |uri: String| Part {
            kind: PartKind::Text,
            text: some(),
            uri: Some(uri),
            base64: None,
            ext: some(),
            name: some(),
            extras_json: Some(format!("{{\"note\":\"{key}\"}}")),
        };
        let data = format!("data:text/plain;base64,{key}");
        let mut message = Message {
            id: MessageId::new("m"),
            session: SessionKey::new(Scope::default(), SessionId::new("s")),
            sender: Name::parse("ada").expect("a name"),
            sender_name: some(),
            role: Role::Assistant,
            time: Timestamp::default(),
            content: Content::Parts(vec![part(key.clone()), part(data.clone())]).into(),
            tool_calls: vec![ToolCall {
                id: key.clone(),
                name: key.clone(),
                arguments: key.clone(),
            }],
            tool_call_id: some(),
        };
        assert_eq!(take_out(&mut message), 14);
        let Content::Parts(parts) = &*message.content else {
            panic!("parts stay parts");
        };
        assert_eq!(parts[1].uri.as_ref(), Some(&data));
        assert_eq!(format!("{message:?}").matches(&key).count(), 1);
    }
}
