//! Hostile files: without its guard, each would exhaust the stack, the memory or the time.

use documents::{
    INFLATED_MAX_BYTES, NESTING_MAX, PAGES_MAX, PARTS_MAX, PDF_VALUES_MAX, Source, Unreadable, topics,
};
use flate2::{Compress, Compression, FlushCompress};

use crate::joined;
use crate::pdfs::{self, HELVETICA};

pub(crate) fn read(bytes: &[u8]) -> Result<Source, Unreadable> {
    documents::read(bytes, "", "")
}

fn html(body: &str) -> Result<Source, Unreadable> {
    read(format!("<!doctype html>{body}").as_bytes())
}

#[test]
fn deeply_nested_html_is_refused() {
    let nested = |depth: usize| html(&format!("{}deep", "<div>".repeat(depth)));
    assert_eq!(nested(NESTING_MAX).unwrap().markdown, "deep\n");
    assert_eq!(nested(NESTING_MAX + 1).unwrap_err(), Unreadable::TooComplex);
}

#[test]
fn indents_do_not_multiply_a_page() {
    let items = "<ul><li>".repeat(NESTING_MAX / 2 - 1) + &"<p>x".repeat(40_000);
    assert!(html(&items).unwrap().markdown.len() < 40_000 * 64);
}

#[test]
fn one_address_does_not_multiply_a_page() {
    let address = "a".repeat(100_000);
    let page = format!("<a href={address}>{}", "<p>x".repeat(10_000));
    assert!(html(&page).unwrap().markdown.len() < 100_000);
}

#[test]
fn a_wide_row_does_not_multiply_a_table() {
    let table = format!(
        "<table><tr>{}{}</table>",
        "<td>x".repeat(20_000),
        "<tr><td>y".repeat(20_000)
    );
    assert!(html(&table).unwrap().markdown.len() < 1_000_000);
}

/// The page ends in a nesting that is too deep, and the reader must stop before it.
#[test]
fn a_page_with_too_much_text_is_refused_before_its_end() {
    let address = "a".repeat(1_990);
    for (open, each) in [("", "<p>x"), ("<table><tr>", "<td>x")] {
        let page = format!(
            "<a href={address}>{open}{}{}",
            each.repeat(6_000),
            "<div>".repeat(NESTING_MAX + 1)
        );
        assert_eq!(html(&page).unwrap_err(), Unreadable::TooMuchText);
    }
}

#[test]
fn deeply_nested_markdown_is_cut_into_topics() {
    for nest in ["- ", "[", "![", "*a _b ", "<b>", "\\`", "#", "| ", "1. ", "&#"] {
        let source = documents::read(nest.repeat(20_000).as_bytes(), "a.md", "").unwrap();
        assert!(!topics(&source).is_empty(), "{nest}");
    }
}

#[test]
fn deeply_nested_quotations_are_refused() {
    let nested =
        |depth: usize| documents::read(format!("x\n\n{}y", "> ".repeat(depth)).as_bytes(), "a.md", "");
    assert!(!topics(&nested(NESTING_MAX).unwrap()).is_empty());
    assert_eq!(nested(NESTING_MAX + 1).unwrap_err(), Unreadable::TooComplex);
    // In plain text they are characters.
    let text = documents::read(">".repeat(NESTING_MAX + 1).as_bytes(), "a.txt", "");
    assert_eq!(text.unwrap().markdown.len(), NESTING_MAX + 1);
}

#[test]
fn a_page_too_large_to_be_copied_is_refused_at_once() {
    let page = |size: usize| html(&format!("<p>x<!--{}-->", "y".repeat(size)));
    assert_eq!(page(29 << 20).unwrap().markdown, "x\n");
    assert_eq!(page(31 << 20).unwrap_err(), Unreadable::TooMuchText);
    assert_eq!(read(&vec![0; 31 << 20]).unwrap_err(), Unreadable::Unsupported);
}

