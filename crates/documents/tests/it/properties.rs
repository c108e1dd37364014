//! Properties of any file.

use documents::{
    BLOCK_MAX_TOKENS, DOCUMENT_SUMMARY_MAX_CHARS, LABELS_MAX, Source, TOPIC_MAX_TOKENS,
    TOPIC_SUMMARY_MAX_CHARS, Topic, topics,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::{packages, page, pdfs, read, squeezed};

fn check(source: &Source) -> Vec<Topic> {
    let topics = topics(source);
    let contents: String = topics.iter().map(|topic| topic.content.as_str()).collect();
    assert_eq!(
        squeezed(&contents),
        squeezed(&source.markdown),
        "no word is lost or said twice"
    );
    assert_eq!(topics, documents::topics(source), "equal text, equal topics");
    assert!(source.summary.chars().count() <= DOCUMENT_SUMMARY_MAX_CHARS);
    for (topic, number) in topics.iter().zip(1..) {
        assert_eq!(topic.number, number);
        assert!(!topic.name.is_empty() && !topic.content.trim().is_empty());
        assert!(topic.summary.chars().count() <= TOPIC_SUMMARY_MAX_CHARS);
        assert!(topic.labels.len() <= LABELS_MAX);
        assert!(topic.content.chars().count() <= (BLOCK_MAX_TOKENS + TOPIC_MAX_TOKENS) * 4);
        match topic.parent.map(|parent| &topics[parent - 1]) {
            Some(parent) => {
                assert!(parent.number < number);
                assert_eq!(topic.depth, parent.depth + 1);
                assert_eq!(topic.path, format!("{} > {}", parent.path, topic.name));
            }
            None => assert_eq!((topic.depth, &topic.path), (1, &topic.name)),
        }
    }
    topics
}

/// Lines by people and machines, in shapes that have a meaning in Markdown.
fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-zé漢👍 .,]{0,60}",
        2 => "#{1,6} [a-z ]{0,12}",
        1 => "( {0,5}|> |- |\\* |1\\. |```|~~~|\\||\t|<!--|<div>|\\[a\\]: )[a-z| ]{0,20}",
        1 => select(vec!["---", "===", "", "", "| - | - |", "```", "<script>", "&amp;"]).prop_map(str::to_owned),
    ];
    vec(line, 0..80).prop_map(|lines| lines.join("\n"))
}

/// Elements around words that identify their place.
fn elements() -> impl Strategy<Value = Vec<(Vec<&'static str>, bool)>> {
    let names = vec![
        "p", "div", "b", "ul", "li", "td", "table", "tr", "a href=/x", "code", "h2", "pre", "blockquote",
        "span", "dd", "br",
    ];
    vec((vec(select(names), 0..4), any::<bool>()), 1..40)
}

