//! Office files made by hand.
//!
//! Owns: the archive around a main part. Never: the content of the part.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of these parts.
pub(crate) fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_level(Some(1));
    for (name, text) in parts {
        archive.start_file(*name, options).expect("a part begins");
        archive.write_all(text.as_bytes()).expect("a part is written");
    }
    archive.finish().expect("the archive ends").into_inner()
}

/// The part with the relations of `part`: an id, the last word of a type and a target each.
pub(crate) fn relations(related: &[(&str, &str, &str)]) -> String {
    let lines = related.iter().map(|(id, kind, target)| {
        let mode = if target.contains("://") {
            " TargetMode='External'"
        } else {
            ""
        };
        format!("<Relationship Id='{id}' Type='http://x/{kind}' Target='{target}'{mode}/>")
    });
    format!("<Relationships>{}</Relationships>", crate::joined(lines))
}

/// A file with this main part and other parts.
pub(crate) fn file(main: &str, related: &[(&str, &str, &str)], parts: &[(&str, &str)]) -> Vec<u8> {
    let root = relations(&[("r", "officeDocument", "a/main.xml")]);
    let own = relations(related);
    let mut all = vec![
        ("_rels/.rels", root.as_str()),
        ("a/main.xml", main),
        ("a/_rels/main.xml.rels", own.as_str()),
    ];
    all.extend_from_slice(parts);
    archive(&all)
}

/// A document of Word with this body.
pub(crate) fn word(body: &str) -> Vec<u8> {
    file(
        &format!("<w:document><w:body>{body}</w:body></w:document>"),
        &[],
        &[],
    )
}

/// A workbook with one sheet of these rows.
pub(crate) fn sheet(rows: &str) -> Vec<u8> {
    file(
        "<workbook><sheets><sheet name='S' r:id='r1'/></sheets></workbook>",
        &[("r1", "worksheet", "sheet.xml")],
        &[(
            "a/sheet.xml",
            &format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        )],
    )
}

/// A presentation with one slide of these shapes.
pub(crate) fn slide(shapes: &str) -> Vec<u8> {
    file(
        "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='r1'/></p:sldIdLst></p:presentation>",
        &[("r1", "slide", "slide.xml")],
        &[(
            "a/slide.xml",
            &format!("<p:sld><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"),
        )],
    )
}