#[test]
fn too_many_headings_give_few_topics() {
    let text = "# a\n## b\n".repeat(30_000);
    let topics = topics(&documents::read(text.as_bytes(), "a.md", "").unwrap());
    assert!(topics.len() < 1_000, "{}", topics.len());
}

#[test]
fn a_deeply_nested_pdf_is_refused() {
    for (open, close) in [("[", "]"), ("<</A ", ">>")] {
        let deep = format!("{}1{}", open.repeat(300_000), close.repeat(300_000));
        let bytes = pdfs::pages(
            &["BT /F1 9 Tf (still) Tj ET"],
            HELVETICA,
            "",
            &[deep.into_bytes()],
        );
        assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooComplex);
    }
}

/// Blanks, compressed a megabyte at a time: each compressed block is complete, so blocks can be
/// repeated.
fn blanks(megabytes: usize) -> Vec<u8> {
    let mut packer = Compress::new(Compression::best(), false);
    let mut block = Vec::with_capacity(1 << 16);
    packer
        .compress_vec(&vec![b' '; 1 << 20], &mut block, FlushCompress::Full)
        .expect("memory takes it");
    block.repeat(megabytes)
}

fn form(filter: &str, data: &[u8], times: usize) -> Result<Source, Unreadable> {
    let form = pdfs::stream(&format!("/Type /XObject /Subtype /Form {filter}"), data);
    read(&pdfs::pages(
        &[&"/X Do ".repeat(times)],
        HELVETICA,
        "/XObject << /X 4 0 R >>",
        &[form],
    ))
}

#[test]
fn compression_bombs_are_refused() {
    let megabytes = INFLATED_MAX_BYTES >> 20;
    assert_eq!(
        form("/Filter /Fl", &blanks(megabytes + 1), 1).unwrap_err(),
        Unreadable::TooMuchText
    );
    assert_eq!(
        form("/Filter /Fl", &blanks(megabytes / 8), 9).unwrap_err(),
        Unreadable::TooMuchText
    );
    let twice = pdfs::deflated(&blanks(megabytes + 1));
    assert_eq!(
        form("/Filter [/FlateDecode /FlateDecode]", &twice, 1).unwrap_err(),
        Unreadable::TooMuchText
    );
    assert_eq!(
        form("/Filter [/Fl /Fl /Fl /Fl /Fl]", &twice, 1).unwrap_err(),
        Unreadable::TooComplex
    );
    assert_eq!(
        form("/Filter /RL", &[129, b' '].repeat(1_100_000), 1).unwrap_err(),
        Unreadable::TooMuchText
    );
    assert_eq!(
        form("", &vec![b'%'; 10 << 20], 20).unwrap_err(),
        Unreadable::TooMuchText
    );
}

/// Codes that each repeat the output of the one before, and its first byte once more.
#[test]
fn an_lzw_bomb_is_refused() {
    let mut bits = String::from("100000000");
    for code in std::iter::once(32).chain(258..4_000) {
        // The code width that the reader has reached, one entry later.
        let width = match code {
            0..=510 => 9,
            511..=1022 => 10,
            1023..=2046 => 11,
            _ => 12,
        };
        bits.extend([format!("{code:0width$b}")]);
    }
    bits.truncate(bits.len() / 8 * 8);
    let bytes: Vec<u8> = bits
        .as_bytes()
        .chunks(8)
        .map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | (bit - b'0')))
        .collect();
    assert_eq!(
        form("/Filter /LZW", &bytes, 20).unwrap_err(),
        Unreadable::TooMuchText
    );
}

#[test]
fn an_object_stream_that_unpacks_to_too_much_is_refused() {
    let packed = blanks((INFLATED_MAX_BYTES >> 20) + 1);
    let bytes = pdfs::file(
        &[pdfs::stream(
            "/Type /ObjStm /N 1 /First 9 /Filter /FlateDecode",
            &packed,
        )],
        "",
    );
    assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooMuchText);
}

#[test]
fn a_line_of_single_letters_is_read() {
    let content = format!("BT /F1 9 Tf 72 700 Td {} ET", "(x) Tj ".repeat(400_000));
    let text = read(&crate::pdf_of(&content)).expect("it is read").markdown;
    assert_eq!(text.matches('x').count(), 400_000);
}

