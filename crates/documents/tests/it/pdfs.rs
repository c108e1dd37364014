//! PDFs made by hand.
//!
//! Owns: writing objects, streams and the table at the end as programs do. Never: reading.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

pub(crate) const HELVETICA: &str =
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

/// A file of these objects, numbered from 1; the first is its catalog.
pub(crate) fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n", at + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let table = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let size = objects.len() + 1;
    bytes.extend(
        format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n").bytes(),
    );
    bytes
}

pub(crate) fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    let mut object = format!("<< /Length {} {entries} >>\nstream\n", data.len()).into_bytes();
    object.extend(data);
    object.extend(b"\nendstream");
    object
}

pub(crate) fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// A file with a page for each content, all with the font `/F1` and the entries of `resources`; the
/// objects of `more` begin at number 4.
pub(crate) fn pages(contents: &[&str], font: &str, resources: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let first = 4 + more.len();
    let kids: Vec<_> = (0..contents.len())
        .map(|nth| format!("{} 0 R", first + 2 * nth))
        .collect();
    let kids = kids.join(" ");
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!(
            "<< /Type /Pages /Count {} /Kids [{kids}] /Resources << /Font << /F1 3 0 R >> {resources} >> >>",
            contents.len()
        )
        .into_bytes(),
        font.as_bytes().to_vec(),
    ];
    objects.extend_from_slice(more);
    for (nth, content) in contents.iter().enumerate() {
        let at = first + 2 * nth + 1;
        objects.push(
            format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {at} 0 R >>")
                .into_bytes(),
        );
        objects.push(stream("/Filter /FlateDecode", &deflated(content.as_bytes())));
    }
    file(&objects, "")
}
