//! Deletion by words: texts with the words go everywhere, the rest stays complete, and the preview shows both.

use std::collections::BTreeSet;
use std::sync::Arc;

use memory::{Add, DeletionPreview, Engine, Forget, WordsTarget};
use model::{Doc, Entry, EntryKind, Scope, SessionKey};
use ports::NewMessage;

use crate::stage::{Stage, add, ask, finds, flush, new_message, say, session, turns, user, written};

pub(crate) fn target(owner: &str, words: &str, keep: &[&str]) -> Forget {
    Forget::Words(WordsTarget {
        scope: Scope::default(),
        owner: user(owner),
        words: words.to_owned(),
        keep: keep.iter().map(|id| (*id).to_owned()).collect(),
        also: BTreeSet::new(),
    })
}

async fn preview(engine: &Engine, forget: &Forget) -> DeletionPreview {
    engine.preview(forget).await.expect("it looks")
}

fn entries(stage: &Stage, owner: &str, kind: EntryKind) -> Vec<Entry> {
    let entries = stage.vault.entries().into_iter().map(|(_, entry)| entry);
    entries
        .filter(|entry| entry.owner == user(owner) && entry.kind == kind)
        .collect()
}

/// The contents of the ledger and the vault, as text.
fn everything(stage: &Stage) -> String {
    format!("{:?} {:?}", stage.ledger.everything(), stage.vault.entries())
}

/// Messages of a session with a title of two subjects.
fn titled(session: &SessionKey, messages: Vec<NewMessage>) -> Add {
    Add {
        title: Some("Petra and the garden".to_owned()),
        ..add(session, messages)
    }
}

/// Opens an engine with one conversation of three messages, the middle one about Petra, one about Petra alone, and an
/// open buffer.
async fn opened() -> (Stage, Engine) {
    let stage = Stage::default();
    let engine = stage.open().await;
    let (mixed, alone) = (session("mixed"), session("alone"));
    let first = new_message(&mixed, "ann", 0, "I live in Lisbon.");
    engine.add(titled(&mixed, vec![first])).await.expect("accepted");
    say(&engine, &mixed, "ann", 1, "My friend Petra plays the violin.").await;
    say(&engine, &mixed, "ann", 2, "I grow tomatoes in my garden.").await;
    engine.flush(flush(&mixed)).await.expect("it cuts");
    say(&engine, &alone, "ann", 50, "PETRA's birthday is in May.").await;
    engine.flush(flush(&alone)).await.expect("it cuts");
    stage.rest(&engine).await;
    say(&engine, &session("open"), "ann", 90, "Is pétra at home?").await;
    say(&engine, &session("open"), "ann", 91, "The kettle is on.").await;
    (stage, engine)
}

#[tokio::test]
async fn a_message_with_the_words_goes_and_the_rest_of_its_episode_stays() {
    let (stage, engine) = opened().await;
    let what = target("ann", "petra", &[]);
    let looked = preview(&engine, &what).await;
    let forgot = engine.forget(what.clone()).await.expect("it forgets");
    assert_eq!(forgot.messages, 3);
    assert_eq!(looked.messages.len(), forgot.messages);
    assert_eq!(looked.entries.len(), forgot.entries);
    assert_eq!((looked.rewritten.len(), forgot.rewritten), (1, 1));
    assert_eq!(looked.lines, ["Petra and the garden"], "the title goes too");
    let all = everything(&stage).to_lowercase();
    assert!(!all.contains("petra") && !all.contains("pétra"), "{all}");
    assert_eq!(stage.ledger.everything().len(), 3);
    let episodes = entries(&stage, "ann", EntryKind::Episode);
    assert_eq!(episodes.len(), 1, "of the other nothing is left");
    let left: Vec<String> = episodes[0].turns.iter().map(model::Message::text).collect();
    assert_eq!(left, ["I live in Lisbon.", "I grow tomatoes in my garden."]);
    assert_eq!(episodes[0].sources.len(), 2);
    assert!(
        turns(&engine, "ann", "Petra violin birthday")
            .await
            .iter()
            .all(|text| !text.contains("etra"))
    );
    assert!(finds(&engine, "ann", "where does ann live Lisbon", "Lisbon").await);
    assert!(finds(&engine, "ann", "kettle", "kettle").await);
    stage.rest(&engine).await;
    stage.check().await;
    let again = engine.forget(what).await.expect("asking twice is no error");
    assert_eq!((again.entries, again.messages, again.rewritten), (0, 0, 0));
}

