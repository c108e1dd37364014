//! Messages with parts other than text.

use serde_json::{Value, json};

use crate::house::{House, SAID};

const ADD: &str = "/api/v2/memory/add";
const FESTIVAL: &[u8] = include_bytes!("../../../documents/tests/fixtures/festival.docx");

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]));
        }
        text.push_str(&"=".repeat(3 - chunk.len()));
    }
    text
}

fn message_with(content: &Value) -> Value {
    json!({"session_id": "s", "wait": true, "messages": [
        {"sender_id": "ada", "sender_name": "Ada", "role": "user", "timestamp": SAID, "content": content}
    ]})
}

fn plan() -> Value {
    json!([
        {"type": "text", "text": "I moved to Lisbon in March. Here is our plan."},
        {"type": "doc", "name": "festival.docx", "base64": base64(FESTIVAL)},
        {"type": "image", "name": "quay", "ext": "png", "base64": "iVBORw0KGgo="},
    ])
}

async fn found(house: &House, query: &str) -> Value {
    let search = json!({"user_id": "ada", "query": query, "method": "keyword", "include_messages": 5});
    house.post("/api/v2/memory/search", &search).await.data()
}

/// The text of the vault's files below a folder.
fn files(house: &House, folder: &str) -> String {
    let paths = house.vault.paths().into_iter().map(|path| path.to_string());
    let wanted = paths.filter(|path| path.contains(folder));
    let texts =
        wanted.map(|path| String::from_utf8(house.vault.bytes(&path).expect("a file")).expect("text"));
    texts.collect()
}