proptest! {
    #[test]
    fn any_markdown_is_kept_and_cut_into_topics(text in lines(), times in 1_usize..12) {
        let text = format!("x{}", text.repeat(times));
        check(&read(&text, "a.md"));
        prop_assert_eq!(read(&text, "a.md").markdown, text);
    }

    #[test]
    fn any_text_is_kept_and_cut_into_topics(text in lines(), times in 1_usize..12) {
        let text = format!("x{}", text.repeat(times));
        for topic in check(&read(&text, "a.txt")) {
            prop_assert!(topic.content.chars().count() <= TOPIC_MAX_TOKENS * 4);
        }
        prop_assert_eq!(read(&text, "a.txt").markdown, text);
    }

    #[test]
    fn every_word_of_a_page_is_kept(elements in elements()) {
        let mut html = String::new();
        let mut words = Vec::new();
        for (nth, (names, ends)) in elements.iter().enumerate() {
            for name in names {
                html.extend(["<", name, ">"]);
            }
            html.extend([format!(" w{nth}w ")]);
            words.push(format!("w{nth}w"));
            for name in names.iter().rev().filter(|_| *ends) {
                html.extend(["</", name.split(' ').next().unwrap(), ">"]);
            }
        }
        let markdown = page(&html);
        let mut shown: Vec<_> = markdown.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with('w')).collect();
        // The text between the cells of a table comes before it, as in a browser.
        shown.sort_unstable();
        words.sort_unstable();
        prop_assert_eq!(shown, words, "{}\n{}", html, markdown);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..2_000), name in "[a-z]{0,3}\\.(md|txt|html|pdf)") {
        if let Ok(source) = documents::read(&bytes, &name, "") {
            check(&source);
        }
        let html = [b"<html>", bytes.as_slice()].concat();
        drop(documents::read(&html, "", ""));
        drop(documents::read(&[b"%PDF-1.4 ", bytes.as_slice()].concat(), "", ""));
    }

    #[test]
    fn any_office_parts_are_read_without_a_panic(pieces in vec(select(XML.to_vec()), 0..60), root in select(vec!["document", "workbook", "presentation"])) {
        let text = format!("<{root}>{}</{root}>", pieces.concat());
        let related = [("r1", "worksheet", "x.xml"), ("r1", "slide", "x.xml"), ("r2", "styles", "x.xml"), ("r3", "sharedStrings", "x.xml")];
        let main = format!("<{root}><sheet name='S' r:id='r1'/><sldId r:id='r1'/>{}</{root}>", pieces.concat());
        for at in [0, 1] {
            let bytes = packages::file(&main, &related[at..], &[("a/x.xml", &text)]);
            if let Ok(source) = documents::read(&bytes, "", "") {
                check(&source);
            }
        }
    }

    #[test]
    fn damaged_archives_are_read_without_a_panic(places in vec((any::<Index>(), any::<u8>()), 1..20), cut in proptest::option::of(any::<Index>())) {
        let mut bytes = packages::word("<p><r><t>some words</t></r></p>");
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        drop(documents::read(&bytes, "", ""));
    }

    #[test]
    fn any_mails_are_read_without_a_panic(pieces in vec(select(MAIL.to_vec()), 0..40), tail in vec(any::<u8>(), 0..200)) {
        let mail = [b"From: a\n".as_slice(), pieces.concat().as_bytes(), &tail].concat();
        if let Ok(source) = documents::read(&mail, "a.eml", "") {
            check(&source);
        }
    }

    #[test]
    fn damaged_pdfs_are_read_without_a_panic(
        places in vec((any::<Index>(), select(PIECES.to_vec())), 1..12),
        cut in proptest::option::of(any::<Index>()),
    ) {
        let form = pdfs::stream("/Subtype /Form /Matrix [1 0 0 1 0 0]", b"BT /F1 9 Tf [(in)-400(side)] TJ ET");
        let mut bytes = pdfs::pages(&["BT /F1 9 Tf 9 9 Td (words) Tj ET /X Do", "q Q"], pdfs::HELVETICA, "/XObject << /X 4 0 R >>", &[form]);
        for (place, piece) in places {
            let at = place.index(bytes.len());
            let end = (at + piece.len()).min(bytes.len());
            bytes.splice(at..end, piece.iter().copied());
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(source) = documents::read(&bytes, "a.pdf", "") {
            check(&source);
        }
    }
}

const XML: [&str; 34] = [
    "<p>",
    "</p>",
    "<r>",
    "</r>",
    "<t>w</t>",
    "<t>words of it</t>",
    "<tbl>",
    "</tbl>",
    "<tr>",
    "</tr>",
    "<tc>",
    "</tc>",
    "<pPr><numPr><ilvl val='7'/><numId val='1'/></numPr></pPr>",
    "<pPr><outlineLvl val='300'/></pPr>",
    "<rPr><vanish/></rPr>",
    "<hyperlink r:id='r9'>",
    "</hyperlink>",
    "<br/>",
    "<row>",
    "</row>",
    "<row r='99999999999999999999'/>",
    "<c r='AB3' t='s'><v>1</v></c>",
    "<c s='0'><v>1e308</v></c>",
    "<c t='b'>",
    "</c>",
    "<si><t>s</t></si>",
    "<col min='9' max='1' hidden='1'/>",
    "<cellXfs><xf numFmtId='22'/></cellXfs>",
    "<nvSpPr><ph/></nvSpPr>",
    "<sp>",
    "</sp>",
    "&#x110000;&nbsp;",
    "<![CDATA[ ]]>",
    "<!-- -->",
];

const MAIL: [&str; 20] = [
    "Subject: s\n",
    "Content-Type: multipart/mixed; boundary=b\n",
    "Content-Type: multipart/alternative; boundary=\"b\n",
    "Content-Type: text/html; charset=utf-16\n",
    "Content-Type: ;;=;\"\\\n",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "Content-Disposition: attachment; filename*=x'y'%zz\n",
    "\n",
    "\r\n\r\n",
    "--b\n",
    "--b--\n",
    "=?utf-8?b?====?=",
    "=?=?=?",
    "=C3=\n=",
    "> > >\n",
    "<p>x<table>",
    "words\n",
    " folded\n",
    ":\n",
];

const PIECES: [&[u8]; 20] = [
    b"\0",
    b"\xff",
    b"<<",
    b">>",
    b"[",
    b"]",
    b"(",
    b")",
    b"<",
    b"-1",
    b"99999999999999999999",
    b"1 0 R",
    b"obj",
    b"stream\n",
    b"endobj ",
    b"/Kids",
    b"/Length 9",
    b"1e308",
    b"/Filter /LZWDecode",
    b"/ObjStm",
];