/// "She" is next to the name: the neighbours are shown, stay, and go if the person names them.
#[tokio::test]
async fn neighbouring_messages_are_shown_and_go_when_the_request_names_them() {
    let (stage, engine) = opened().await;
    let Forget::Words(target) = target("ann", "petra", &[]) else {
        panic!("by words");
    };
    let looked = preview(&engine, &Forget::Words(target.clone())).await;
    let texts = |looked: &DeletionPreview| {
        looked
            .beside
            .iter()
            .map(|doc| doc.text.clone())
            .collect::<Vec<_>>()
    };
    let [lisbon, garden, kettle] = [
        "I live in Lisbon.",
        "I grow tomatoes in my garden.",
        "The kettle is on.",
    ];
    assert_eq!(texts(&looked), [lisbon, garden, kettle]);
    let chosen = looked.beside.iter().filter(|doc| doc.text != lisbon);
    let also = chosen.map(|doc| doc.key.id.to_string()).collect();
    let target = WordsTarget { also, ..target };
    let looked = preview(&engine, &Forget::Words(target.clone())).await;
    assert_eq!(texts(&looked), [lisbon]);
    assert_eq!(looked.messages.len(), 5);
    let forgot = engine.forget(Forget::Words(target)).await.expect("it forgets");
    assert_eq!(forgot.messages, 5);
    let all = everything(&stage);
    assert!(!all.contains("tomatoes") && !all.contains("kettle"), "{all}");
    assert!(all.contains("Lisbon"), "{all}");
}

#[tokio::test]
async fn a_kept_message_with_the_words_is_not_shown_as_a_neighbour() {
    let (_stage, engine) = opened().await;
    let looked = preview(&engine, &target("ann", "petra", &[])).await;
    let id_of = |docs: &[Arc<Doc>], word: &str| {
        let doc = docs.iter().find(|doc| doc.text.contains(word)).expect(word);
        doc.key.id.to_string()
    };
    let Forget::Words(mut target) = target("ann", "petra", &[&id_of(&looked.messages, "violin")]) else {
        panic!("by words");
    };
    target.also.insert(id_of(&looked.beside, "garden"));
    let looked = preview(&engine, &Forget::Words(target)).await;
    let beside: Vec<&str> = looked.beside.iter().map(|doc| doc.text.as_str()).collect();
    assert_eq!(beside, ["The kettle is on."]);
}

#[tokio::test]
async fn a_deleted_message_comes_back_only_if_the_add_accepts_it() {
    let (stage, engine) = opened().await;
    engine
        .forget(target("ann", "petra", &[]))
        .await
        .expect("it forgets");
    let mixed = session("mixed");
    let all = || {
        vec![
            new_message(&mixed, "ann", 0, "I live in Lisbon."),
            new_message(&mixed, "ann", 1, "My friend Petra plays the violin."),
            new_message(&mixed, "ann", 2, "I grow tomatoes in my garden."),
        ]
    };
    let added = engine.add(titled(&mixed, all())).await.expect("accepted");
    let forgotten: Vec<bool> = added.accepted.iter().map(|one| one.forgotten).collect();
    assert_eq!(forgotten, [false, true, false]);
    engine.flush(flush(&mixed)).await.expect("it cuts");
    stage.rest(&engine).await;
    assert!(!everything(&stage).contains("etra"));
    let mut accepting = all();
    accepting[1].accept_forgotten = true;
    let added = engine.add(titled(&mixed, accepting)).await.expect("accepted");
    let restored: Vec<bool> = added.accepted.iter().map(|one| one.restored).collect();
    assert_eq!(restored, [false, true, false]);
    assert!(everything(&stage).contains("Petra"));
}

#[tokio::test]
async fn a_kept_memory_stays_with_its_source_messages() {
    let (stage, engine) = opened().await;
    let looked = preview(&engine, &target("ann", "petra", &[])).await;
    let birthday = looked.messages.iter().find(|doc| doc.text.contains("birthday"));
    let birthday = birthday.expect("it would go").key.id.to_string();
    let fact = entries(&stage, "ann", EntryKind::Fact)
        .into_iter()
        .find(|fact| fact.body.contains("violin"));
    let keep = match &fact {
        Some(fact) => vec![birthday.as_str(), fact.id.as_str()],
        None => vec![birthday.as_str()],
    };
    let forgot = engine
        .forget(target("ann", "petra", &keep))
        .await
        .expect("it forgets");
    assert_eq!(forgot.messages, if fact.is_some() { 1 } else { 2 });
    assert!(everything(&stage).contains("birthday"));
    assert_eq!(everything(&stage).contains("violin"), fact.is_some());
}

#[tokio::test]
async fn messages_with_the_words_go_from_one_owner_and_stay_with_others() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "Petra comes on Sunday.").await;
    say(&engine, &key, "bob", 1, "I bring the cake, says bob.").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    // Buffered, in a session that both users share.
    say(&engine, &key, "bob", 90, "Petra likes the cake.").await;
    let what = target("ann", "petra", &[]);
    let looked = preview(&engine, &what).await;
    assert_eq!(looked.messages.len(), 2);
    let staying: BTreeSet<String> = looked
        .stays
        .iter()
        .map(|staying| staying.owner.id.to_string())
        .collect();
    assert_eq!(staying, BTreeSet::from(["bob".to_owned()]));
    let forgot = engine.forget(what).await.expect("it forgets");
    assert_eq!(forgot.messages, 2);
    stage.rest(&engine).await;
    assert!(!format!("{:?}", entries(&stage, "ann", EntryKind::Episode)).contains("Petra"));
    assert!(format!("{:?}", entries(&stage, "bob", EntryKind::Episode)).contains("Petra"));
    assert!(
        turns(&engine, "ann", "Petra cake")
            .await
            .iter()
            .all(|text| !text.contains("Petra"))
    );
    assert!(
        turns(&engine, "bob", "Petra Sunday")
            .await
            .iter()
            .any(|text| text.contains("Petra"))
    );
    stage.check().await;
    // Messages of another user match by the speaker's name.
    let forgot = engine
        .forget(target("ann", "bob", &[]))
        .await
        .expect("it forgets");
    assert_eq!(forgot.messages, 1);
}

