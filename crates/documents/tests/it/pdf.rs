//! PDFs, feature by feature.

use documents::{Source, Unreadable};
use expect_test::expect;

use crate::joined;
use crate::pdfs::{self, HELVETICA};

fn read(bytes: &[u8]) -> Result<Source, Unreadable> {
    documents::read(bytes, "paper.pdf", "application/pdf")
}

fn markdown(content: &str) -> String {
    read(&crate::pdf_of(content))
        .expect("a file that can be read")
        .markdown
}

fn with_font(content: &str, font: &str, more: &[Vec<u8>]) -> String {
    read(&pdfs::pages(&[content], font, "", more))
        .expect("a file that can be read")
        .markdown
}

/// Output of pdfTeX: gaps instead of spaces; a hyphen at the end of a line; ligatures by the codes
/// of its fonts; larger headings; two columns, one after the other; a page number below.
#[test]
fn a_page_of_latex_is_read_in_order() {
    let content = "BT /F1 17.2 Tf 150 700 Td [(On)-333(Memory)]TJ /F1 14.3 Tf -78 -40 Td [(1)-1000(In)28(tro)-28(duction)]TJ \
        /F1 10 Tf 0 -20 Td [(W)83(e)-333(\\014nd)-333(an)-333(e\\016cien)28(t)-333(mec)27(ha-)]TJ 0 -12 Td [(nism.)-444(It)-333(w)28(orks.)]TJ \
        15 -12 Td [(A)-333(new)-333(paragraph)-333(that)-333(do)-28(es)]TJ 250 84 Td [(not)-333(end)-333(here.)]TJ -30 -600 Td (7)Tj ET";
    let widths = "5 ".repeat(256).replace("5 ", "500 ");
    let font = format!(
        "<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+CMR10 /FirstChar 0 /LastChar 255 /Widths [{widths}] >>"
    );
    expect![[r"
        # On Memory

        ## 1 Introduction

        We find an efficient mechanism. It works.

        A new paragraph that does not end here."]]
    .assert_eq(&with_font(content, &font, &[]));
}

/// Output of browsers and word processors: two bytes a glyph, a map to Unicode, each run placed by
/// itself.
#[test]
fn glyphs_are_decoded_by_a_unicode_map() {
    let map = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange \
        2 beginbfchar <0001> <0048> <0002> <D83DDE00> endbfchar 2 beginbfrange <0010> <0012> <0061> \
        <0020> <0021> [<00660069> <65E5>] endbfrange endcmap end";
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 4 0 R /DescendantFonts [<< /Type /Font \
        /Subtype /CIDFontType2 /DW 500 /W [1 [700 800] 16 18 600] >>] >>";
    let content = "BT /F1 10 Tf 1 0 0 1 72 700 Tm <0001001000110012> Tj 1 0 0 1 97 700 Tm <0020> Tj 1 0 0 1 106 700 Tm <00210002> Tj ET";
    let more = [pdfs::stream(
        "/Filter /FlateDecode",
        &pdfs::deflated(map.as_bytes()),
    )];
    assert_eq!(with_font(content, font, &more), "Habcfi 日😀");
}

#[test]
fn every_escape_in_a_string_is_a_byte() {
    let codes = (0..=13).map(|code| format!("{code} /{}", char::from(b'a' + code)));
    let font = format!(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Times /Encoding << /Differences [{}] >> >>",
        codes.collect::<Vec<_>>().join(" ")
    );
    let content = "BT /F1 10 Tf 72 700 Td (\\007\\b\\t\\n\\013\\f\\r) Tj ET";
    assert_eq!(with_font(content, &font, &[]), "hijklmn");
}

#[test]
fn names_of_glyphs_give_letters() {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Times /Encoding << /Differences [1 /eacute /f_i /uni20AC /u1F600 /A.sc \
        65 /Omega /nonsense] >> >>";
    assert_eq!(
        with_font(
            "BT /F1 10 Tf 72 700 Td (\\001\\002\\003\\004\\005ABC') Tj ET",
            font,
            &[]
        ),
        "éfi€😀AΩC’"
    );
}

#[test]
fn operators_that_move_the_text_separate_lines() {
    let content = "q 2 0 0 2 0 0 cm BT /F1 6 Tf 7 TL 36 350 Td (one) Tj T* (two) Tj (three) ' 0 0 (four) \" ET Q \
        BT /F1 10 Tf 72 400 TD (su) Tj 4 Ts /F1 6 Tf (2) Tj 0 Ts /F1 10 Tf ( rest) Tj ET BI /W 1 /H 1 ID (xx) Tj EI BT 72 300 Td /F1 10 Tf (last) Tj ET";
    assert_eq!(markdown(content), "one two three four\n\nsu2 rest\n\nlast");
}

#[test]
fn nested_drawings_are_read() {
    let form = pdfs::stream(
        "/Type /XObject /Subtype /Form /Resources << /Font << /G 3 0 R >> >> /Matrix [1 0 0 1 0 -50]",
        b"BT /G 10 Tf 72 700 Td (inside) Tj ET",
    );
    let bytes = pdfs::pages(
        &["BT /F1 10 Tf 72 700 Td (outside.) Tj ET /X Do"],
        HELVETICA,
        "/XObject << /X 4 0 R >>",
        &[form],
    );
    assert_eq!(read(&bytes).unwrap().markdown, "outside.\n\ninside");
}

#[test]
fn objects_in_streams_with_predictors_are_read() {
    let font = HELVETICA;
    let page = "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> >> /Contents 6 0 R >>";
    let pages = "<< /Type /Pages /Count 1 /Kids [4 0 R] >>";
    let head = format!("2 0 4 {} 5 {} ", pages.len() + 1, pages.len() + page.len() + 2);
    let packed = format!("{head}{pages} {page} {font}");
    let entries = format!(
        "/Type /ObjStm /N 3 /First {} /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 8 >>",
        head.len()
    );
    let mut rows = Vec::new();
    let padded = format!("{packed:<width$}", width = packed.len().next_multiple_of(8));
    let mut above = [0_u8; 8];
    for row in padded.as_bytes().chunks(8) {
        rows.push(2);
        rows.extend(row.iter().zip(above).map(|(byte, up)| byte.wrapping_sub(up)));
        above.copy_from_slice(row);
    }
    let mut bytes = b"%PDF-1.5\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n3 0 obj\n".to_vec();
    bytes.extend(pdfs::stream(&entries, &pdfs::deflated(&rows)));
    bytes.extend(b"\nendobj\n6 0 obj\n");
    bytes.extend(pdfs::stream("", b"BT /F1 10 Tf 72 700 Td (packed) Tj ET"));
    bytes.extend(b"\nendobj\n7 0 obj << /Type /XRef /Root 1 0 R >> endobj");
    assert_eq!(read(&bytes).unwrap().markdown, "packed");
}

#[test]
fn older_filters_are_decoded() {
    let content = |filter: &str, data: &[u8]| {
        let objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] >>".to_vec(),
            format!("<< /Type /Page /Contents 4 0 R /Resources << /Font << /F1 {HELVETICA} >> >> >>")
                .into_bytes(),
            pdfs::stream(&format!("/Filter {filter}"), data),
        ];
        read(&pdfs::file(&objects, "")).unwrap().markdown
    };
    let plain = b"BT /F1 9 Tf (old) Tj ET";
    let hex = joined(plain.iter().map(|byte| format!("{byte:02x}")));
    assert_eq!(content("[/ASCIIHexDecode]", format!("{hex}>").as_bytes()), "old");
    let mut runs = vec![22];
    runs.extend(plain);
    runs.push(128);
    assert_eq!(content("/RL", &runs), "old");
    // 9 bits a code: clear, each byte, end.
    let codes = [256]
        .into_iter()
        .chain(plain.iter().map(|byte| u32::from(*byte)))
        .chain([257]);
    let bits = joined(codes.map(|code| format!("{code:09b}")));
    let lzw: Vec<u8> = bits
        .as_bytes()
        .chunks(8)
        .map(|byte| u8::from_str_radix(&format!("{:0<8}", String::from_utf8_lossy(byte)), 2).unwrap())
        .collect();
    assert_eq!(content("/LZWDecode", &lzw), "old");
    assert_eq!(
        content("[/A85 /Fl]", ascii85(&pdfs::deflated(plain)).as_bytes()),
        "old"
    );
}

