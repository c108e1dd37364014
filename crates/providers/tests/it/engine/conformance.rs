//! Rules for an engine like `keep_last.py`. The numbers are those of the requirements CE-1 to CE-12.

use std::sync::Arc;

use ports::context_engine::{ContextEngine, EngineInfo, TurnMeta};
use transcript::{Item, Role};

use super::{assemble, drive, pair, reply, roles, same, system, turn, user};

/// Checks an engine that keeps the newest items and owns compaction, although it is configured otherwise.
pub(super) async fn conforms(engine: &dyn ContextEngine) {
    let configured = EngineInfo {
        id: "configured".to_owned(),
        owns_compaction: false,
    };
    let described = EngineInfo {
        id: "keep-last".to_owned(),
        owns_compaction: true,
    };
    assert_eq!(
        engine.info(),
        configured,
        "CE-2: known before the engine is asked"
    );
    drive(engine).await.expect("CE-1: every hook in its order");
    assert_eq!(
        engine.info(),
        described,
        "CE-2: the engine's own answer wins and stays"
    );
    unchanged(engine).await;
    fewer(engine).await;
    verifiable(engine).await;
    subagents(engine).await;
    assert_eq!(engine.info(), described, "CE-2: stable");
}

async fn unchanged(engine: &dyn ContextEngine) {
    let (items, turn) = (vec![system("be kind"), user("hi")], turn("ann/chat"));
    let ingested = engine
        .ingest(items.clone(), &turn)
        .await
        .expect("CE-4: it answers");
    assert!(same(&ingested, &items), "CE-4: the same items");
    for _ in 0..2 {
        engine
            .after_turn(&items, &reply("hello"), &turn)
            .await
            .expect("CE-9: nothing happens");
        engine
            .on_subagent_ended("a1", &[], None, &turn)
            .await
            .expect("CE-9: nothing happens");
    }
}

async fn fewer(engine: &dyn ContextEngine) {
    let long = "word ".repeat(40);
    let items: Vec<Arc<Item>> = (0..4).map(|_| user(&long)).collect();
    let turn = TurnMeta {
        limit_tokens: 300,
        ..turn("ann/chat")
    };
    let assembled = engine.assemble(items.clone(), &turn).await;
    let assembled = assembled.expect("CE-10: it answers");
    assert!(
        same(&assembled, &items[2..]),
        "CE-10: the last two, with the client's bytes"
    );
    let compacted = engine.compact(items.clone(), 150, &turn).await;
    assert!(
        same(&compacted.expect("CE-10: it answers"), &items[3..]),
        "CE-10: `target_tokens` counts"
    );
}

/// Checks the rules whose violation the host would repair or refuse.
async fn verifiable(engine: &dyn ContextEngine) {
    let mut items = vec![system("never delete"), user("begin")];
    for n in 0..30 {
        items.extend(pair(&format!("c{n}"), "x"));
    }
    items.push(user("and now?"));
    items.extend(pair("newest", &"y".repeat(400)));
    let view = assemble(engine, &items).await.expect("CE-12: it answers");
    assert!(view.len() < items.len());
    assert!(
        view.iter()
            .all(|item| items.iter().any(|source| Arc::ptr_eq(source, item)))
    );
    assert!(Arc::ptr_eq(&view[0], &items[0]), "CE-12: the system item is kept");
    assert!(
        view.iter().any(|item| item.prose() == "and now?"),
        "CE-12: so is the newest request"
    );
    let calls: Vec<&str> = view
        .iter()
        .flat_map(|item| item.calls().map(|call| call.id.as_str()))
        .collect();
    let results: Vec<&str> = view
        .iter()
        .flat_map(|item| item.outcomes().map(|outcome| outcome.call_id.as_str()))
        .collect();
    assert_eq!(calls, results, "CE-12: pairs are whole");
}

async fn subagents(engine: &dyn ContextEngine) {
    let mut items = vec![system("be kind")];
    items.extend((0..30).map(|n| user(&format!("m{n}"))));
    let spawned = async |role: &str| {
        let spawned = engine
            .prepare_subagent_spawn(items.clone(), role, &turn("ann/chat"))
            .await;
        spawned.expect("CE-8: it answers")
    };
    let (explorer, other) = (spawned("explorer").await, spawned("writer").await);
    assert_eq!(
        (explorer.len(), other.len()),
        (11, 21),
        "CE-8: Quipu's own choice"
    );
    assert_eq!(roles(&explorer)[0], Role::System);
    assert!(same(&explorer[1..], &items[21..]));
}
