//! Extraction by a chat model: asked only if it can help, used only if its answer is valid, never waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory::{Add, Engine, MemorizeStatus};
use model::{Content, EntryKind, Part, PartKind};
use ports::{ChatError, NewMessage};
use testkit::models::ScriptedChat;

use crate::stage::{Stage, add, finds, flush, new_message, say, session, turns};

fn with(chat: ScriptedChat) -> Stage {
    Stage {
        chat: Some(Arc::new(chat)),
        ..Stage::default()
    }
}

fn calls(stage: &Stage) -> usize {
    stage.chat.as_ref().expect("there is one").calls()
}

fn authors(stage: &Stage) -> Vec<String> {
    let entries = stage.vault.entries();
    let episodes = entries
        .iter()
        .filter(|(_, entry)| entry.kind == EntryKind::Episode);
    episodes
        .map(|(_, entry)| entry.author.clone().unwrap_or_default())
        .collect()
}

/// An answer of one part, about a move to Lisbon, that ends with the message of this number.
fn lisbon(last: usize) -> String {
    format!(
        r#"{{"parts":[{{"last":{last},"title":"The move to Lisbon","summary":"Ann moved to Lisbon."}}]}}"#
    )
}

/// A model that answers the question for parts and the one for facts.
fn answering(parts: String, facts: &[&str]) -> ScriptedChat {
    let facts = format!("{{\"facts\":{facts:?}}}");
    ScriptedChat::answering(move |request| {
        let (name, _) = request.schema.as_ref().expect("every question has a form");
        Ok(if name == "facts" {
            facts.clone()
        } else {
            parts.clone()
        })
    })
}

/// The facts of the vault with their authors, in order.
fn facts(stage: &Stage) -> Vec<(String, String)> {
    let entries = stage.vault.entries();
    let facts = entries.iter().filter(|(_, entry)| entry.kind == EntryKind::Fact);
    facts
        .map(|(_, entry)| (entry.body.clone(), entry.author.clone().unwrap_or_default()))
        .collect()
}

async fn talk(engine: &Engine, count: i64) {
    let key = session("s");
    for n in 0..count {
        let text = if n == 0 {
            "I moved to Lisbon".to_owned()
        } else {
            format!("And then came day {n} there")
        };
        say(engine, &key, "ann", n, &text).await;
    }
}

