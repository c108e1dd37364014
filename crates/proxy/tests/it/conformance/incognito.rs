//! an incognito request is stored nowhere.

use std::io::Write;
use std::sync::{Arc, Mutex};

use prefix::backend::Kind;
use proxy::MemoryUse;
use testkit::backend::{Config, Fault};

use super::named_request;
use crate::stage::{Client, Stage};

/// The whole log, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no panic under it")).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic under it").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The content of every store, as text.
fn kept(stage: &Stage) -> String {
    let files: Vec<String> = stage
        .vault
        .paths()
        .into_iter()
        .filter_map(|path| stage.vault.bytes(&path))
        .map(|bytes| String::from_utf8(bytes).expect("text"))
        .collect();
    format!(
        "{files:?} {:?} {:?} {:?} {:?}",
        stage.index.rows(),
        stage.ledger,
        stage.proxy.measures().upstreams(),
        stage.proxy.measures().newest(1_000),
    )
}

#[tokio::test]
async fn x12_incognito_leaves_nothing_in_any_store_log_or_measure() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let mut stage = Stage::new(Config {
        kind: Kind::OpenAi,
        ..Config::default()
    })
    .await;
    stage.remember("earlier", "My sister Clara breeds goats.").await;
    Client::new().turn(&stage, "An ordinary pangolin").await;
    let before = kept(&stage);
    assert!(before.contains("pangolin"), "what is ordinary is kept");

    let faults = [None, Some(Fault::ResetAfterChunks(1)), Some(Fault::TruncatedJson)];
    for fault in faults {
        let mut client = Client::new();
        client.says("A secret axolotl: does my sister Clara breed goats?");
        let mut asked = named_request(&client, "axolotls");
        asked.memory = MemoryUse::Incognito;
        let body = asked.body.clone();
        if let Some(fault) = fault {
            stage.backend.fail_next(fault);
        }
        let got = stage.got(asked).await;
        assert_eq!((got.conversation, got.injected), (None, None));
        assert_eq!(stage.last().body, body, "no key of a cache, no memory");
    }
    assert_eq!(kept(&stage), before);
    stage.restart().await;
    assert!(!kept(&stage).contains("axolotl"));
    let text = log.text();
    assert!(text.contains("TRACE"), "the log is read at every level");
    assert!(!text.contains("axolotl"), "{text}");
}
