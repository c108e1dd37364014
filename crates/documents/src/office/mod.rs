//! Office files to Markdown: documents, presentations and workbooks (DOCX, PPTX, XLSX).
//!
//! Owns: the detection of the kind, and refusing other files of these programs. Never: pictures,
//! charts, comments, macros.
//!
//! Reading order: `package` (the archive), `xml`, `pen` (the output); `word` with `styles`,
//! `slides`, `sheets` with `number`.

mod number;
mod package;
mod pen;
mod sheets;
mod slides;
mod styles;
mod word;
mod xml;

use crate::{FileKind, Unreadable};
use package::Package;

/// First bytes of an archive that is not empty.
const ARCHIVE_MARK: &[u8] = b"PK\x03\x04";
/// First bytes of a compound file: a file of old office programs, or the envelope of an encrypted
/// one.
const COMPOUND_MARK: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// Name of the stream with an encrypted file, as the list of streams spells it.
const ENCRYPTED: &str = "EncryptedPackage";

/// Whether the content is an archive or a compound file, so that only an office file is possible.
pub(crate) fn is_office(bytes: &[u8]) -> bool {
    bytes.starts_with(ARCHIVE_MARK) || bytes.starts_with(COMPOUND_MARK)
}

/// The kind of an office file, and its text.
pub(crate) fn markdown(bytes: &[u8]) -> Result<(FileKind, String), Unreadable> {
    if bytes.starts_with(COMPOUND_MARK) {
        let name: Vec<u8> = ENCRYPTED.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let is_encrypted = bytes.windows(name.len()).any(|window| window == name);
        return Err(if is_encrypted {
            Unreadable::Encrypted
        } else {
            Unreadable::Unsupported
        });
    }
    let mut package = Package::open(bytes)?;
    let roots = package.relations("")?;
    let main = package::of_kind(&roots, "officeDocument").ok_or(Unreadable::Unsupported)?;
    let text = package.part(main)?.ok_or(Unreadable::Damaged)?;
    match xml::root(&text).as_deref() {
        Some("document") => Ok((FileKind::Docx, word::markdown(&mut package, main, &text)?)),
        Some("presentation") => Ok((FileKind::Pptx, slides::markdown(&mut package, main, &text)?)),
        Some("workbook") => Ok((FileKind::Xlsx, sheets::markdown(&mut package, main, &text)?)),
        _ => Err(Unreadable::Unsupported),
    }
}
