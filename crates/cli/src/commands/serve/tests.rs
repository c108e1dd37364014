//! A configuration that changes while a server runs, and work in progress when the server stops.

use std::sync::Arc;

use memory::{Add, Flush};
use model::{Content, Message, MessageId, Name, Owner, Page, Role, Scope, SessionId, SessionKey, Timestamp};
use ports::NewMessage;
use tempfile::TempDir;
use testkit::backend::{Backend, Config, Fault};
use testkit::clock::ManualClock;
use tokio::task::yield_now;

use super::*;
use crate::commands::tests::{Log, desk};
use crate::output::tests::SAID;

async fn look(clock: &ManualClock) {
    for _ in 0..2 {
        for _ in 0..50 {
            yield_now().await;
        }
        clock.advance(CONFIGURATION_LOOK);
    }
    for _ in 0..50 {
        yield_now().await;
    }
}

/// A world with one sentence of Ann's; with `wait`, the sentence is written to memory.
async fn told(desk: &Desk, wait: bool) -> World {
    let world = World::open(&desk.root, &desk.loaded.config, desk.open_index, false).await;
    let world = world.expect("it opens");
    // On two days, so that it enters core memory.
    for (name, day) in [("s", 0), ("t", 1)] {
        let session = SessionKey::new(Scope::default(), SessionId::new(name));
        let message = Message {
            id: MessageId::new(""),
            session: session.clone(),
            sender: Name::parse("ann").expect("a name"),
            sender_name: None,
            role: Role::User,
            time: Timestamp::from_millis(1_772_442_000_000 + day * 86_400_000),
            content: Content::Text("I live in Lisbon.".to_owned()).into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        let add = Add {
            title: None,
            session: session.clone(),
            messages: vec![NewMessage::new(message, None)],
            defer_extraction: false,
            task: None,
        };
        world.engine.add(add).await.expect("it is accepted");
        let flush = Flush {
            session,
            task: None,
            wait,
        };
        world.engine.flush(flush).await.expect("it is cut");
    }
    world
}

/// The same, with a clock that the test advances for the watcher of the configuration.
async fn world(desk: &Desk) -> (World, Arc<ManualClock>) {
    let mut world = told(desk, true).await;
    world.start_runs().await.expect("it starts");
    let clock = Arc::<ManualClock>::default();
    world.clock = clock.clone();
    (world, clock)
}

async fn dreamt(world: &World) -> String {
    for name in ["extract_user_profile", "dream"] {
        let run = world.offline.trigger(name, Duration::from_mins(1), true).await;
        let runs = run.expect("the store works").expect("it is a strategy").runs;
        assert!(runs.iter().all(|run| run.error.is_none()), "{runs:?}");
    }
    let owner = Owner::user(Name::parse("ann").expect("a name"));
    let page = world.engine.page(&Scope::default(), &owner, Page::User).await;
    page.expect("it reads").unwrap_or_default()
}

#[tokio::test]
async fn a_changed_configuration_is_applied_and_a_broken_one_is_logged_only() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let (world, clock) = world(&desk).await;
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let mut following = Box::pin(follow(&desk, &world));
    let mut put = async |text: &str| {
        std::fs::write(&desk.loaded.file, text).expect("it is written");
        tokio::select! {
            never = &mut following => match never {},
            () = look(&clock) => {}
        }
    };
    put("").await;
    assert_eq!(world.offline.settings().concurrency, 2);
    put("[consolidation]\nconcurrency = 7\nquiet = true\npages_chars_max = 10\n").await;
    let settings = world.offline.settings();
    assert_eq!((settings.concurrency, settings.is_quiet), (7, true));
    assert_eq!(dreamt(&world).await, "", "no line has room");
    assert_eq!(log.text(), "");
    for broken in [
        "[consolidation]\nconcurrency = \"many\"\n",
        "[consolidation\n",
        "[consolidation]\nconcurency = 1\n",
        "[[consolidation.strategies]]\nname = \"dreams\"\n",
        "[[consolidation.strategies]]\nname = \"extract_user_profile\"\ncron = \"0 4 * * *\"\n",
    ] {
        put(broken).await;
        assert_eq!(world.offline.settings(), settings, "{broken}");
    }
    let said = log.text();
    assert_eq!(
        said.matches("cannot load the new configuration; keeping the old one")
            .count(),
        5,
        "{said}"
    );
    for reason in [
        "did you mean `concurrency`?",
        "there is no strategy `dreams`",
        "`extract_user_profile` does not use `cron`",
    ] {
        assert!(said.contains(reason), "{said}");
    }
    put("[consolidation]\nconcurrency = 3\n[[consolidation.strategies]]\nname = \"dream\"\ncron = \"0 5 * * 0\"\n").await;
    let settings = world.offline.settings();
    let dream = &settings.strategies["dream"];
    assert_eq!(
        (settings.concurrency, dream.cron.as_deref()),
        (3, Some("0 5 * * 0"))
    );
    assert!(dreamt(&world).await.contains("Lisbon"));
    drop(following);
    world.shutdown().await;
}