#[tokio::test]
async fn the_model_is_asked_when_a_boundary_is_possible_and_not_on_every_add() {
    let stage = with(ScriptedChat::answering(|_| Ok(r#"{"parts":[]}"#.to_owned())));
    let engine = stage.open().await;
    talk(&engine, 45).await;
    stage.rest(&engine).await;
    let asked = calls(&stage);
    assert!((1..=4).contains(&asked), "45 adds made {asked} calls");
    // A pause of an hour makes a boundary likely.
    say(&engine, &session("s"), "ann", 200, "Back again").await;
    stage.rest(&engine).await;
    assert_eq!(calls(&stage), asked + 1);
}

#[tokio::test]
async fn the_models_answer_about_a_boundary_is_written_without_asking_again() {
    let stage = with(answering(lisbon(3), &[]));
    let engine = stage.open().await;
    let key = session("s");
    talk(&engine, 3).await;
    let added = engine
        .add(add(&key, vec![new_message(&key, "ann", 200, "Back again")]))
        .await
        .expect("it is accepted");
    assert_eq!(
        added.status,
        MemorizeStatus::Accumulated,
        "nobody waits for a model"
    );
    stage.rest(&engine).await;
    stage.check().await;
    assert_eq!(calls(&stage), 1, "the rules have all that is stated");
    assert_eq!(authors(&stage), ["fake/scripted@prompt-4"]);
    assert!(finds(&engine, "ann", "move Lisbon", "The move to Lisbon").await);
    assert_eq!(facts(&stage).len(), 1);
    assert_eq!(
        stage
            .ledger
            .everything()
            .iter()
            .filter(|(_, cell)| cell.is_none())
            .count(),
        1,
        "the rest waits"
    );
}

#[tokio::test]
async fn a_flush_returns_at_once_and_the_model_extracts_later() {
    let stage = with(answering(lisbon(3), &[]));
    let engine = stage.open().await;
    talk(&engine, 3).await;
    let flushed = engine.flush(flush(&session("s"))).await.expect("it cuts");
    assert_eq!(flushed.status, MemorizeStatus::Extracted);
    stage.rest(&engine).await;
    assert_eq!(authors(&stage), ["fake/scripted@prompt-4"]);
    stage.check().await;
}

#[tokio::test]
async fn an_episode_takes_the_models_title_or_else_the_sessions() {
    for (answer, subject) in [
        (lisbon(3), "The move to Lisbon"),
        (lisbon(3).replace("The move to Lisbon", ""), "Plans"),
        ("I would rather not".to_owned(), "Plans"),
    ] {
        let stage = with(ScriptedChat::answering(move |_| Ok(answer.clone())));
        let engine = stage.open().await;
        talk(&engine, 3).await;
        let titled = Add {
            title: Some("Plans".to_owned()),
            ..add(
                &session("s"),
                vec![new_message(&session("s"), "ann", 0, "I moved to Lisbon")],
            )
        };
        engine.add(titled).await.expect("accepted");
        engine.flush(flush(&session("s"))).await.expect("it cuts");
        assert_eq!(stage.rest(&engine).await, 0);
        let entries = stage.vault.entries();
        let mut episodes = entries
            .iter()
            .filter(|(_, entry)| entry.kind == EntryKind::Episode);
        assert!(episodes.all(|(_, entry)| entry.subject == subject), "{entries:?}");
        stage.check().await;
    }
}

#[tokio::test]
async fn after_three_unusable_answers_the_rules_extract() {
    let stage = with(ScriptedChat::answering(|_| {
        Ok("I would rather talk about the weather".to_owned())
    }));
    let engine = stage.open().await;
    talk(&engine, 3).await;
    engine.flush(flush(&session("s"))).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(calls(&stage), 3);
    let requests = stage.chat.as_ref().expect("there is one").requests();
    assert_eq!(requests[1].messages.len(), 4, "the model is told what was wrong");
    let answers = engine.status().await.expect("a status").model_answers;
    assert_eq!((answers.facts, answers.left_out, answers.unusable), (0, 0, 1));
    assert_eq!(authors(&stage), ["rules/1"]);
    stage.check_written(&["I moved to Lisbon".to_owned()], &["ann"]);
    stage.check().await;
}

/// The rules' facts are written as without a model; the model's facts come after them, with the model as author.
#[tokio::test]
async fn the_rules_facts_stay_and_the_model_adds_facts() {
    let said = [
        "I moved to Lisbon",
        "My sister Eva came along",
        "The surgery of my father is on 20 April",
    ];
    let ruled = {
        let stage = Stage::default();
        let engine = stage.open().await;
        for (n, text) in (0..).zip(said) {
            say(&engine, &session("s"), "ann", n, text).await;
        }
        engine.flush(flush(&session("s"))).await.expect("it cuts");
        assert_eq!(stage.rest(&engine).await, 0);
        facts(&stage)
    };
    assert_eq!(ruled.len(), 2, "{ruled:?}");
    let told = [
        "ann moved to Lisbon",
        "ann's father's surgery is on 20 April",
        "ann owns a castle in Wales",
        "ann and Eva talk about Lisbon and trams",
        "Eva hates trams",
    ];
    let stage = with(answering(lisbon(3), &told));
    let engine = stage.open().await;
    for (n, text) in (0..).zip(said) {
        say(&engine, &session("s"), "ann", n, text).await;
    }
    engine.flush(flush(&session("s"))).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    let found = facts(&stage);
    assert_eq!(found[..2], ruled);
    let added = (
        "ann's father's surgery is on 20 April".to_owned(),
        "fake/scripted@prompt-4".to_owned(),
    );
    assert_eq!(found[2..], [added]);
    let answers = engine.status().await.expect("a status").model_answers;
    assert_eq!((answers.facts, answers.left_out, answers.unusable), (2, 3, 0));
    stage.check().await;
}

#[tokio::test]
async fn messages_without_a_statement_cause_no_question_for_facts() {
    let stage = with(answering(lisbon(1), &[]));
    let engine = stage.open().await;
    say(
        &engine,
        &session("s"),
        "ann",
        0,
        "What is the best way to Lisbon?",
    )
    .await;
    engine.flush(flush(&session("s"))).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(calls(&stage), 1);
}

#[tokio::test]
async fn empty_answers_are_not_sent_back_to_the_model() {
    let stage = with(ScriptedChat::answering(|_| Ok("  ".to_owned())));
    let engine = stage.open().await;
    talk(&engine, 3).await;
    engine.flush(flush(&session("s"))).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(authors(&stage), ["rules/1"]);
}

#[tokio::test]
async fn an_unreachable_model_delays_a_little_and_then_the_rules_extract() {
    let stage = with(ScriptedChat::unreachable());
    let engine = stage.open().await;
    talk(&engine, 3).await;
    say(&engine, &session("s"), "ann", 200, "Back again").await;
    engine.flush(flush(&session("s"))).await.expect("it cuts");
    assert!(
        turns(&engine, "ann", "Lisbon")
            .await
            .contains(&"I moved to Lisbon".to_owned())
    );
    assert_eq!(stage.rest(&engine).await, 0);
    assert!(
        authors(&stage).iter().all(|author| author == "rules/1"),
        "{:?}",
        authors(&stage)
    );
    stage.check_written(
        &["I moved to Lisbon".to_owned(), "Back again".to_owned()],
        &["ann"],
    );
    stage.check().await;
}

#[tokio::test]
async fn a_model_that_comes_back_in_time_is_used() {
    let failures = AtomicUsize::new(2);
    let stage = with(ScriptedChat::answering(move |_| {
        if failures.load(Ordering::SeqCst) > 0 {
            failures.fetch_sub(1, Ordering::SeqCst);
            return Err(ChatError::Unavailable {
                reason: "busy".to_owned(),
            });
        }
        Ok(lisbon(3))
    }));
    let engine = stage.open().await;
    talk(&engine, 3).await;
    engine.flush(flush(&session("s"))).await.expect("it cuts");
    assert_eq!(stage.rest(&engine).await, 0);
    assert_eq!(authors(&stage), ["fake/scripted@prompt-4"]);
}

#[tokio::test]
async fn a_model_that_finds_no_boundary_does_not_fill_the_buffer() {
    let mut stage = with(ScriptedChat::answering(|_| Ok(r#"{"parts":[]}"#.to_owned())));
    stage.settings.messages_max = 10;
    let engine = stage.open().await;
    talk(&engine, 60).await;
    stage.rest(&engine).await;
    let buffered = stage
        .ledger
        .everything()
        .iter()
        .filter(|(_, cell)| cell.is_none())
        .count();
    assert!(
        buffered <= 20,
        "{buffered} messages wait for the model to change its mind"
    );
}

/// A message with an attachment of this kind.
fn attached(kind: PartKind, base64: &str) -> NewMessage {
    let mut new = new_message(&session("s"), "ann", 0, "");
    let part = Part {
        kind,
        text: None,
        uri: None,
        base64: Some(base64.to_owned()),
        ext: None,
        name: Some("boat".to_owned()),
        extras_json: None,
    };
    new.message.content = Content::Parts(vec![part]).into();
    new.client_id = Some(format!("{kind:?} {base64}"));
    new
}

#[tokio::test]
async fn a_model_describes_pictures_and_sounds_if_the_setting_is_on() {
    for (describes_media, answers) in [(true, true), (true, false), (false, true)] {
        let mut stage = with(ScriptedChat::answering(move |request| match &request.attached {
            Some(part) if answers && part.contains("input_audio") => {
                Ok("A man says: leave at noon.".to_owned())
            }
            Some(part) if answers && part.contains("data:image/jpeg;base64,/9j/4AAQ") => {
                Ok("A red boat on a slip.\n".to_owned())
            }
            _ => Err(ChatError::Refused {
                reason: "planted".to_owned(),
            }),
        }));
        stage.settings.describes_media = describes_media;
        let engine = stage.open().await;
        let messages = vec![
            attached(PartKind::Image, "/9j/4A\nAQ"),
            attached(PartKind::Audio, "AAEC"),
        ];
        let added = stage.drive(engine.add(add(&session("s"), messages))).await;
        added.expect("it is accepted, whatever the model does");
        let texts: Vec<String> = stage
            .ledger
            .everything()
            .iter()
            .map(|(message, _)| message.text())
            .collect();
        let [picture, sound] = &texts[..] else {
            panic!("{texts:?}")
        };
        if describes_media && answers {
            assert_eq!(picture, "[image: boat]\n> A red boat on a slip.");
            assert_eq!(sound, "[audio: boat]\n> A man says: leave at noon.");
            assert_eq!(turns(&engine, "ann", "red boat").await[0], *picture);
        } else {
            let why = if describes_media {
                "not read: the chat model did not describe it]"
            } else {
                "not read]"
            };
            assert!(
                picture.starts_with("[image: boat, 6 bytes, sha256 ") && picture.ends_with(why),
                "{picture}"
            );
        }
        stage.drive(engine.shutdown()).await;
    }
}

#[tokio::test]
async fn a_trial_counts_found_statements_and_invented_ones() {
    let trial = |facts: &'static [&'static str]| async move {
        let chat = answering(String::new(), facts);
        memory::try_model(&chat).await.expect("it is answered")
    };
    let good = trial(&[
        "I moved from Leeds to Porto in March.",
        "My sister Lena teaches chemistry at a school in Braga.",
        "I am allergic to walnuts.",
    ])
    .await;
    assert_eq!((good.stated, good.said, good.left_out), (6, 3, 0));
    assert!(good.is_good_enough());
    let glosses = trial(&[
        "The person talks about moving, family and food.",
        "I am allergic to walnuts.",
    ])
    .await;
    assert_eq!((glosses.said, glosses.left_out), (1, 1));
    assert!(!glosses.is_good_enough());
    let unread = memory::try_model(&ScriptedChat::answering(|_| Ok("Sure!".to_owned()))).await;
    assert!(matches!(unread, Err(memory::Trouble::Unusable(_))), "{unread:?}");
}
