//! Attachments of messages, read before the message is stored.
//!
//! Owns: which parts of a message are read, the bound on their text, the line for an unread attachment. Never: a file's
//! format (`documents`), the form of a quotation (`model`), fetching an address.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use documents::Unreadable;
use model::{Content, Part, PartKind};
use ports::{BEGINNING_MAX_BYTES, ChatRequest, DocumentReader, FileBytes, NewMessage, ReadError};
use sha2::{Digest as _, Sha256};

use crate::base::{Base, patient};
use crate::error::EngineError;
use crate::runtime::off_thread;

/// The longest text of an attachment, in bytes. The text is stored in the memory file of its message, which people
/// read.
const TEXT_MAX_BYTES: usize = BEGINNING_MAX_BYTES;
/// Prompt of the model that sees a picture or hears a sound.
const DESCRIBE: &str = "Describe the attachment in at most three sentences. Write down each text that it shows, and what is said in it, word for \
word and in its language. Answer with this alone.";
const DESCRIPTION_TOKENS_MAX: u32 = 400;
/// Time that an add waits for a description.
const PATIENCE: Duration = Duration::from_secs(20);
/// Number of bytes of the SHA-256 in the line for an unread file, by which a person finds the file again.
const DIGEST_BYTES: usize = 8;

/// Replaces the bytes of each attachment by its text.
pub(crate) async fn read(base: &Base, mut messages: Vec<NewMessage>) -> Result<Vec<NewMessage>, EngineError> {
    let is_attachment = |part: &Part| part.kind != PartKind::Text;
    let has_attachment = |new: &NewMessage| matches!(&*new.message.content, Content::Parts(parts) if parts.iter().any(is_attachment));
    if !messages.iter().any(has_attachment) {
        return Ok(messages);
    }
    for (at, new) in messages.iter_mut().enumerate() {
        let Content::Parts(parts) = Arc::make_mut(&mut new.message.content) else {
            continue;
        };
        for (nth, part) in parts.iter_mut().enumerate() {
            read_part(base, part, &format!("messages.{at}.content.{nth}")).await?;
        }
    }
    Ok(messages)
}

/// `place` is the part's place in the request.
async fn read_part(base: &Base, part: &mut Part, place: &str) -> Result<(), EngineError> {
    let bytes = match part.kind {
        PartKind::Text => return Ok(()),
        _ => bytes_of(base, part, place).await?,
    };
    let reader = &*base.parts.documents;
    let named = AttachmentName::of(part);
    let media_type = match part.kind {
        PartKind::Html => "text/html",
        PartKind::Email => "message/rfc822",
        _ => "",
    };
    let is_picture_or_sound = matches!(part.kind, PartKind::Image | PartKind::Audio);
    let shown = match (part.text.take(), bytes) {
        // Web pages and mails as text are read like files.
        (Some(text), _) if !media_type.is_empty() => named.file(reader, text.into(), media_type).await?,
        (Some(text), _) => named.quoted(&text),
        (None, Some(bytes)) if is_picture_or_sound => described(base, &named, part.kind, bytes).await,
        (None, Some((bytes, _))) => named.file(reader, bytes, media_type).await?,
        // A name or an address alone: nothing is fetched.
        (None, None) => return Ok(()),
    };
    part.text = Some(shown.map_err(|problem| EngineError::TooLarge(format!("{place}: {problem}")))?);
    Ok(())
}

