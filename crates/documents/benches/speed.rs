//! Time to read files and cut them into topics, also for hostile files: `cargo bench -p documents`.
//!
//! Owns: generated files of realistic shape, and small files that would unpack to large ones.
//! Never: the correctness of a result.
#![expect(clippy::disallowed_methods, reason = "measuring reads the real clock")]
#![expect(clippy::print_stdout, reason = "a measurement's result is what it prints")]

use std::time::Instant;

#[path = "../tests/it/packages.rs"]
#[expect(dead_code, reason = "the tests make slides too")]
mod packages;
#[path = "../tests/it/pdfs.rs"]
mod pdfs;

const PARTS: usize = 8_000;
const PAGES: usize = 1_000;

fn main() {
    let paragraph = "A sentence of words, and one more of them. ".repeat(12);
    let text = format!("{paragraph}\n\n").repeat(PARTS);
    let markdown = format!("## Heading\n\n{paragraph}\n\n- a\n- b\n\n").repeat(PARTS);
    let section = format!("<h2>Heading</h2><p class=x>{paragraph}<ul><li><a href=/x>a</a><li>b</ul>");
    let html = format!("<html>{}", section.repeat(PARTS));
    let line = "[(A)-333(sen)28(tence)-333(of)-333(w)28(ords,)-333(and)-333(one)-333(more.)] TJ 0 -12 Td "
        .repeat(45);
    let page = format!("BT /F1 10 Tf 72 700 Td {line} ET");
    let pdf = pdfs::pages(&vec![page.as_str(); PAGES], pdfs::HELVETICA, "", &[]);
    measure("a.txt", text.as_bytes());
    measure("a.md", markdown.as_bytes());
    measure("a.html", html.as_bytes());
    measure("a.pdf", &pdf);
    let words = format!("<w:p><w:r><w:t>{paragraph}</w:t></w:r></w:p>").repeat(PARTS);
    measure("a.docx", &packages::word(&words));
    let cell = |nth| format!("<c t='str'><v>{paragraph}</v></c><c><v>{nth}</v></c>");
    let rows = joined((1..=PARTS).map(|nth| format!("<row r='{nth}'>{}</row>", cell(nth))));
    measure("a.xlsx", &packages::sheet(&rows));
    for (name, bytes) in hostile() {
        let start = Instant::now();
        let told = documents::read(&bytes, "a.pdf", "").map(|source| source.kind);
        let (seconds, file) = (start.elapsed().as_secs_f64(), bytes.len() as f64 / 1e6);
        println!(
            "{name}: {file:.1} MB, {told:?} after {seconds:.1} s, at most {} so far",
            peak()
        );
    }
}

/// Each file costs about as much time or memory as any file can.
fn hostile() -> [(&'static str, Vec<u8>); 8] {
    let page = |fonts: &str, content: &str| {
        let objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            format!("<< /Type /Page /Contents 3 0 R /Resources << /Font << {fonts} >> /XObject << /X 4 0 R >> >> >>")
                .into_bytes(),
            pdfs::stream("/Filter /FlateDecode", &pdfs::deflated(content.as_bytes())),
            pdfs::stream("/Subtype /Form", "/X Do ".repeat(40).as_bytes()),
        ];
        pdfs::file(&objects, "")
    };
    let font = "<< /Subtype /Type0 /Encoding /UniX /DescendantFonts [<< /A 1 >>] >> ";
    let fonts = joined((0..100).map(|nth| format!("/G{nth} {font}")));
    let uses = joined((0..100).map(|nth| format!("/G{nth} 9 Tf ")));
    let helvetica = format!("/F1 {}", pdfs::HELVETICA);
    let letters = format!("BT /F1 9 Tf {} ET", "(x)Tj ".repeat(10_000_000));
    let inflated = documents::INFLATED_MAX_BYTES - (1 << 10);
    let texts = "<si/>".repeat(inflated / 5);
    let related = [("r", "sharedStrings", "x")];
    let shared = packages::file(
        "<workbook/>",
        &related,
        &[("a/x", &format!("<sst>{texts}</sst>"))],
    );
    let cells = packages::word(&format!("<tbl>{}</tbl>", "<tr><tc/></tr>".repeat(inflated / 14)));
    let mut mail =
        "From: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n".to_owned();
    mail.push_str(&"a:\n".repeat((documents::INPUT_MAX_BYTES - mail.len()) / 3));
    let objects = joined((0..3_000_000).map(|nth| format!("{nth} 0 obj 1 ")));
    [
        ("drawings in drawings", page("", "/X Do")),
        ("large fonts", page(&fonts, &uses)),
        ("shared texts", shared),
        ("empty cells", cells),
        ("fields of a mail", mail.into_bytes()),
        ("objects", format!("%PDF-1.4 {objects}").into_bytes()),
        ("single letters", page(&helvetica, &letters)),
        (
            "dictionaries",
            pdfs::file(
                &[format!("[{}]", "<</a[/b]>>".repeat(3_000_000)).into_bytes()],
                "",
            ),
        ),
    ]
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect()
}

/// Peak memory of the process.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("?".to_owned(), |line| line.trim().to_owned())
}

fn measure(name: &str, bytes: &[u8]) {
    let start = Instant::now();
    let source = documents::read(bytes, name, "").expect("a file that can be read");
    let read = start.elapsed().as_secs_f64();
    let topics = documents::topics(&source).len();
    let whole = start.elapsed().as_secs_f64();
    let (file, text) = (bytes.len() as f64 / 1e6, source.markdown.len() as f64 / 1e6);
    println!(
        "{name:>6}: {file:.1} MB, {text:.1} MB of text, {topics} topics; read {:.0} MB/s of text, with topics {:.0} MB/s",
        text / read,
        text / whole
    );
}