#[test]
fn circular_references_are_read_once() {
    let form = pdfs::stream(
        "/Subtype /Form /Resources << /XObject << /X 4 0 R >> /Font << /F1 3 0 R >> >>",
        b"BT /F1 9 Tf (x) Tj ET /X Do /X Do",
    );
    let bytes = pdfs::pages(&["/X Do"], HELVETICA, "/XObject << /X 4 0 R >>", &[form]);
    assert!(read(&bytes).unwrap().markdown.starts_with('x'));
    let pages = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [2 0 R 3 0 R 3 0 R 3 0 R] >>".to_vec(),
        format!("<< /Type /Page /Contents 4 0 R /Resources << /Font << /F1 {HELVETICA} >> >> >>")
            .into_bytes(),
        pdfs::stream("", b"BT /F1 9 Tf (once) Tj ET"),
        b"<< /A 5 0 R >>".to_vec(),
    ];
    assert_eq!(read(&pdfs::file(&pages, "/Info 6 0 R")).unwrap().markdown, "once");
    let hops = [
        b"<< /Pages 2 0 R >>".to_vec(),
        b"<< /Kids 3 0 R >>".to_vec(),
        b"[[3 0 R]]".to_vec(),
    ];
    assert_eq!(read(&pdfs::file(&hops, "")).unwrap_err(), Unreadable::Damaged);
}

#[test]
fn too_many_pages_are_refused() {
    let kids = "<< /Type /Page >> ".repeat(PAGES_MAX + 1);
    let pages = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] >>").into_bytes(),
    ];
    assert_eq!(
        read(&pdfs::file(&pages, "")).unwrap_err(),
        Unreadable::TooManyPages
    );
    let loose: Vec<_> = (0..=PAGES_MAX).map(|_| b"<< /Type /Page >>".to_vec()).collect();
    assert_eq!(
        read(&pdfs::file(&loose, "")).unwrap_err(),
        Unreadable::TooManyPages
    );
}

#[test]
fn too_many_steps_are_refused() {
    let bytes = pdfs::file(&[format!("[{}]", "0 ".repeat(PDF_VALUES_MAX)).into_bytes()], "");
    assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooComplex);
    // Each font is small in the file and large in memory.
    let fonts = joined((0..20_000).map(|nth| format!("/G{nth} << /Subtype /Type1 >> ")));
    let uses = joined((0..20_000).map(|nth| format!("/G{nth} 1 Tf ")));
    let pages = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Page /Contents 3 0 R /Resources << /Font << {fonts} >> >> >>").into_bytes(),
        pdfs::stream("", uses.as_bytes()),
    ];
    assert_eq!(read(&pdfs::file(&pages, "")).unwrap_err(), Unreadable::TooComplex);
}

/// A font whose map gives a long text for each code.
#[test]
fn a_code_that_maps_to_a_long_text_is_limited() {
    let font = |map: &str, content: &str| {
        let font = "<< /Type /Font /Subtype /Type1 /BaseFont /X /ToUnicode 4 0 R >>";
        let map = pdfs::stream("/Filter /FlateDecode", &pdfs::deflated(map.as_bytes()));
        read(&pdfs::pages(&[content], font, "", &[map]))
    };
    let book = "0062".repeat(20_000);
    let (one, many) = ("BT /F1 9 Tf (a) Tj ET", "(a) Tj ".repeat(400_000));
    let map = format!("1 beginbfchar <61> <{book}> endbfchar");
    assert!(font(&map, one).expect("it is read").markdown.len() < 100);
    let map = format!("1 beginbfrange <0000> <ffff> <{book}> endbfrange ");
    assert!(font(&map, one).expect("it is read").markdown.len() < 100);
    // Each page is of ordinary size, but its text is not.
    let map = format!("1 beginbfchar <61> <{}> endbfchar", "0062".repeat(30));
    assert_eq!(
        font(&map, &format!("BT /F1 9 Tf {many} ET")).unwrap_err(),
        Unreadable::TooMuchText
    );
    let map = "1 beginbfrange <0000> <ffff> [] endbfrange ".repeat(1_000);
    assert_eq!(font(&map, one).unwrap_err(), Unreadable::TooComplex);
}