fn ascii85(data: &[u8]) -> String {
    let mut text = String::new();
    for group in data.chunks(4) {
        let mut bytes = [0; 4];
        bytes[..group.len()].copy_from_slice(group);
        let mut word = u32::from_be_bytes(bytes);
        let mut digits = [0_u8; 5];
        for digit in digits.iter_mut().rev() {
            *digit = b'!' + u8::try_from(word % 85).expect("below 85");
            word /= 85;
        }
        text.extend(digits[..=group.len()].iter().map(|digit| char::from(*digit)));
    }
    text + "~>"
}

#[test]
fn lzw_codes_repeat_earlier_output() {
    // The encoder's example in the format's description: 45 45 45 45 45 65 45 45 45 66.
    let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] >>".to_vec(),
        format!(
            "<< /Type /Page /Contents [5 0 R 4 0 R 6 0 R] /Resources << /Font << /F1 {HELVETICA} >> >> >>"
        )
        .into_bytes(),
        pdfs::stream("/Filter /LZWDecode", &packed),
        pdfs::stream("", b"BT /F1 9 Tf ("),
        pdfs::stream("", b") Tj ET"),
    ];
    assert_eq!(read(&pdfs::file(&objects, "")).unwrap().markdown, "-----A---B");
}

#[test]
fn unreadable_pdfs_are_refused_with_a_reason() {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [] >>".to_vec(),
    ];
    assert_eq!(
        read(&pdfs::file(&objects, "/Encrypt << /Filter /Standard >>")),
        Err(Unreadable::Encrypted)
    );
    assert_eq!(read(&pdfs::file(&objects, "")), Err(Unreadable::Damaged));
    assert_eq!(read(b"%PDF-1.4 and nothing else"), Err(Unreadable::Damaged));
    assert_eq!(
        read(&crate::pdf_of("q 600 0 0 800 0 0 cm /Im1 Do Q")),
        Err(Unreadable::Scanned)
    );
}

