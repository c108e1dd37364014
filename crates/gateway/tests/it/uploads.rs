//! Uploads and document requests: hostile names, wrong kinds, and sizes over the limits.

use gateway::GatewaySettings;
use model::Zone;
use serde_json::json;

use crate::house::House;
use crate::library::{DOCUMENTS, SEARCH, at, form, patch, text, with_fields};

#[tokio::test]
async fn no_file_name_leaves_its_folder() {
    let house = House::new().await;
    let names = [
        "../../../etc/passwd",
        "..\\..\\x.md",
        "/abs/x.md",
        ".bashrc",
        "..",
        "a\u{202e}b.md",
        "",
        "x/../y.md",
    ];
    let long = format!("{}.md", "ü".repeat(400));
    for (n, name) in names.into_iter().chain([long.as_str()]).enumerate() {
        let body = format!("# Number {n}");
        let stored = house.store(name, body.as_bytes(), &[]).await;
        let id = text(&stored, "doc_id");
        let folder = format!("default/default/libraries/default/originals/{id}/");
        let file = text(&stored, "original_file_path")
            .strip_prefix(&folder)
            .expect("inside")
            .to_owned();
        assert!(
            !file.contains(['/', '\\']) && !file.starts_with('.') && file.len() < 200,
            "{file}"
        );
        assert!(!text(&stored, "source_name").contains(['/', '\\']), "{stored}");
        assert!(house.vault.bytes(&format!("{folder}{file}")).is_some());
    }
    for path in house.vault.paths() {
        assert!(
            path.starts_with("default/default/libraries/default/") && !path.contains(".."),
            "{path}"
        );
    }
}

/// A file's name, its bytes, further fields; the status and the code of the refusal.
type Case<'a> = (&'a str, &'a [u8], &'a [(&'a str, &'a str)], u16, &'a str);

#[tokio::test]
async fn an_invalid_document_is_refused_and_nothing_is_stored() {
    let small = GatewaySettings {
        upload_bytes_max: 4096,
        ..GatewaySettings::default()
    };
    let house = House::with(small, Zone::utc()).await;
    let scanned = include_bytes!("../fixtures/reportlab.pdf");
    let encrypted = b"%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer\n<</Root 1 0 R/Encrypt 2 0 R>>";
    let long = "x".repeat(301);
    let large = [b'x'; 4097].repeat(50);
    let cases: [Case<'_>; 12] = [
        ("a.md", b"", &[], 422, "EXTRACTION_EMPTY"),
        ("a.md", b" \n\n", &[], 422, "EXTRACTION_EMPTY"),
        (
            "a.png",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0",
            &[],
            415,
            "UNSUPPORTED_FORMAT",
        ),
        (
            "a.zip",
            b"PK\x03\x04\x14\0\0\0\x08\0\0\0",
            &[],
            415,
            "UNSUPPORTED_FORMAT",
        ),
        ("a.pdf", encrypted, &[], 422, "INVALID_INPUT"),
        ("a.pdf", &scanned[..300], &[], 422, "INVALID_INPUT"),
        ("a.md", &[b'x'; 4097], &[], 413, "PAYLOAD_TOO_LARGE"),
        ("a.md", &large, &[], 413, "PAYLOAD_TOO_LARGE"),
        ("a.md", b"x", &[("title", "—")], 422, "INVALID_INPUT"),
        ("a.md", b"x", &[("title", &long)], 422, "INVALID_INPUT"),
        ("a.md", b"x", &[("category_id", "Nonsense")], 422, "INVALID_INPUT"),
        ("a.md", b"x", &[("app_id", "a/b")], 422, "INVALID_INPUT"),
    ];
    for (name, bytes, fields, status, code) in cases {
        let error = house
            .ask(with_fields("POST", DOCUMENTS, name, bytes, fields))
            .await
            .error();
        assert_eq!(
            (error.0, error.1.as_str()),
            (status, code),
            "{name} {fields:?} {}",
            error.2
        );
    }
    let json = house.post(DOCUMENTS, &json!({"title": "x"})).await.error();
    assert_eq!((json.0, json.1.as_str()), (415, "UNSUPPORTED_FORMAT"));
    let form = form("POST", DOCUMENTS, "a.md", b"x");
    let no_file = form
        .clone()
        .bytes(*b"--xyz\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nx\r\n--xyz--\r\n");
    assert!(house.ask(no_file).await.error().2.starts_with("file: "));
    let broken = form.clone().bytes(&form.body[..form.body.len() - 12]);
    assert_eq!(house.ask(broken).await.error().0, 400);
    assert_eq!(house.library_files(), Vec::<String>::new());
}

#[tokio::test]
async fn fifty_mebibytes_and_one_byte_are_refused_before_they_arrive() {
    let house = House::new().await;
    let announced = form("POST", DOCUMENTS, "a.md", b"x").header("content-length", &(51 << 20).to_string());
    assert_eq!(house.ask(announced).await.error().0, 413);
    let mut file = vec![b'x'; (50 << 20) + 1];
    file[100] = b'\n';
    assert_eq!(
        house.ask(form("POST", DOCUMENTS, "a.md", &file)).await.error().0,
        413
    );
    assert_eq!(house.library_files(), Vec::<String>::new());
}

#[tokio::test]
async fn lists_are_paged_and_bounded() {
    let house = House::new().await;
    for title in ["beta", "Alpha", "gamma"] {
        let body = format!("# {title}\n\nText of {title}.");
        house
            .store(
                "a.md",
                body.as_bytes(),
                &[("title", title), ("category_id", "Food")],
            )
            .await;
    }
    let page = |query: &str| format!("{DOCUMENTS}?{query}");
    let listed = house
        .get(&page("sort_by=title&sort_order=asc&page_size=2&page=1"))
        .await
        .data();
    let titles: Vec<&str> = listed["documents"]
        .as_array()
        .expect("some")
        .iter()
        .map(|d| text(d, "title"))
        .collect();
    assert_eq!((titles, &listed["total"]), (vec!["Alpha", "beta"], &json!(3)));
    assert_eq!(house.get(&page("page=99")).await.data()["documents"], json!([]));
    for query in [
        "page=0",
        "page_size=101",
        "page_size=0",
        "sort_by=size",
        "sort_order=up",
        "app_id=a%2fb",
    ] {
        assert_eq!(
            house.get(&page(query)).await.error().1,
            "INVALID_INPUT",
            "{query}"
        );
    }
}

#[tokio::test]
async fn invalid_document_requests_are_refused() {
    let house = House::new().await;
    for id in [
        "d_1",
        "x",
        "d_0123456789AB",
        "d_0123456789abcdef0123456789abcdef0",
    ] {
        assert_eq!(house.get(&at(id)).await.error().1, "INVALID_INPUT", "{id}");
    }
    for body in [
        json!({"query": ""}),
        json!({"query": "  "}),
        json!({"query": "x".repeat(2001)}),
        json!({"query": "x", "top_k": 0}),
        json!({"query": "x", "top_k": 101}),
        json!({"query": "x", "method": "agentic"}),
        json!({}),
    ] {
        assert_eq!(
            house.post(SEARCH, &body).await.error().1,
            "INVALID_INPUT",
            "{body}"
        );
    }
    let nothing = house.ask(patch(&at("d_000000000000"), &json!({}))).await.error();
    assert_eq!(nothing.0, 422);
    assert_eq!(
        house
            .ask(patch(&at("d_000000000000"), &json!({"title": "x"})))
            .await
            .error()
            .0,
        404
    );
}
