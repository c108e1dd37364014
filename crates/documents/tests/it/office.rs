//! Files of office programs: the text that is read, and the hidden text that is not.

use documents::{FileKind, Unreadable, topics};
use expect_test::{Expect, expect};

use crate::packages::{archive, file, relations, sheet, slide, word};

fn check(bytes: &[u8], name: &str, kind: FileKind, title: &str, expected: &Expect) {
    let source = documents::read(bytes, name, "").expect("an office file is read");
    assert_eq!((source.kind, source.title.as_str()), (kind, title));
    expected.assert_eq(&source.markdown);
    // The content decides the kind, not the file's name.
    let other = documents::read(bytes, "notes.txt", "text/plain").expect("an office file is read");
    assert_eq!((other.kind, other.markdown), (kind, source.markdown));
}

fn text(bytes: &[u8]) -> String {
    documents::read(bytes, "", "")
        .expect("a file that can be read")
        .markdown
}

fn error(bytes: &[u8]) -> Unreadable {
    documents::read(bytes, "", "").expect_err("a file that cannot be read")
}

#[test]
fn a_word_document_is_read() {
    let expected = expect![[r"
        # Harbour festival

        The festival begins on the third of May. It lasts two days.

        # Programme

        - Boat race
        - Only for rowing boats
        - Fish market
        1. Register
        2. Pay

        ## Costs

        | Thing | Euro |
        |---|---|
        | Stage | 1,200 |
        | Tents \| flags | 340 |

        Seen and < a tag>.

        The stage stands on the quay

        Ask the mayor.

        See [the plan](https://example.org/plan)
    "]];
    let bytes = include_bytes!("../fixtures/festival.docx");
    check(
        bytes,
        "festival.docx",
        FileKind::Docx,
        "Harbour festival",
        &expected,
    );
    let source = documents::read(bytes, "", "").unwrap();
    let paths: Vec<String> = topics(&source).into_iter().map(|topic| topic.path).collect();
    assert_eq!(paths, ["Harbour festival", "Programme", "Programme > Costs"]);
}

#[test]
fn a_presentation_is_read() {
    let expected = expect![[r"
        ## Solar roof

        A proposal for the school

        ## Why now

        - Prices fell by half
          - Panels most of all
        - The roof must be mended anyway

        ### Notes

        Mention the storm of last winter.

        ## Numbers

        | Year | kWh |
        |---|---|
        | 2027 | 41,000 |

        Measured on the gym's roof.
    "]];
    check(
        include_bytes!("../fixtures/roof.pptx"),
        "roof.pptx",
        FileKind::Pptx,
        "Solar roof",
        &expected,
    );
}

#[test]
fn a_workbook_is_read() {
    let expected = expect![[r"
        ## Club

        Members of the rowing club

        | Name | Joined | Fee | Paid | Share |
        |---|---|---|---|---|
        | Ana | 2021-03-04 | 120.5 | TRUE | 15% |
        | Ben | 2022-12-31 18:30 | 0.3 | FALSE | 7.5% |
        | Cid \| Co | 07:05 |

        ## Boats

        | Boat | Seats |
        |---|---|
        | Möwe | 4 |
    "]];
    check(
        include_bytes!("../fixtures/club.xlsx"),
        "rowing-club.xlsx",
        FileKind::Xlsx,
        "rowing club",
        &expected,
    );
}

#[test]
fn hidden_text_of_a_document_is_left_out() {
    let run =
        |properties: &str, text: &str| format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>");
    let styles = "<w:styles><w:style w:styleId='Base'><w:rPr><w:vanish/></w:rPr></w:style>\
        <w:style w:styleId='Secret'><w:basedOn w:val='Base'/></w:style></w:styles>";
    let body = [
        "<w:p><w:pPr><w:rPr><w:vanish/><w:del/></w:rPr></w:pPr><w:r><w:t>The mark alone is hidden.</w:t></w:r></w:p>".to_owned(),
        format!("<w:p>{}</w:p>", run("<w:vanish w:val='0'/>", "Switched off.")),
        format!("<w:p>{}</w:p>", run("<w:b/><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>", "Shown by a change.")),
        format!("<w:p>{}</w:p>", run("<w:vanish/>", "NO")),
        format!("<w:p>{}</w:p>", run("<w:rStyle w:val='Secret'/>", "NO")),
        format!("<w:p>{}</w:p>", run("<w:rStyle w:val='Secret'/><w:vanish w:val='false'/>", "Shown in spite of its style.")),
        "<w:p><w:pPr><w:pStyle w:val='Secret'/></w:pPr><w:r><w:t>NO</w:t></w:r></w:p>".to_owned(),
        "<w:p><w:moveFrom><w:r><w:t>NO</w:t></w:r></w:moveFrom><w:r><w:instrText>NO</w:instrText></w:r></w:p>".to_owned(),
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>NO</w:t></w:r></w:p></w:tc></w:tr>\
         <w:tr><w:trPr><w:hidden/></w:trPr><w:tc><w:p><w:r><w:t>NO</w:t></w:r></w:p></w:tc></w:tr>\
         <w:tr><w:tc><w:p><w:r><w:t>A row.</w:t></w:r></w:p></w:tc></w:tr></w:tbl>".to_owned(),
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>A box.</w:t></w:r></w:p></w:txbxContent>\
         </mc:Choice><mc:Fallback><w:t>NO</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>".to_owned(),
    ];
    let main = format!("<w:document><w:body>{}</w:body></w:document>", body.concat());
    let bytes = file(
        &main,
        &[("s", "styles", "styles.xml")],
        &[("a/styles.xml", styles)],
    );
    expect![[r"
        The mark alone is hidden.

        Switched off.

        Shown by a change.

        Shown in spite of its style.

        A row.

        A box.
    "]]
    .assert_eq(&text(&bytes));
}

#[test]
fn lists_and_outlines_of_a_document_are_kept() {
    let styles = "<w:styles><w:style w:styleId='H'><w:name w:val='heading 2'/></w:style><w:style w:styleId='Mine'>\
        <w:basedOn w:val='H'/></w:style></w:styles>";
    let lists = "<w:numbering><w:abstractNum w:abstractNumId='7'><w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:numFmt w:val='bullet'/></w:lvl></w:abstractNum><w:num w:numId='3'><w:abstractNumId w:val='7'/>\
        </w:num></w:numbering>";
    let paragraph = |properties: &str, text: &str| {
        format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let item = |level: usize, text: &str| {
        let list = format!("<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='3'/></w:numPr>");
        paragraph(&list, text)
    };
    let body = [
        paragraph("<w:pStyle w:val='Mine'/>", "Mine"),
        item(0, "one"),
        item(1, "under one"),
        "<w:p/>".to_owned(),
        item(0, "two"),
        paragraph("<w:outlineLvl w:val='9'/>", "Plain."),
        item(1, "a level left out"),
        paragraph("<w:outlineLvl w:val='8'/>", "Deep"),
    ];
    let main = format!("<w:document><w:body>{}</w:body></w:document>", body.concat());
    let bytes = file(
        &main,
        &[("s", "styles", "s.xml"), ("n", "numbering", "n.xml")],
        &[("a/s.xml", styles), ("a/n.xml", lists)],
    );
    let expected =
        "## Mine\n\n1. one\n   - under one\n2. two\n\nPlain.\n\n- a level left out\n\n###### Deep\n";
    assert_eq!(text(&bytes), expected);
}

#[test]
fn notes_and_characters_of_a_document_are_read() {
    let notes = "<w:footnotes><w:footnote w:type='separator' w:id='0'><w:p><w:r><w:t>NO</w:t></w:r></w:p></w:footnote>\
        <w:footnote w:id='2'><w:p><w:r><w:t>From the archive.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let main = "<!DOCTYPE d [<!ENTITY big 'NO'><!ENTITY file SYSTEM 'file:///etc/passwd'>]><w:document><w:p><w:r>\
        <w:t>A &amp; B&#8212;C &big;&file;\u{7}</w:t><w:tab/><w:t>D</w:t><w:noBreakHyphen/><w:t>E</w:t><w:br/><w:t># F</w:t>\
        <w:footnoteReference w:id='2'/></w:r></w:p></w:document>";
    let bytes = file(
        main,
        &[("f", "footnotes", "notes/n.xml")],
        &[("a/notes/n.xml", notes)],
    );
    expect![[r"
        A & B—C  D-E
        \# F[^2]

        [^2] From the archive.
    "]]
    .assert_eq(&text(&bytes));
}

#[test]
fn cells_of_a_workbook_are_read() {
    let rows = "<row r='2'><c r='C2' t='inlineStr'><is><t>right</t><rPh><t>NO</t></rPh></is></c>\
        <c r='A2' t='inlineStr'><is><r><t>le</t></r><r><t>ft</t></r></is></c></row>\
        <row><c t='b'><v>0</v></c><c t='e'><v>#N/A</v></c><c><f>NO</f><v>1E3</v></c></row>\
        <row r='9'><c r='ZZZZ9'><v>7</v></c><c r='B9'/></row><row r='10'><c><v>0.30000000000000004</v></c></row>";
    expect![[r"
        ## S

        | left |  | right |
        |---|---|---|
        | FALSE | #N/A | 1000 |

        7

        0.3
    "]]
    .assert_eq(&text(&sheet(rows)));
}

#[test]
fn numbers_of_a_workbook_have_their_format() {
    let shown = |code: &str, value: &str| {
        let styles = format!(
            "<styleSheet><numFmts><numFmt numFmtId='200' formatCode='{code}'/></numFmts><cellStyleXfs><xf numFmtId='14'/>\
             </cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='200'/></cellXfs></styleSheet>"
        );
        let bytes = file(
            "<workbook><sheets><sheet name='S' r:id='r1'/></sheets></workbook>",
            &[("r1", "worksheet", "s.xml"), ("r2", "styles", "styles.xml")],
            &[
                (
                    "a/s.xml",
                    &format!("<worksheet><row><c s='1'><v>{value}</v></c></row></worksheet>"),
                ),
                ("a/styles.xml", &styles),
            ],
        );
        text(&bytes).replace("## S\n\n", "").trim_end().to_owned()
    };
    assert_eq!(shown("yyyy-mm-dd", "45000"), "2023-03-15");
    assert_eq!(shown("d/m/yy", "1"), "1900-01-01");
    assert_eq!(shown("d/m/yy", "61"), "1900-03-01");
    assert_eq!(shown("[$-409]mmmm", "2958465"), "9999-12-31");
    assert_eq!(shown("dd.mm.yyyy hh:mm", "45000.9999999"), "2023-03-16 00:00");
    assert_eq!(shown("h:mm AM/PM", "0.75"), "18:00");
    assert_eq!(shown("[h]:mm", "1.5"), "36:00");
    assert_eq!(shown("0.0%", "0.075"), "7.5%");
    assert_eq!(shown("#,##0 \"days\"", "12.5"), "12.5");
    assert_eq!(shown("[Red]General", "-3"), "-3");
    // Numbers outside the calendar stay numbers.
    assert_eq!(shown("yyyy", "-1"), "-1");
    assert_eq!(shown("yyyy", "1e300"), "1e300");
    assert_eq!(shown("yyyy", "soon"), "soon");
}

#[test]
fn slides_without_text_or_title_are_read() {
    let shape = |properties: &str, text: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:cNvPr/>{properties}</p:nvSpPr><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp>"
        )
    };
    let shapes = [
        shape("<p:ph type='sldNum'/>", "NO"),
        shape("", "A free text."),
        "<p:grpSp><p:nvGrpSpPr><p:cNvPr hidden='true'/></p:nvGrpSpPr>".to_owned()
            + &shape("", "NO")
            + "</p:grpSp>",
        "<p:sp><p:nvSpPr/><a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:t>One</a:t></a:r></a:p>\
         <a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:t>Two</a:t></a:r><a:fld><a:t>NO</a:t></a:fld></a:p></p:sp>"
            .to_owned(),
    ];
    expect![[r"
        ## Slide 1

        A free text.

        1. One
        2. Two
    "]]
    .assert_eq(&text(&slide(&shapes.concat())));
    assert_eq!(error(&slide("<p:pic/>")), Unreadable::Empty);
}

#[test]
fn unreadable_office_files_are_refused_with_a_reason() {
    let whole = include_bytes!("../fixtures/festival.docx");
    assert_eq!(error(&whole[..whole.len() / 2]), Unreadable::Damaged);
    assert_eq!(
        error(&archive(&[("mimetype", "application/epub+zip")])),
        Unreadable::Unsupported
    );
    assert_eq!(
        error(&file("<office:spreadsheet/>", &[], &[])),
        Unreadable::Unsupported
    );
    assert_eq!(
        error(&archive(&[(
            "_rels/.rels",
            &relations(&[("r", "officeDocument", "gone.xml")])
        )])),
        Unreadable::Damaged
    );
    assert_eq!(error(&word("<w:p><w:t>x</w:p>")), Unreadable::Damaged);
    assert_eq!(error(&word("")), Unreadable::Empty);
    assert_eq!(error(&sheet("<row/>")), Unreadable::Empty);
    let mut compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    assert_eq!(error(&compound), Unreadable::Unsupported);
    compound.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(error(&compound), Unreadable::Encrypted);
}
