//! An e-mail to Markdown.
//!
//! Owns: the visible parts of a message, the list of attachments. Never: the content of an
//! attachment, signatures.

mod body;
mod header;

use crate::markdown::Writer;
use crate::{PARTS_MAX, TEXT_MAX_BYTES, Unreadable, html};
use header::Header;

/// Maximum depth of nested groups of parts.
const DEPTH_MAX: usize = 20;
/// Bytes of a file that are searched for a header.
const SNIFFED_BYTES: usize = 16 << 10;
/// Fields that servers add, and that hardly any other text contains.
const FIELDS_OF_SERVERS: [&str; 5] = [
    "received", "return-path", "message-id", "mime-version", "delivered-to",
];
/// Fields of any message.
const FIELDS: [&str; 6] = ["from", "to", "subject", "date", "content-type", "message-id"];
/// Visible fields of a header, besides the subject.
const SHOWN: [(&str, &str); 4] = [("from", "From"), ("to", "To"), ("cc", "Cc"), ("date", "Date")];

/// Whether the content begins with the header of an e-mail. For a file declared as an e-mail, any
/// of its fields is enough.
pub(crate) fn is_email(bytes: &[u8], is_called_email: bool) -> bool {
    let head = bytes.get(..SNIFFED_BYTES).unwrap_or(bytes);
    let mut lines = head.split(|byte| *byte == b'\n');
    let is_field = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name.len() < line.len() && !name.is_empty() && name.iter().all(u8::is_ascii_graphic)
    };
    let is_mailbox_line = |line: &[u8]| line.starts_with(b"From ");
    if !lines
        .next()
        .is_some_and(|line| is_field(line) || is_mailbox_line(line))
    {
        return false;
    }
    let is_folded = |line: &[u8]| line.starts_with(b" ") || line.starts_with(b"\t");
    // The last line may be incomplete.
    let mut lines = lines.take_while(|line| !line.trim_ascii().is_empty()).peekable();
    while let Some(line) = lines.next() {
        if !is_field(line) && !is_folded(line) && lines.peek().is_some() {
            return false;
        }
    }
    let (header, _) = Header::read(head);
    let has = |fields: &[&str]| fields.iter().any(|field| !header.raw(field).is_empty());
    if is_called_email {
        has(&FIELDS)
    } else {
        has(&["from"]) && has(&FIELDS_OF_SERVERS)
    }
}

pub(crate) fn markdown(bytes: &[u8]) -> Result<String, Unreadable> {
    let (header, content) = Header::read(bytes);
    let mut message = EmailReader::default();
    message.part(&header, content, 0)?;
    if message.texts.is_empty() && message.is_encrypted {
        return Err(Unreadable::Encrypted);
    }
    let mut writer = Writer::default();
    writer.start_heading(1);
    writer.text(&header.decoded("subject"));
    writer.end_heading();
    writer.start_list(None);
    let fields = SHOWN.iter().map(|(field, label)| (*label, header.decoded(field)));
    let attached = message.attached.into_iter().map(|name| ("Attachment", name));
    for (label, value) in fields.chain(attached).filter(|(_, value)| !value.is_empty()) {
        writer.start_item();
        writer.text(&format!("{label}: {value}"));
        writer.end_container();
    }
    writer.end_list();
    Ok([vec![writer.finish()], message.texts].concat().join("\n"))
}

/// The state while an e-mail is read.
#[derive(Debug, Default)]
struct EmailReader {
    /// The Markdown of each part.
    texts: Vec<String>,
    bytes: usize,
    attached: Vec<String>,
    parts: usize,
    is_encrypted: bool,
}

impl EmailReader {
    fn part(&mut self, header: &Header, content: &[u8], depth: usize) -> Result<(), Unreadable> {
        self.parts += 1;
        if self.parts > PARTS_MAX || depth > DEPTH_MAX {
            return Err(Unreadable::TooComplex);
        }
        let kind = header.kind("content-type");
        self.is_encrypted |= kind == "multipart/encrypted" || kind.ends_with("pkcs7-mime");
        let is_attached = header.kind("content-disposition") == "attachment";
        match kind.as_str() {
            "text/html" if !is_attached => {
                let page = html::markdown(&body::text(header, content)?)?;
                self.say(page.markdown)
            }
            "" | "text/plain" if !is_attached => self.say(body::markdown(&body::text(header, content)?)),
            _ if kind.starts_with("multipart/") => {
                let parts = parts(header, content);
                if kind != "multipart/alternative" {
                    return parts
                        .iter()
                        .try_for_each(|(header, content)| self.part(header, content, depth + 1));
                }
                // The last form of a part is the richest, and the visible one.
                let said = self.texts.len();
                for (header, content) in parts.iter().rev() {
                    self.part(header, content, depth + 1)?;
                    if self.texts.len() > said {
                        break;
                    }
                }
                Ok(())
            }
            _ => {
                let named = header
                    .parameter("content-disposition", "filename")
                    .or_else(|| header.parameter("content-type", "name"));
                self.attached.push(match named {
                    Some(name) => format!("{name} ({kind})"),
                    None => kind,
                });
                Ok(())
            }
        }
    }

    fn say(&mut self, text: String) -> Result<(), Unreadable> {
        self.bytes += text.len();
        if self.bytes > TEXT_MAX_BYTES {
            return Err(Unreadable::TooMuchText);
        }
        if !text.trim().is_empty() {
            self.texts.push(text);
        }
        Ok(())
    }
}

/// The parts of a body, each with its header.
fn parts<'c>(header: &Header, content: &'c [u8]) -> Vec<(Header, &'c [u8])> {
    let Some(boundary) = header
        .parameter("content-type", "boundary")
        .filter(|boundary| !boundary.is_empty())
    else {
        return Vec::new();
    };
    let mark = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut start = None;
    let mut at = 0;
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let end = at;
        at += line.len();
        let Some(rest) = line.trim_ascii_end().strip_prefix(mark.as_bytes()) else {
            continue;
        };
        if !rest.is_empty() && rest != b"--" {
            continue;
        }
        parts.extend(start.and_then(|start| content.get(start..end)));
        start = rest.is_empty().then_some(at);
        if start.is_none() || parts.len() > PARTS_MAX {
            break;
        }
    }
    // A truncated message lacks its last boundary.
    parts.extend(start.and_then(|start| content.get(start..)));
    parts.into_iter().map(Header::read).collect()
}