#[tokio::test]
async fn a_memory_without_messages_and_a_page_line_with_the_words_go_too() {
    let (stage, engine) = opened().await;
    let hand = written("ann", EntryKind::Profile, "pf_hand", 5, "Petra is a friend.");
    let other = written("ann", EntryKind::Profile, "pf_other", 5, "Likes tea.");
    let put = memory::Curate::new(&Scope::default(), &user("ann"), vec![hand, other], Vec::new());
    engine.curate(put).await.expect("written");
    let page = memory::ReplacePage {
        scope: Scope::default(),
        owner: user("ann"),
        page: model::Page::User,
        before: None,
        text: "# Ann\n\nPetra is her friend.\nTea first.\n".to_owned(),
    };
    assert!(engine.replace_page(page).await.expect("written"));
    let what = target("ann", "petra", &[]);
    let looked = preview(&engine, &what).await;
    assert_eq!(looked.lines, ["Petra is her friend.", "Petra and the garden"]);
    assert!(looked.entries.iter().any(|doc| &*doc.key.id == "pf_hand"));
    engine.forget(what).await.expect("it forgets");
    let page = engine
        .page(&Scope::default(), &user("ann"), model::Page::User)
        .await;
    assert_eq!(page.expect("reads").as_deref(), Some("# Ann\n\nTea first.\n"));
    let left: Vec<String> = entries(&stage, "ann", EntryKind::Profile)
        .into_iter()
        .map(|entry| entry.body)
        .collect();
    assert_eq!(left, ["Likes tea."]);
    let found = ask(&engine, "ann", "petra").await;
    assert!(
        found
            .messages
            .iter()
            .all(|hit| !hit.doc.text.to_lowercase().contains("petra"))
    );
}

#[tokio::test]
async fn a_derived_memory_that_also_has_the_words_is_listed_once() {
    let (stage, engine) = opened().await;
    let episodes = entries(&stage, "ann", EntryKind::Episode);
    let mut turns = episodes.iter().flat_map(|episode| &episode.turns);
    let petra = turns
        .find(|turn| turn.text().contains("violin"))
        .expect("it was said");
    let made = Entry {
        sources: vec![petra.id.clone()],
        ..written("ann", EntryKind::Profile, "pf_made", 5, "Petra plays the violin.")
    };
    let put = memory::Curate::new(&Scope::default(), &user("ann"), vec![made], Vec::new());
    engine.curate(put).await.expect("written");
    let what = target("ann", "petra", &[]);
    let looked = preview(&engine, &what).await;
    let ids: BTreeSet<&str> = looked.entries.iter().map(|doc| &*doc.key.id).collect();
    assert!(ids.contains("pf_made"), "{ids:?}");
    let forgot = engine.forget(what).await.expect("it forgets");
    assert_eq!((looked.entries.len(), forgot.entries), (ids.len(), ids.len()));
}

#[tokio::test]
async fn deleting_one_fact_shows_its_message_as_staying() {
    let (stage, engine) = opened().await;
    let fact = entries(&stage, "ann", EntryKind::Fact)
        .into_iter()
        .find(|fact| fact.body.contains("Lisbon"))
        .expect("a fact");
    let forget = Forget::Entries(Scope::default(), user("ann"), vec![fact.id]);
    let looked = preview(&engine, &forget).await;
    assert_eq!((looked.named, looked.messages.len()), (1, 0));
    let stays: Vec<&str> = looked.own_stays.iter().map(|doc| doc.text.as_str()).collect();
    assert_eq!(stays, ["I live in Lisbon."]);
}

#[tokio::test]
async fn a_repetition_finishes_a_deletion_after_any_failed_call() {
    for n in 1..60 {
        let (stage, engine) = opened().await;
        let before = stage.ledger.calls();
        stage.ledger.fail_call(n, testkit::ledger::Fault::Refused);
        let first = engine.forget(target("ann", "petra", &[])).await;
        let used = stage.ledger.calls() - before;
        stage.ledger.repair();
        if first.is_err() {
            engine
                .forget(target("ann", "petra", &[]))
                .await
                .expect("it forgets");
        }
        stage.rest(&engine).await;
        let all = everything(&stage).to_lowercase();
        assert!(!all.contains("petra"), "call {n}: {all}");
        if used < n {
            break;
        }
    }
}