/// A description of a picture or a sound by the chat model, if the settings ask for one; else the line for an unread
/// attachment.
async fn described(
    base: &Base,
    named: &AttachmentName,
    kind: PartKind,
    (bytes, letters): (Bytes, String),
) -> Result<String, String> {
    let chat = base.parts.chat.as_deref();
    let Some(chat) = chat.filter(|_| base.settings.describes_media) else {
        return Ok(named.unread(&bytes, ""));
    };
    let format = match *bytes {
        [0xff, 0xd8, ..] => "jpeg",
        [b'G', b'I', b'F', ..] => "gif",
        [b'R', b'I', b'F', b'F', ..] if kind == PartKind::Audio => "wav",
        [b'R', b'I', b'F', b'F', ..] => "webp",
        _ if kind == PartKind::Audio => "mp3",
        _ => "png",
    };
    let request = ChatRequest {
        is_awaited: true,
        attached: Some(if kind == PartKind::Audio {
            format!(r#"{{"type":"input_audio","input_audio":{{"data":"{letters}","format":"{format}"}}}}"#)
        } else {
            format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/{format};base64,{letters}"}}}}"#)
        }),
        ..ChatRequest::new(DESCRIBE, &named.shown, DESCRIPTION_TOKENS_MAX)
    };
    let answer = patient(&*base.parts.clock, chat, request, PATIENCE).await;
    match answer.inspect_err(|error| tracing::warn!(%error, "no description of an attachment")) {
        Ok(reply) => named.quoted(reply.content.trim()),
        Err(_) => Ok(named.unread(&bytes, "the chat model did not describe it")),
    }
}

/// The bytes that the client sent, directly or as a `data:` address, which is removed then; and their base64.
async fn bytes_of(base: &Base, part: &mut Part, place: &str) -> Result<Option<(Bytes, String)>, EngineError> {
    let is_data = |uri: &mut String| uri.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("data:"));
    let (field, letters) = match (part.base64.take(), part.uri.take_if(is_data)) {
        (Some(letters), _) => ("base64", Some(letters)),
        (None, Some(uri)) => (
            "uri",
            uri.split_once(";base64,").map(|(_, letters)| letters.to_owned()),
        ),
        (None, None) => return Ok(None),
    };
    let _turn = base.busy().await;
    let decode = |mut letters: String| {
        letters.retain(|letter| !letter.is_ascii_whitespace());
        Some((documents::base64(letters.as_bytes())?.into(), letters))
    };
    let bytes = off_thread(move || letters.and_then(decode)).await?;
    let problem = || {
        EngineError::Invalid(format!(
            "{place}.{field}: is not base64: send the file's bytes in base64"
        ))
    };
    bytes.ok_or_else(problem).map(Some)
}

fn too_long(bytes: usize) -> String {
    format!(
        "the attachment has {} KiB of text, the limit is {} KiB: upload it to `knowledge/documents` and name it in the message",
        bytes >> 10,
        TEXT_MAX_BYTES >> 10
    )
}

/// How an attachment is named in its message.
struct AttachmentName {
    label: &'static str,
    file: String,
    /// The file's name, and its address if it has one.
    shown: String,
}

impl AttachmentName {
    fn of(part: &Part) -> Self {
        let extension = part.ext.as_deref();
        let extension = extension.map(|ext| format!(".{}", ext.trim_start_matches('.')));
        let file = match (&part.name, extension) {
            (Some(name), Some(ext)) if !name.to_lowercase().ends_with(&ext.to_lowercase()) => {
                format!("{name}{ext}")
            }
            (None, Some(ext)) => format!("file{ext}"),
            (name, _) => name.clone().unwrap_or_default(),
        };
        let address = part.uri.as_deref().unwrap_or_default();
        Self {
            label: part.kind.label().unwrap_or_default(),
            shown: format!("{file} {address}").trim().to_owned(),
            file,
        }
    }

    /// A file with its text, or the line for an unread file; an error if it has more text than a message may have.
    async fn file(
        &self,
        reader: &dyn DocumentReader,
        bytes: Bytes,
        media_type: &str,
    ) -> Result<Result<String, String>, ReadError> {
        use Unreadable::{NeedsMemory, NeedsTime, TooLarge, TooManyPages, TooMuchText};
        let file = FileBytes::Memory(bytes.clone());
        let problem = match reader.read(file, &self.file, media_type).await {
            Ok(read) if read.text_bytes > TEXT_MAX_BYTES => return Ok(Err(too_long(read.text_bytes))),
            Ok(read) => return Ok(self.quoted(&read.beginning)),
            Err(ReadError::Unreadable(problem)) => problem,
            Err(busy @ ReadError::Unavailable { .. }) => return Err(busy),
        };
        Ok(match problem {
            TooLarge { .. } | TooMuchText | TooManyPages | NeedsMemory | NeedsTime => {
                Err(problem.to_string())
            }
            _ => {
                let problem = problem.to_string();
                let reason = problem
                    .split_once(": ")
                    .map_or(problem.as_str(), |(reason, _)| reason);
                Ok(self.unread(&bytes, reason))
            }
        })
    }

    fn quoted(&self, text: &str) -> Result<String, String> {
        if text.len() > TEXT_MAX_BYTES {
            return Err(too_long(text.len()));
        }
        Ok(model::attachment(self.label, &self.shown, text))
    }

    /// The line for an unread file: a digest by which a person finds it again, and the reason, if it is not plain.
    fn unread(&self, bytes: &[u8], reason: &str) -> String {
        let digest = model::hex(&Sha256::digest(bytes)[..DIGEST_BYTES]);
        let comma = if self.shown.is_empty() { "" } else { ", " };
        let colon = if reason.is_empty() { "" } else { ": " };
        let about = format!(
            "{}{comma}{} bytes, sha256 {digest}, not read{colon}{reason}",
            self.shown,
            bytes.len()
        );
        model::attachment(self.label, &about, "")
    }
}