/// Seed 000: `loop_starts_background_task`, `loop_stops_background_task`.
#[tokio::test]
async fn a_server_starts_background_runs_and_its_end_stops_them() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let world = told(&desk, true).await;
    assert!(!world.offline.is_running().await);
    let address = "127.0.0.1:4999".parse().expect("an address");
    let mut late = LateStart::default();
    late.go_on(&desk, &world, (address, "key"))
        .await
        .expect("it starts");
    assert!(world.offline.is_running().await);
    world.shutdown().await;
    assert!(!world.offline.is_running().await);
}

/// The shutdown begins during an extraction. The episode is stored, so its event must still cause the runs. Planted: removing the
/// strategies before the engine has ended.
#[tokio::test]
async fn an_episode_written_during_shutdown_still_causes_its_runs() {
    let model = Backend::start(Config {
        faults: vec![Fault::Hang],
        ..Config::default()
    })
    .await;
    let root = TempDir::new().expect("a folder");
    let variables = [
        ("QUIPU_CHAT__BASE_URL", model.base_url()),
        ("QUIPU_CHAT__MODEL", "tiny"),
    ];
    let world = told(&desk(root.path(), &variables), false).await;
    model.arrived(1).await;
    assert_eq!(world.offline.stats().await.expect("it counts").queued, 0);
    tokio::join!(world.shutdown(), async { model.release() });
    let pages = world.engine.owners().await;
    assert!(pages.is_err(), "it has ended");
    let waiting = world.offline.stats().await.expect("it counts").queued;
    assert!(waiting > 0, "what was written was told");
}

#[tokio::test]
async fn a_server_prints_its_services_and_a_second_one_names_the_first() {
    let root = TempDir::new().expect("a folder");
    let desk = desk(root.path(), &[]);
    let world = told(&desk, true).await;
    assert_eq!(crate::serving::running(root.path()), None, "no server listens");
    let address = "127.0.0.1:4999".parse().expect("an address");
    let _notice = Notice::put(root.path(), address, "key").expect("it is written");
    let found = opened(&desk).await.expect("it is looked for");
    let second = served_already(root.path(), found.expect_err("it is served"));
    assert_eq!(second.exit, Exit::InUse);
    assert!(
        second.error.to_string().contains("http://127.0.0.1:4999"),
        "{}",
        second.error
    );
    SAID.take();
    super::told(&desk, Some("http://127.0.0.1:8080"), address).expect("it is said");
    let said = SAID.take();
    for words in [
        "page          http://127.0.0.1:4999",
        "model server  http://127.0.0.1:8080  (clients: http://127.0.0.1:4999/v1)",
        "memory of     me",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    world.shutdown().await;
}
