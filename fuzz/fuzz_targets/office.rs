//! Any XML as the parts of an office file: reading ends, within its bounds, and every word is in one topic.

#![no_main]

use std::io::{Cursor, Write as _};

use documents::FileKind;
use libfuzzer_sys::fuzz_target;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const ROOT: &str = "<a><b Id='r' Type='/officeDocument' Target='main.xml'/></a>";
const RELATED: &str = "<a><b Id='1' Type='/styles' Target='x.xml'/><b Id='2' Type='/numbering' Target='x.xml'/>\
    <b Id='3' Type='/sharedStrings' Target='x.xml'/><b Id='4' Type='/footnotes' Target='x.xml'/>\
    <b Id='5' Type='/notesSlide' Target='x.xml'/><b Id='6' Type='/hyperlink' Target='https://x' TargetMode='External'/></a>";

// The main part, a NUL, and the part that all others are.
fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (main, other) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, text) in [
        ("_rels/.rels", ROOT.as_bytes()),
        ("_rels/main.xml.rels", RELATED.as_bytes()),
        ("_rels/x.xml.rels", RELATED.as_bytes()),
        ("main.xml", main),
        ("x.xml", other),
    ] {
        archive.start_file(name, options).expect("a part begins");
        archive.write_all(text).expect("a part is written");
    }
    let bytes = archive.finish().expect("the archive ends").into_inner();
    let kind = fuzz::document(&bytes, "file");
    assert!(
        matches!(
            kind,
            None | Some(FileKind::Docx | FileKind::Pptx | FileKind::Xlsx)
        ),
        "{kind:?}"
    );
});
