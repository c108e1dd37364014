//! A tiny model comes from a hub on this machine, runs, and works with the configuration that the command prints.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::commands::tests::desk;
use crate::output::tests::SAID;

const HIDDEN: usize = 4;
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The files of a model without layers: its embeddings, and a head for a reranker.
fn files(is_reranker: bool) -> Vec<(&'static str, Vec<u8>)> {
    let config = json!({
        "model_type": "bert", "vocab_size": 3, "hidden_size": HIDDEN, "hidden_act": "gelu", "num_hidden_layers": 0,
        "num_attention_heads": 1, "intermediate_size": HIDDEN, "max_position_embeddings": 32, "type_vocab_size": 2,
        "layer_norm_eps": 1e-12, "pad_token_id": 0, "initializer_range": 0.02, "hidden_dropout_prob": 0.0,
    });
    let tokenizer = json!({
        "version": "1.0", "pre_tokenizer": { "type": "BertPreTokenizer" }, "added_tokens": [],
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": { "[PAD]": 0, "[UNK]": 1, "bicycle": 2 } },
    });
    let mut shapes = vec![
        ("bert.embeddings.word_embeddings.weight", vec![3, HIDDEN]),
        ("bert.embeddings.position_embeddings.weight", vec![32, HIDDEN]),
        ("bert.embeddings.token_type_embeddings.weight", vec![2, HIDDEN]),
        ("bert.embeddings.LayerNorm.weight", vec![HIDDEN]),
        ("bert.embeddings.LayerNorm.bias", vec![HIDDEN]),
    ];
    if is_reranker {
        shapes.extend([
            ("bert.pooler.dense.weight", vec![HIDDEN, HIDDEN]),
            ("bert.pooler.dense.bias", vec![HIDDEN]),
            ("classifier.weight", vec![1, HIDDEN]),
            ("classifier.bias", vec![1]),
        ]);
    }
    vec![
        ("config.json", config.to_string().into_bytes()),
        ("tokenizer.json", tokenizer.to_string().into_bytes()),
        ("model.safetensors", safetensors(&shapes)),
    ]
}

/// The bytes of a safetensors file: the header's length, the header, and the numbers.
fn safetensors(shapes: &[(&str, Vec<usize>)]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in shapes {
        let begin = data.len();
        for n in 0..shape.iter().product() {
            data.extend(((n % 7) as f32 * 0.3 - 0.5).to_le_bytes());
        }
        let place = json!({ "dtype": "F32", "shape": shape, "data_offsets": [begin, data.len()] });
        header.insert((*name).to_owned(), place);
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

/// A hub with one model.
fn hub(files: Vec<(&'static str, Vec<u8>)>) -> Hub {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address: SocketAddr = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("a socket")).lines();
            let request = lines.next().and_then(Result::ok).unwrap_or_default();
            lines
                .take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty()))
                .for_each(drop);
            let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
            let body = if let Some(name) = path.strip_prefix(&format!("/org/tiny/resolve/{COMMIT}/")) {
                files
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, bytes)| bytes.clone())
            } else {
                let of = |(name, bytes): &(&str, Vec<u8>)| json!({ "rfilename": name, "size": bytes.len() });
                let siblings: Vec<Value> = files.iter().map(of).collect();
                let list = json!({ "sha": COMMIT, "siblings": siblings });
                Some(list.to_string().into_bytes())
            };
            let body = body.expect("the command asks for files of the list");
            let head = format!(
                "HTTP/1.1 200 X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(&[head.as_bytes(), &body].concat()).ok();
        }
    });
    Hub {
        endpoint: format!("http://{address}"),
        token: None,
    }
}

async fn fetched(root: &TempDir, hub: &Hub, id: &str) -> Result<String, Failure> {
    SAID.take();
    fetch(&desk(root.path(), &[]), hub, id).await?;
    Ok(SAID.take())
}

#[tokio::test]
async fn a_model_is_downloaded_run_and_usable_with_the_printed_configuration() {
    for (is_reranker, section, check, reads) in [
        (
            false,
            "embedding",
            "a sentence became 4 numbers",
            "LateInteraction",
        ),
        (
            true,
            "rerank",
            "a question and its answer score 0.",
            "CrossEncoder",
        ),
    ] {
        let root = TempDir::new().expect("a folder");
        let said = fetched(&root, &hub(files(is_reranker)), "org/tiny")
            .await
            .expect("it is whole");
        assert!(said.contains("downloaded, size and checksum verified"), "{said}");
        assert!(said.contains(check), "{said}");
        let (_, shown) = said.split_once(":\n\n").expect("a configuration");
        assert_eq!(
            shown.trim(),
            format!("[{section}]\nprovider = \"local\"\nmodel = \"org/tiny\"")
        );
        // With this configuration, the model is found without the hub.
        let mut config = shown.to_owned();
        if !is_reranker {
            // An embedding model can rerank too.
            config += &shown.replace("[embedding]", "[rerank]");
        }
        std::fs::write(root.path().join("quipu.toml"), config).expect("written");
        let config = desk(root.path(), &[]).loaded.config;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let embedder = models::embedder(root.path(), &config, &clock)
            .await
            .expect("it opens");
        let reranker = models::reranker(root.path(), &config, &clock)
            .await
            .expect("it opens");
        assert_eq!(embedder.id().model.starts_with("local/"), !is_reranker);
        assert!(format!("{reranker:?}").contains(reads), "{reranker:?}");
    }
}

#[tokio::test]
async fn a_downloaded_model_needs_no_hub() {
    let root = TempDir::new().expect("a folder");
    let nowhere = Hub {
        endpoint: "http://127.0.0.1:1".to_owned(),
        token: None,
    };
    let folder = root.path().join("mine");
    std::fs::create_dir(&folder).expect("a folder");
    for (name, bytes) in files(false) {
        std::fs::write(folder.join(name), bytes).expect("a file");
    }
    let said = fetched(&root, &nowhere, folder.to_str().expect("a path"))
        .await
        .expect("it is whole");
    assert!(
        said.contains("was there already") && said.contains("mine\""),
        "{said}"
    );

    std::fs::write(folder.join("model.safetensors"), "damaged").expect("a file");
    let error = fetched(&root, &nowhere, folder.to_str().expect("a path"))
        .await
        .expect_err("damaged");
    assert!(
        error
            .error
            .to_string()
            .contains("delete it and download it again"),
        "{}",
        error.error
    );
}
