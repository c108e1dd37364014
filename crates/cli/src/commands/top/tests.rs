//! The screen at 80 by 24, and the keys.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyEvent;
use serde_json::{Value, json};

use super::*;

fn request(class: &str, cached: u64) -> Value {
    json!({
        "at": "2026-11-21T10:31:20.123Z", "status": 200, "prompt_tokens": 4_000, "cached_tokens": cached,
        "evaluated_tokens": 4_000 - cached, "completion_tokens": 7, "first_token_ms": 120, "total_ms": 900,
        "expected_tokens": null, "class": class, "reasons": [], "injected_tokens": 31,
    })
}

fn conversation(name: &str, class: &str) -> Value {
    json!({"conversation": name, "upstream": "http://127.0.0.1:8080", "requests": [request(class, 3_400)]})
}

fn watch(conversations: &[Value]) -> TopScreen {
    let upstream = json!({
        "upstream": "http://127.0.0.1:8080", "requests": 3, "prompt_tokens": 9_000, "cached_tokens": 6_000,
        "evaluated_tokens": 3_000, "hit_ratio": 0.75, "extension_ratio": 0.5, "first_token_ms_p50": 120,
        "first_token_ms_p99": null, "classes": {},
    });
    let upstreams: Vec<&Value> = conversations.first().map(|_| &upstream).into_iter().collect();
    let queue = json!({
        "healthy": true, "reasons": [], "loop_alive": true, "accepting": true, "pending": 0,
        "oldest_pending_age_s": null, "failed": 0, "loop_restarts": 0, "last_loop_error_at": null,
    });
    let cascade = json!({
        "healthy": true, "reasons": [], "pending": 0, "failed_permanent": 0, "failed_retryable": 0,
        "drain_consecutive_failures": 0, "unrecoverable_total": 0, "optimize_failure_streak": 0,
        "prune_stale_seconds": 0.0, "index_rows": {}, "index_emptied": false,
    });
    let health = json!({
        "status": "ok", "version": "1.2.3", "disabled_features": [], "cascade": cascade, "memorize_queue": queue,
        "capabilities": {"llm": false, "embed": true, "rerank": false, "multimodal_llm": false, "parser": true},
        "problems": [], "tasks": {"queued": 2, "processing": 1, "failed": 0, "stuck": 0},
        "runs": {"queued": 5, "running": 0, "failed": 0, "dead_letters": 0},
        "index": {"health": "ready", "rows": 1_310, "fragments": 1, "unindexed_rows": 0, "bytes_on_disk": 5_200_000,
                  "generation": 1},
        "broken_files": [], "open_sessions": 1, "buffered_messages": 4, "files": 42, "embedder": "static",
        "chat_model": null, "near_limit": 1, "rebuilding": null,
    });
    TopScreen {
        root: "/srv/quipu".to_owned(),
        coloured: false,
        seen: TopLook {
            health: serde_json::from_value(health).expect("health"),
            cache: serde_json::from_value(json!({"upstreams": upstreams, "conversations": conversations}))
                .expect("measures"),
        },
        trouble: None,
        chosen: TableState::default().with_selected(0),
    }
}

fn screen(watch: &mut TopScreen, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a terminal");
    terminal.draw(|frame| view::draw(frame, watch)).expect("drawn");
    terminal.backend().to_string()
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

#[test]
fn eighty_columns_show_conversations_cache_queue_and_memory() {
    let mut watch = watch(&[conversation("house", "extension"), conversation("trip", "system")]);
    let shown = screen(&mut watch, 80, 24);
    for part in [
        "quipu 1.2.3  healthy  /srv/quipu",
        "42 files, 0 broken",
        "index ready, 1310 rows",
        "4 messages not yet in an episode",
        "tasks  2 waiting, 1 running, 0 failed",
        "1 conversation near its limit",
        "███████████████░░░░░  75 % hit, 3 requests",
        "Conversations, the newest 2",
        "house",
        "extends the last request",
        "house at 127.0.0.1:8080",
    ] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
}

#[test]
fn the_arrows_choose_a_conversation_and_q_ends() {
    let mut watch = watch(&[conversation("house", "extension"), conversation("trip", "system")]);
    screen(&mut watch, 80, 24);
    let none = KeyModifiers::NONE;
    for (code, title) in [
        (KeyCode::Down, "trip at"),
        (KeyCode::Down, "trip at"),
        (KeyCode::Up, "house at"),
        (KeyCode::End, "trip at"),
        (KeyCode::Home, "house at"),
    ] {
        assert_eq!(watch.press(&key(code, none)), None);
        let shown = screen(&mut watch, 80, 24);
        assert!(shown.contains(title), "{code}: {shown}");
    }
    assert_eq!(watch.press(&key(KeyCode::Char('q'), none)), Some(Exit::Ok));
    let interrupt = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(watch.press(&interrupt), Some(Exit::Interrupted));
    assert_eq!(watch.press(&key(KeyCode::Char('c'), none)), None);
    for end in ['d', ' '] {
        let ended = watch.press(&key(KeyCode::Char(end), KeyModifiers::CONTROL));
        assert_eq!(ended, Some(Exit::Ok), "{end}");
        assert_eq!(watch.press(&key(KeyCode::Char(end), none)), None, "{end}");
    }
}

#[test]
fn a_read_that_never_returns_keeps_no_process_alive() {
    let (done, ended) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = runtime().expect("a runtime");
        runtime.block_on(async {
            drop(keys(|| {
                loop {
                    thread::park();
                }
            }));
        });
        drop(runtime);
        done.send(())
    });
    assert_eq!(ended.recv_timeout(Duration::from_secs(20)), Ok(()));
}

#[tokio::test]
async fn the_end_of_the_keys_is_seen() {
    let mut typed = [key(KeyCode::Home, KeyModifiers::NONE)].into_iter();
    let mut keys = keys(move || typed.next().ok_or(io::ErrorKind::UnexpectedEof.into()));
    assert!(keys.recv().await.is_some());
    assert_eq!(keys.recv().await, None);
}

#[test]
fn an_empty_server_says_what_to_do_and_a_silent_one_what_is_wrong() {
    let mut watch = watch(&[]);
    let shown = screen(&mut watch, 80, 24);
    assert!(shown.contains("none yet: point a client at"), "{shown}");
    assert!(shown.contains("quipu serve --upstream URL"), "{shown}");
    watch.take(Err(Failure::from(anyhow::anyhow!("no server answers"))));
    let shown = screen(&mut watch, 80, 24);
    assert!(
        shown.contains("no answer") && shown.contains("no server answers"),
        "{shown}"
    );
    assert!(shown.contains("42 files"), "the last look stays:\n{shown}");
}

#[test]
fn a_terminal_of_any_size_is_drawn() {
    let mut watch = watch(&[conversation("house", "extension")]);
    for (columns, lines) in [(1, 1), (20, 5), (300, 100)] {
        screen(&mut watch, columns, lines);
    }
}
