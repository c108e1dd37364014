//! Hostile office files: without its guard, each would exhaust the memory or the time.

use documents::{INFLATED_MAX_BYTES, NAMES_MAX, NESTING_MAX, PAGES_MAX, PARTS_MAX, Source, Unreadable};

use crate::hostile::read;
use crate::{joined, packages};

const WORKBOOK: &str = "<workbook><sheets><sheet name='S' r:id='r1'/></sheets></workbook>";

fn office(main: &str) -> Result<Source, Unreadable> {
    read(&packages::file(main, &[], &[]))
}

#[test]
fn deeply_nested_xml_is_refused() {
    let nested = |depth: usize| {
        let (open, close) = ("<w:a>".repeat(depth - 1), "</w:a>".repeat(depth - 1));
        office(&format!("<document>{open}<p><t>deep</t></p>{close}</document>"))
    };
    assert_eq!(nested(NESTING_MAX - 2).unwrap().markdown, "deep\n");
    assert_eq!(nested(NESTING_MAX + 1).unwrap_err(), Unreadable::TooComplex);
}

/// A part counts each time it is read; a part that is not read does not count.
#[test]
fn office_bombs_are_refused() {
    let spaces = " ".repeat(INFLATED_MAX_BYTES / 2 + 1);
    let sheet = "<worksheet><row><c t='str'><v>small</v></c></row></worksheet>";
    let bomb = |second: &str| {
        let related = [
            ("r1", "worksheet", "sheet.xml"),
            ("x", "styles", "x.xml"),
            ("y", second, "x.xml"),
        ];
        read(&packages::file(
            WORKBOOK,
            &related,
            &[("a/sheet.xml", sheet), ("a/x.xml", &spaces)],
        ))
    };
    assert_eq!(bomb("theme").unwrap().markdown, "## S\n\nsmall\n");
    assert_eq!(bomb("sharedStrings").unwrap_err(), Unreadable::TooMuchText);
}

#[test]
fn one_shared_text_does_not_multiply_a_workbook() {
    let texts = format!("<sst><si><t>{}</t></si></sst>", "a".repeat(1 << 20));
    let cells = "<c t='s'><v>0</v></c>".repeat(1_000);
    let bytes = packages::file(
        WORKBOOK,
        &[("r1", "worksheet", "s.xml"), ("r2", "sharedStrings", "t.xml")],
        &[
            ("a/s.xml", &format!("<worksheet><row>{cells}</row></worksheet>")),
            ("a/t.xml", &texts),
        ],
    );
    assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooMuchText);
}

/// A cell far to the right in each row, each in a column of its own.
#[test]
fn far_cells_do_not_fill_a_table() {
    let rows = (1..=16_000).map(|row| {
        let column: String = [row / 676, row / 26 % 26, row % 26]
            .map(|n| char::from(b'A' + u8::try_from(n).unwrap()))
            .iter()
            .collect();
        format!("<row r='{row}'><c r='{column}{row}'><v>1</v></c></row>")
    });
    assert_eq!(
        read(&packages::sheet(&joined(rows))).unwrap_err(),
        Unreadable::TooMuchText
    );
    let last = "<row r='1'><c r='A1'><v>1</v></c><c r='XFD1'><v>2</v></c></row><row r='1048576'><c><v>3</v></c></row>";
    assert_eq!(
        read(&packages::sheet(last)).unwrap().markdown,
        "## S\n\n| 1 | 2 |\n|---|---|\n\n3\n"
    );
}

#[test]
fn one_address_does_not_multiply_a_document() {
    let address = format!("https://{}", "a".repeat(1_900));
    let link = "<w:hyperlink r:id='r1'><w:r><w:t>x</w:t></w:r></w:hyperlink>";
    let main = format!("<document><p>{}</p></document>", link.repeat(10_000));
    let bytes = packages::file(&main, &[("r1", "hyperlink", &address)], &[]);
    assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooMuchText);
}

#[test]
fn too_many_parts_slides_and_columns_are_refused() {
    let names: Vec<String> = (0..=PARTS_MAX).map(|nth| format!("{nth}")).collect();
    let parts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(
        read(&packages::archive(&parts)).unwrap_err(),
        Unreadable::TooComplex
    );
    let slides = "<sldId r:id='r'/>".repeat(PAGES_MAX + 1);
    let many = packages::file(
        &format!("<presentation>{slides}</presentation>"),
        &[("r", "slide", "s.xml")],
        &[("a/s.xml", "<sld/>")],
    );
    assert_eq!(read(&many).unwrap_err(), Unreadable::TooManyPages);
    let columns = "<col min='1' max='16384' hidden='1'/>".repeat(16_385);
    assert_eq!(
        read(&packages::sheet(&columns)).unwrap_err(),
        Unreadable::TooComplex
    );
}

/// Styles that are based on each other.
#[test]
fn circular_styles_are_read() {
    let styles = "<styles><style styleId='A'><basedOn val='B'/></style><style styleId='B'><basedOn val='A'/></style></styles>";
    let main = "<document><p><pPr><pStyle val='A'/></pPr><r><rPr><rStyle val='B'/></rPr><t>round</t></r></p></document>";
    let bytes = packages::file(main, &[("s", "styles", "s.xml")], &[("a/s.xml", styles)]);
    assert_eq!(read(&bytes).unwrap().markdown, "round\n");
}

