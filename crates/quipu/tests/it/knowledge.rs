//! A person's documents: added, found, edited by hand, indexed anew, deleted.

use serde_json::Value;

use crate::harness::Root;

const GUIDE: &str = "# Guide\n\nHow the samovar is used.\n\n## Clean\n\nVinegar takes the limescale off. Rinse the kettle three times \
    with cold water afterwards and let it dry upside down over night, or it will taste of salad for a week.\n";

fn paths(found: &Value) -> Vec<&str> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["topic_path"].as_str().unwrap())
        .collect()
}

#[test]
fn a_document_is_added_found_edited_and_deleted() {
    let root = Root::new();
    let file = root.write_outside("guide.md", GUIDE);
    let added = root.json(&["knowledge", "add", file.to_str().unwrap()]);
    let document = &added["documents"][0];
    let [id, original] = ["doc_id", "original_file_path"].map(|key| document[key].as_str().unwrap());
    let original = root.path().join("memory").join(original);
    assert_eq!(std::fs::read_to_string(&original).unwrap(), GUIDE);
    let shown = root.run(&["knowledge", "show", id]);
    assert!(
        shown.code == 0 && shown.stdout.starts_with("Guide ("),
        "{shown:?}"
    );
    let shown = root.run(&["knowledge", "show", &format!("{id}_2")]);
    assert!(
        shown.stdout.starts_with("Guide > Clean\n\n## Clean\n\nVinegar"),
        "{shown:?}"
    );

    let find = |words| root.json(&["knowledge", "search", words, "--method", "keyword"]);
    assert_eq!(paths(&find("limescale"))[0], "Guide > Clean");
    let (path, text) = root
        .markdown()
        .into_iter()
        .find(|(path, _)| path.to_string_lossy().contains("topics"))
        .unwrap();
    std::fs::write(&path, text.replace("Vinegar takes", "Lemon juice takes")).unwrap();
    root.json(&["sync"]);
    let found = find("lemon juice");
    assert_eq!(paths(&found)[0], "Guide > Clean");
    assert!(
        found["hits"][0]["summary"].as_str().unwrap().starts_with("Lemon"),
        "{found}"
    );

    // Its freshness, a part of the score, is of the moment of the search.
    let hybrid = || {
        let mut hits = root.json(&["knowledge", "search", "how do I clean the kettle?"])["hits"].clone();
        for hit in hits.as_array_mut().unwrap() {
            hit["score"] = format!("{:.4}", hit["score"].as_f64().unwrap()).into();
        }
        hits
    };
    let before = hybrid();
    std::fs::remove_dir_all(root.path().join("index")).unwrap();
    root.json(&["rebuild"]);
    assert_eq!(hybrid(), before);

    let deleted = root.run(&["knowledge", "delete", id]);
    assert_eq!((deleted.code, deleted.stderr.as_str()), (0, ""), "{deleted:?}");
    assert_eq!(root.run(&["knowledge", "delete", id]).code, 4);
    assert!(!original.exists());
    assert!(
        root.markdown()
            .iter()
            .all(|(_, text)| !text.contains("limescale"))
    );
    assert_eq!(paths(&find("limescale")), Vec::<&str>::new());
}

#[test]
fn a_killed_server_loses_no_document() {
    let root = Root::new();
    let file = root.write_outside("guide.md", GUIDE);
    let server = root.serve();
    root.json(&["knowledge", "add", file.to_str().unwrap()]);
    server.kill();
    let listed = root.json(&["knowledge", "list"]);
    assert_eq!(listed["total"], 1, "{listed}");
    let again = root.run(&["knowledge", "add", file.to_str().unwrap()]);
    assert!(again.code == 1 && again.stderr.contains("guide.md"), "{again:?}");
}

#[test]
fn a_malicious_file_is_refused_with_a_message_and_the_next_one_is_read() {
    let root = Root::new();
    let server = root.serve();
    let hostile = root.write_outside("brackets.md", &"[(".repeat(2 << 20));
    let refused = root.run(&["knowledge", "add", hostile.to_str().unwrap()]);
    assert!(
        refused.code == 2 && refused.stderr.contains("needs more than 72 MiB of memory"),
        "{refused:?}"
    );
    let file = root.write_outside("guide.md", GUIDE);
    root.json(&["knowledge", "add", file.to_str().unwrap()]);
    assert_eq!(root.json(&["knowledge", "list"])["total"], 1);
    assert_eq!(server.stop(), 0);
}