#[test]
fn recognised_text_counts_only_without_other_text() {
    assert_eq!(
        markdown("BT 3 Tr /F1 10 Tf 72 700 Td (recognised) Tj ET"),
        "recognised"
    );
    let both =
        "BT 3 Tr /F1 10 Tf 72 700 Td (BAD) Tj 0 Tr 0 -12 Td (shown) Tj /F1 0.2 Tf 0 -12 Td (BAD) Tj ET";
    assert_eq!(markdown(both), "shown");
}

#[test]
fn objects_are_found_without_the_table() {
    let whole = crate::pdf_of("BT /F1 10 Tf 72 700 Td (found) Tj ET");
    let table = whole.windows(4).rposition(|window| window == b"xref").unwrap();
    assert_eq!(read(&whole[..table - 20]).unwrap().markdown, "found");
    // A later object with the same number replaces the earlier one.
    let mut edited = whole.clone();
    edited.extend(b"\n5 0 obj\n");
    edited.extend(pdfs::stream("", b"BT /F1 10 Tf 72 700 Td (edited) Tj ET"));
    edited.extend(b"\nendobj\n");
    assert_eq!(read(&edited).unwrap().markdown, "edited");
}

#[test]
fn a_pdf_has_its_own_title_unless_a_program_made_it() {
    let titled = |title: &str| {
        let mut bytes = crate::pdf_of("BT /F1 10 Tf 72 700 Td (words) Tj ET");
        bytes.extend(format!("trailer << /Info << /Title {title} >> >>").bytes());
        read(&bytes).unwrap().title
    };
    assert_eq!(titled("(On Memory)"), "On Memory");
    assert_eq!(titled("<FEFF65E5672C>"), "日本");
    assert_eq!(titled("(draft7.tex)"), "paper");
}
