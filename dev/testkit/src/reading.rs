//! A reader of documents in this process, and the contract of every reader.
//!
//! Owns: the port's promises except its limits. Never: a process.

use std::io::{Read as _, Seek as _};
use std::sync::Arc;

use async_trait::async_trait;
use documents::{Unreadable, topics};
use ports::{BEGINNING_MAX_BYTES, DocumentReader, FileBytes, ReadDocument, ReadError};

/// Reads documents in the caller's process.
#[derive(Debug, Default, Clone, Copy)]
pub struct DirectReader;

#[async_trait]
impl DocumentReader for DirectReader {
    async fn read(&self, file: FileBytes, name: &str, media_type: &str) -> Result<ReadDocument, ReadError> {
        let source = documents::read(&all_bytes(file), name, media_type)?;
        let beginning = source.markdown.floor_char_boundary(BEGINNING_MAX_BYTES);
        Ok(ReadDocument {
            topics: topics(&source),
            beginning: source.markdown[..beginning].to_owned(),
            text_bytes: source.markdown.len(),
            title: source.title,
            summary: source.summary,
        })
    }
}

/// All bytes of a file.
pub(crate) fn all_bytes(file: FileBytes) -> Vec<u8> {
    match file {
        FileBytes::Memory(bytes) => bytes.to_vec(),
        FileBytes::Disk(file) => {
            let (mut file, mut bytes) = (&*file, Vec::new());
            file.rewind().expect("a file");
            file.read_to_end(&mut bytes).expect("a file");
            bytes
        }
    }
}

/// The contract of every reader.
pub async fn contract(reader: &dyn DocumentReader) {
    let text = b"# Tea\n\nGreen tea wants 80 degrees.\n".to_vec();
    let read = reader
        .read(text.clone().into(), "tea.md", "")
        .await
        .expect("it is read");
    assert_eq!((read.title.as_str(), read.text_bytes), ("Tea", text.len()));
    assert_eq!(read.beginning.as_bytes(), text);
    assert_eq!(read.topics.len(), 1);
    assert_eq!(read.topics[0].content, "# Tea\n\nGreen tea wants 80 degrees.");
    let refused = [
        (b"".to_vec(), Unreadable::Empty),
        (b"\x89PNG\r\n\x1a\n\0\0".to_vec(), Unreadable::Unsupported),
    ];
    for (bytes, expected) in refused {
        let refusal = reader.read(bytes.into(), "a.txt", "").await.expect_err("no text");
        assert!(matches!(refusal, ReadError::Unreadable(reason) if reason == expected));
    }
    let long = "Tea. ".repeat(BEGINNING_MAX_BYTES / 4);
    let read = reader.read(long.clone().into_bytes().into(), "a\0.txt", "").await;
    let read = read.expect("it is read");
    assert_eq!(read.beginning, long[..BEGINNING_MAX_BYTES]);
    assert_eq!(read.text_bytes, long.len());
    let topics: usize = read.topics.iter().map(|topic| topic.content.len()).sum();
    assert!(topics > long.len() / 10 * 9, "{topics} of {} bytes", long.len());
}

/// The same for a file on a disk with the content `text`, at any position of the file.
pub async fn contract_on_disk(reader: &dyn DocumentReader, file: std::fs::File, text: &str) {
    let file = Arc::new(file);
    for _ in 0..2 {
        let read = reader.read(FileBytes::Disk(file.clone()), "a.txt", "").await;
        assert_eq!(read.expect("it is read").beginning, text);
    }
}