#[test]
fn the_highest_codes_do_not_overflow() {
    let font = "<< /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /W [4294967295 [500 500] 65535 [500 500]] >>] >>";
    let bytes = pdfs::pages(&["BT /F1 9 Tf <ffff> Tj ET"], font, "", &[]);
    assert_eq!(read(&bytes).unwrap_err(), Unreadable::Scanned);
}

/// Data derived from a file takes memory as well: maps of fonts, runs of text.
#[test]
fn small_files_that_are_large_in_memory_are_refused() {
    let using = |times: usize, font: &str| {
        let fonts = joined((0..times).map(|nth| format!("/G{nth} << {font} >> ")));
        let uses = joined((0..times).map(|nth| format!("/G{nth} 1 Tf ")));
        let objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            format!("<< /Type /Page /Contents 3 0 R /Resources << /Font << {fonts} >> >> >>").into_bytes(),
            pdfs::stream("", uses.as_bytes()),
            format!("[{}]", "5 0 R ".repeat(512)).into_bytes(),
            format!("/{}", "f".repeat(100_000)).into_bytes(),
        ];
        read(&pdfs::file(&objects, "")).unwrap_err()
    };
    let wide = "/Subtype /Type0 /Encoding /UniX /DescendantFonts [<< /A 1 >>]";
    assert_eq!(using(80, wide), Unreadable::TooComplex);
    let named = "/Subtype /Type1 /Encoding << /Differences 4 0 R >>";
    assert_eq!(using(2, named), Unreadable::TooComplex);
    let letters = format!("BT /F1 9 Tf {} ET", "(x)Tj ".repeat(10_000));
    let many = form("", letters.as_bytes(), PDF_VALUES_MAX / 10_000);
    assert_eq!(many.unwrap_err(), Unreadable::TooComplex);
}

/// Small objects that all contain one long string, and pages that share one long list.
#[test]
fn values_that_are_read_repeatedly_count_each_time() {
    let heads = "1 0 ".repeat(200_000);
    let entries = format!(
        "/Type /ObjStm /N 200000 /First {} /Filter /FlateDecode",
        heads.len()
    );
    for opening in ["(", "%", " "] {
        let packed = format!("{heads}{}", opening.repeat(4 << 20));
        let bytes = pdfs::file(&[pdfs::stream(&entries, &pdfs::deflated(packed.as_bytes()))], "");
        assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooComplex, "{opening}");
    }
    let kids = "<< /Contents 3 0 R >> ".repeat(PAGES_MAX);
    let pages = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] >>").into_bytes(),
        format!("[{}]", "9 0 R ".repeat(100_000)).into_bytes(),
    ];
    assert_eq!(read(&pdfs::file(&pages, "")).unwrap_err(), Unreadable::TooComplex);
}

#[test]
fn deeply_nested_mails_are_refused() {
    let groups =
        (0..100).map(|depth| format!("Content-Type: multipart/mixed; boundary=b{depth}\n\n--b{depth}\n"));
    let mail = format!("From: a\nMIME-Version: 1.0\n{}", joined(groups));
    assert_eq!(read(mail.as_bytes()).unwrap_err(), Unreadable::TooComplex);
    let parts = "--b\n\nx\n".repeat(PARTS_MAX + 1);
    let mail = format!("From: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n{parts}");
    assert_eq!(read(mail.as_bytes()).unwrap_err(), Unreadable::TooComplex);
    // Each looks like the start of an encoded word, and none is one.
    let words = "=?a?q?".repeat(500_000);
    let mail = format!("From: a\nMIME-Version: 1.0\nSubject: {words}\n\nx");
    assert!(read(mail.as_bytes()).is_ok());
}