#[tokio::test]
async fn a_document_in_a_message_is_found_and_cited_and_becomes_no_fact() {
    let house = House::new().await;
    let added = house.post(ADD, &message_with(&plan())).await.data();
    // Before and after the message is in an episode.
    for _ in 0..2 {
        let data = found(&house, "rowing boats").await;
        let message = &data["messages"][0];
        assert_eq!(message["id"], added["message_ids"][0], "{data}");
        let text = message["content"].as_str().expect("text");
        assert!(
            text.contains("[document: festival.docx]\n> # Harbour festival\n>\n> The festival begins"),
            "{text}"
        );
        assert!(text.contains("> | Stage | 1,200 |"), "{text}");
        house
            .post("/api/v2/memory/flush", &json!({"session_id": "s", "wait": true}))
            .await
            .data();
    }
    let episode = files(&house, "/episodes/");
    expect_test::expect![[r"
        ---
        quipu: 2
        date: 2024-05-08
        ---

        # 8 May 2024

        ## I moved to Lisbon in March <!--ep_20240508_0000000000002 2024-05-08T13:56:00Z session=s-->

        *Ada, 13:56*

        > Ada: I moved to Lisbon in March. Here is our plan.

        **Ada** 13:56 I moved to Lisbon in March. Here is our plan. <!--_0000000000001 @ada-->

        [document: festival.docx]
        > # Harbour festival
        >
        > The festival begins on the third of May. It lasts two days.
        >
        > # Programme
        >
        > - Boat race
        > - Only for rowing boats
        > - Fish market
        > 1. Register
        > 2. Pay
        >
        > ## Costs
        >
        > | Thing | Euro |
        > |---|---|
        > | Stage | 1,200 |
        > | Tents \| flags | 340 |
        >
        > Seen and < a tag>.
        >
        > The stage stands on the quay
        >
        > Ask the mayor.
        >
        > See [the plan](https://example.org/plan)

        [image: quay.png, 8 bytes, sha256 4c4b6a3be1314ab8, not read]

        <!-- end -->
    "]]
    .assert_eq(&episode);
    let facts = files(&house, "/facts/");
    assert!(facts.contains("Lisbon") && !facts.contains("estival"), "{facts}");
}

#[tokio::test]
async fn an_attachment_neither_cuts_nor_names_a_segment() {
    let house = House::new().await;
    let long = "The festival needs a stage and a crane. ".repeat(3_000);
    let mut body =
        message_with(&json!([{"type": "text", "text": "Read this."}, {"type": "pdf", "text": long}]));
    let next = json!({"sender_id": "ada", "role": "user", "timestamp": SAID + 1, "content": "And this too."});
    body["messages"].as_array_mut().expect("a list").push(next);
    assert_eq!(house.post(ADD, &body).await.data()["status"], "accumulated");
    let flush = json!({"session_id": "s", "wait": true});
    house.post("/api/v2/memory/flush", &flush).await.data();
    let data = found(&house, "crane").await;
    let content = data["messages"][0]["content"].as_str().expect("text");
    assert!(
        content.starts_with("Read this.\n\n[PDF]\n> The festival"),
        "{data}"
    );
    let list = json!({"user_id": "ada", "memory_type": "episode"});
    let episode = house.post("/api/v2/memory/get", &list).await.data()["episodes"][0].clone();
    for field in ["subject", "summary"] {
        assert!(
            !episode[field].as_str().expect("text").contains("crane"),
            "{episode}"
        );
    }
}

#[tokio::test]
async fn each_kind_of_part_becomes_text_or_a_placeholder() {
    let house = House::new().await;
    let mail = "From: ben@example.org\nSubject: Boats\n\nThe Heron leaks.";
    let scanned = include_bytes!("../fixtures/reportlab.pdf");
    let content = json!([
        {"type": "html", "text": "<p>The <b>mill</b><p hidden>NO", "uri": "https://example.org/mill"},
        {"type": "email", "text": mail, "name": "boats.eml"},
        {"type": "email", "base64": base64(mail.as_bytes())},
        {"type": "image", "text": "A red boat", "name": "boat.jpg"},
        {"type": "image", "uri": "Data:image/png;base64,iVBORw0KGgo="},
        {"type": "audio", "uri": "https://example.org/song.mp3"},
        {"type": "pdf", "ext": "pdf", "base64": base64(&scanned[..300])},
        {"type": "doc", "name": "notes.bin", "base64": "AAEC"},
        {"type": "image"},
    ]);
    house.post(ADD, &message_with(&content)).await.data();
    let text = house.ledger.everything()[0].0.text();
    expect_test::expect![[r"
        [web page: https://example.org/mill]
        > The mill

        [e-mail: boats.eml]
        > # Boats
        >
        > - From: ben@example.org
        >
        > The Heron leaks.

        [e-mail]
        > # Boats
        >
        > - From: ben@example.org
        >
        > The Heron leaks.

        [image: boat.jpg]
        > A red boat

        [image: 8 bytes, sha256 4c4b6a3be1314ab8, not read]
        [audio: https://example.org/song.mp3, not fetched]
        [PDF: file.pdf, 300 bytes, sha256 7403296b24c8e538, not read: the file is damaged or incomplete]
        [document: notes.bin, 3 bytes, sha256 ae4b3280e56e2faf, not read: the file is not text, Markdown, HTML, PDF, DOCX, PPTX, XLSX or an e-mail (EML)]
        [image]"]].assert_eq(&text);
}

#[tokio::test]
async fn secrets_of_an_attachment_are_removed() {
    let house = House::new().await;
    // The secret is in two pieces: no scanner of repositories must report it.
    let secret = ["AKI", "AIOSFODNN7EXAMPLE"].concat();
    let text = format!("The key is {secret}, keep it.");
    let added = house
        .post(ADD, &message_with(&json!([{"type": "doc", "text": text}])))
        .await
        .data();
    assert_eq!(added["redacted"], 1, "{added}");
    assert!(!house.ledger.everything()[0].0.text().contains(&secret));
}

#[tokio::test]
async fn an_invalid_part_is_refused_with_its_place_and_nothing_is_stored() {
    let house = House::new().await;
    let long = "word ".repeat(30_000);
    let bomb = format!("<p>{}", "x".repeat(11 << 20));
    let cases = [
        (
            json!({"type": "doc", "base64": "no base64!"}),
            422,
            "INVALID_INPUT",
            "messages.0.content.1.base64: ",
        ),
        (
            json!({"type": "doc", "uri": "data:text/plain,hello%20there"}),
            422,
            "INVALID_INPUT",
            "messages.0.content.1.uri: ",
        ),
        (
            json!({"type": "pdf", "text": long}),
            413,
            "PAYLOAD_TOO_LARGE",
            "messages.0.content.1: ",
        ),
        (
            json!({"type": "html", "text": bomb}),
            413,
            "PAYLOAD_TOO_LARGE",
            "messages.0.content.1: ",
        ),
    ];
    for (item, status, code, place) in cases {
        let content = json!([{"type": "text", "text": "see"}, item]);
        let error = house.post(ADD, &message_with(&content)).await.error();
        assert_eq!((error.0, error.1.as_str()), (status, code), "{}", error.2);
        assert!(error.2.starts_with(place), "{}", error.2);
    }
    assert_eq!(house.ledger.everything().len(), 0);
}