/// Invisible texts, so that no limit on the text stops the reader.
#[test]
fn invisible_texts_do_not_multiply_a_workbook() {
    let cells = "<c r='A1' t='s'><v>0</v></c>".repeat(50_000);
    let hidden = "<col min='1' max='1' hidden='1'/>";
    for (text, columns) in [("x", hidden), (" ", "")] {
        let texts = format!("<sst><si><t>{}</t></si></sst>", text.repeat(8 << 20));
        let sheet = format!("<worksheet>{columns}<row>{cells}<c><v>2</v></c></row></worksheet>");
        let bytes = packages::file(
            WORKBOOK,
            &[("r1", "worksheet", "s.xml"), ("r2", "sharedStrings", "t.xml")],
            &[("a/s.xml", &sheet), ("a/t.xml", &texts)],
        );
        assert_eq!(read(&bytes).unwrap().markdown, "## S\n\n2\n");
    }
}

/// Rows that take far more memory than their text. The sheet ends in a nesting that is too deep,
/// and the reader must stop before it.
#[test]
fn too_many_small_rows_are_refused_before_the_end() {
    let rows = "<row><c><v>1</v></c></row>".repeat(700_000);
    let deep = "<a>".repeat(NESTING_MAX);
    assert_eq!(
        read(&packages::sheet(&(rows + &deep))).unwrap_err(),
        Unreadable::TooMuchText
    );
}

/// A link around paragraphs, or around an unclosed table: its address is repeated in each of them.
#[test]
fn one_link_does_not_multiply_a_document() {
    let address = format!("https://{}", "a".repeat(1_900));
    for (open, inside) in [("", "<p><t>x</t></p>"), ("<tbl><tr>", "<tc><p><t>x</t></p></tc>")] {
        let deep = "<a>".repeat(NESTING_MAX);
        let main = format!(
            "<document>{}{open}{}{deep}",
            "<hyperlink r:id='r1'>".repeat(20),
            inside.repeat(6_000)
        );
        let bytes = packages::file(&main, &[("r1", "hyperlink", &address)], &[]);
        assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooMuchText);
    }
}

/// Each item is one level deeper than the one before.
#[test]
fn a_list_that_only_gets_deeper_stays_bounded() {
    let styles = "<styles><style styleId='a'><numId val='1'/><ilvl val='999999'/></style></styles>";
    let lists = "<numbering><num numId='1'><abstractNumId val='1'/></num></numbering>";
    let items = "<p><pPr><pStyle val='a'/></pPr><t>x</t></p>".repeat(100_000);
    let bytes = packages::file(
        &format!("<document>{items}</document>"),
        &[("s", "styles", "s.xml"), ("n", "numbering", "n.xml")],
        &[("a/s.xml", styles), ("a/n.xml", lists)],
    );
    let markdown = read(&bytes).unwrap().markdown;
    assert!(
        markdown.ends_with(&format!("\n{}- x\n", "  ".repeat(8))),
        "nine levels"
    );
}

/// A name that is compared for every paragraph and stored for every level of a list.
#[test]
fn long_names_are_ignored() {
    let long = "n".repeat(8 << 20);
    let styles = format!(
        "<styles><style styleId='a'><basedOn val='{long}'/></style><style styleId='{long}'><basedOn val='{long}'/></style></styles>"
    );
    let levels = joined((0..400).map(|level| format!("<lvl ilvl='{level}'/><numFmt val='decimal'/>")));
    let lists = format!("<numbering><abstractNum abstractNumId='{long}'/>{levels}</numbering>");
    let paragraphs = "<p><pPr><pStyle val='a'/></pPr><t>x</t></p>".repeat(10_000);
    let bytes = packages::file(
        &format!("<document>{paragraphs}</document>"),
        &[("s", "styles", "s.xml"), ("n", "numbering", "n.xml")],
        &[("a/s.xml", &styles), ("a/n.xml", &lists)],
    );
    assert_eq!(read(&bytes).unwrap().markdown.matches('x').count(), 10_000);
}

/// Names that stay in memory while the file is read.
#[test]
fn too_many_names_are_refused() {
    let many = |name: &dyn Fn(usize) -> String| joined((0..=NAMES_MAX).map(name));
    let styles = format!(
        "<styles>{}</styles>",
        many(&|nth| format!("<style styleId='{nth}'/>"))
    );
    let bytes = packages::file(
        "<document/>",
        &[("s", "styles", "s.xml")],
        &[("a/s.xml", &styles)],
    );
    assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooComplex);
    let relations = many(&|nth| format!("<R Id='{nth}' Type='x' Target='x'/>"));
    let bytes = packages::archive(&[("_rels/.rels", &format!("<R>{relations}</R>"))]);
    assert_eq!(read(&bytes).unwrap_err(), Unreadable::TooComplex);
}
