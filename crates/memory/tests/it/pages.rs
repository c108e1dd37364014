//! Pages: replaced only if unchanged since they were read, citing only existing memories; and derived memories go with
//! their sources.

use extract::consolidate::page::Own;
use memory::{Curate, Engine, Forget, ReplacePage};
use model::{Entry, EntryKind, MessageId, Page, Parent, ParentKind, Scope, SessionKey};

use crate::stage::{Stage, finds, flush, say, session, user, written};

async fn read(engine: &Engine, page: Page) -> Option<String> {
    engine
        .page(&Scope::default(), &user("ann"), page)
        .await
        .expect("it reads")
}

async fn put(engine: &Engine, page: Page, before: Option<&str>, text: &str) -> bool {
    let replace = ReplacePage {
        scope: Scope::default(),
        owner: user("ann"),
        page,
        before: before.map(str::to_owned),
        text: text.to_owned(),
    };
    engine.replace_page(replace).await.expect("it answers")
}

fn line(text: &str, cites: &[&str]) -> String {
    Own::new(text, cites.iter().copied()).expect("a line").line()
}

fn entries(stage: &Stage, kind: EntryKind) -> Vec<Entry> {
    let entries = stage.vault.entries().into_iter().map(|(_, entry)| entry);
    entries.filter(|entry| entry.kind == kind).collect()
}

async fn curate(engine: &Engine, put: Vec<Entry>) {
    let curate = Curate::new(&Scope::default(), &user("ann"), put, Vec::new());
    engine.curate(curate).await.expect("it is put");
}

fn derived(kind: EntryKind, id: &str, body: &str, sources: &[MessageId]) -> Entry {
    Entry {
        sources: sources.to_vec(),
        origin: model::Origin::User,
        parent: (kind == EntryKind::Episode).then(|| Parent {
            kind: ParentKind::Cluster,
            id: "cl_1".to_owned(),
        }),
        ..written("ann", kind, id, 0, body)
    }
}

/// Puts a profile statement and a page, both made of one session of Ann's, and pages of Bob's.
pub(crate) async fn made_of(stage: &Stage, engine: &Engine, key: &SessionKey) {
    let of_session =
        |entry: &Entry| entry.owner == user("ann") && entry.session.as_ref() == Some(&key.session);
    let facts = entries(stage, EntryKind::Fact);
    let fact = facts.iter().find(|fact| of_session(fact)).expect("a fact");
    curate(
        engine,
        vec![derived(EntryKind::Profile, "pf_1", "Ann is kind", &fact.sources)],
    )
    .await;
    let page = format!("by hand\n{}", line("Ann is kind.", &["pf_1", fact.id.as_str()]));
    assert!(put(engine, Page::Memory, None, "before").await);
    assert!(put(engine, Page::Memory, Some("before"), &page).await);
    stage.pages.write("default/default/users/bob/USER.md", "by hand");
}

/// Checks that only a person's text is left of [`made_of`], and nothing of Bob's.
pub(crate) fn are_forgotten(stage: &Stage) {
    let memory = "default/default/users/ann/MEMORY.md";
    assert_eq!(stage.pages.paths(), [memory.into()]);
    assert_eq!(stage.pages.bytes(memory).as_deref(), Some(&b"by hand\n"[..]));
}

/// Opens an engine with two sessions of one statement each.
async fn opened() -> (Stage, Engine, [SessionKey; 2]) {
    let stage = Stage::default();
    let engine = stage.open().await;
    let keys = [session("one"), session("two")];
    say(&engine, &keys[0], "ann", 0, "I live in Lisbon").await;
    say(&engine, &keys[1], "ann", 1, "I play the theremin").await;
    for key in &keys {
        engine.flush(flush(key)).await.expect("it cuts");
    }
    stage.rest(&engine).await;
    (stage, engine, keys)
}

#[tokio::test]
async fn a_page_is_replaced_only_if_unchanged_and_cites_only_existing_memories() {
    let (stage, engine, _) = opened().await;
    let facts = entries(&stage, EntryKind::Fact);
    let page = format!("# Ann\n{}", line("Ann lives in Lisbon.", &[facts[0].id.as_str()]));
    assert!(put(&engine, Page::User, None, &page).await);
    assert!(!put(&engine, Page::User, None, "# Other\n").await);
    let invented = format!("{page}{}", line("Ann flies.", &["af_none"]));
    assert!(!put(&engine, Page::User, Some(&page), &invented).await);
    assert_eq!(read(&engine, Page::User).await.as_deref(), Some(page.as_str()));
    let by_hand = format!("{page}- by hand [af_none]\n");
    assert!(
        put(&engine, Page::User, Some(&page), &by_hand).await,
        "a person may cite anything"
    );
}

/// Puts profile statements, an upcoming event, a merged episode and lines of a page, each made of one session or of
/// both.
async fn with_derived(stage: &Stage, engine: &Engine) -> String {
    let episodes = entries(stage, EntryKind::Episode);
    let facts = entries(stage, EntryKind::Fact);
    let [one, two] = [&episodes[0].sources, &episodes[1].sources];
    let both: Vec<MessageId> = one.iter().chain(two).cloned().collect();
    curate(
        engine,
        vec![
            derived(EntryKind::Profile, "pf_1", "Ann is from the coast", one),
            derived(EntryKind::Profile, "pf_2", "Ann plays music", two),
            derived(EntryKind::Profile, "pf_3", "Ann is cheerful", &both),
            derived(EntryKind::Foresight, "fs_1", "Ann will sail", one),
            derived(EntryKind::Episode, "ep_merged", "Ann and her coast", &both),
        ],
    )
    .await;
    let page = format!(
        "by hand\n{}{}{}",
        line("Coast.", &["pf_1"]),
        line("Home.", &[facts[0].id.as_str()]),
        line("Music.", &["pf_2"]),
    );
    let made = ["pf_1", "pf_2", "pf_3"].map(str::to_owned).into();
    let set = engine.set_made(&Scope::default(), &user("ann"), &made).await;
    set.expect("it is noted");
    assert!(put(engine, Page::Memory, None, "older, with the coast").await);
    assert!(put(engine, Page::Memory, Some("older, with the coast"), &page).await);
    page
}

fn ids(stage: &Stage, kind: EntryKind) -> Vec<String> {
    let entries = entries(stage, kind).into_iter();
    entries.map(|entry| entry.id.as_str().to_owned()).collect()
}

async fn only_the_second_is_left(stage: &Stage, engine: &Engine) {
    assert_eq!(ids(stage, EntryKind::Profile), ["pf_2"]);
    let may_be_made_again = engine.made(&Scope::default(), &user("ann")).await;
    assert_eq!(
        may_be_made_again.expect("they are read"),
        ["pf_2".to_owned()].into()
    );
    assert_eq!(ids(stage, EntryKind::Foresight), [""; 0]);
    assert!(!ids(stage, EntryKind::Episode).contains(&"ep_merged".to_owned()));
    let page = read(engine, Page::Memory).await.expect("a page");
    assert_eq!(page, format!("by hand\n{}", line("Music.", &["pf_2"])));
    assert!(!finds(engine, "ann", "coast sail Lisbon", "oast").await);
    let previous = "default/default/users/ann/.previous/MEMORY.md";
    assert_eq!(
        stage.pages.bytes(previous),
        None,
        "what was forgotten stands in it"
    );
    stage.check().await;
}

#[tokio::test]
async fn memories_made_of_a_session_are_deleted_with_it() {
    let (stage, engine, keys) = opened().await;
    with_derived(&stage, &engine).await;
    let [one, _] = keys;
    engine.forget(Forget::Session(one)).await.expect("it forgets");
    only_the_second_is_left(&stage, &engine).await;
}

#[tokio::test]
async fn memories_made_of_an_episode_are_deleted_with_it() {
    let (stage, engine, _) = opened().await;
    with_derived(&stage, &engine).await;
    let episode = entries(&stage, EntryKind::Episode)
        .into_iter()
        .find(|entry| entry.summary.contains("Lisbon"));
    let ids = vec![episode.expect("it is told").id];
    engine
        .forget(Forget::Entries(Scope::default(), user("ann"), ids))
        .await
        .expect("it forgets");
    only_the_second_is_left(&stage, &engine).await;
}

#[tokio::test]
async fn a_profile_statement_in_the_words_of_a_fact_is_deleted_with_it() {
    let (stage, engine, _) = opened().await;
    let fact = entries(&stage, EntryKind::Fact).remove(0);
    let says = derived(EntryKind::Profile, "pf_1", &fact.body, &fact.sources);
    let says_else = derived(EntryKind::Profile, "pf_2", "Ann likes the sea.", &fact.sources);
    curate(&engine, vec![says, says_else]).await;
    let forget = Forget::Entries(Scope::default(), user("ann"), vec![fact.id.clone()]);
    engine.forget(forget).await.expect("it forgets");
    assert_eq!(ids(&stage, EntryKind::Profile), ["pf_2"]);
    stage.check().await;
}

#[tokio::test]
async fn a_memory_of_sources_deleted_meanwhile_is_not_written() {
    let (stage, engine, keys) = opened().await;
    let sources = entries(&stage, EntryKind::Episode).remove(0).sources;
    let fact = entries(&stage, EntryKind::Fact).remove(0).id;
    let [one, _] = keys;
    engine.forget(Forget::Session(one)).await.expect("it forgets");
    curate(
        &engine,
        vec![derived(EntryKind::Profile, "pf_1", "Ann", &sources)],
    )
    .await;
    assert_eq!(ids(&stage, EntryKind::Profile), [""; 0]);
    assert!(!put(&engine, Page::User, None, &line("Ann.", &[fact.as_str()])).await);
}

#[tokio::test]
async fn the_pages_of_an_owner_are_deleted_with_the_owner() {
    let (stage, engine, _) = opened().await;
    with_derived(&stage, &engine).await;
    let forget = Forget::Owner(Scope::default(), user("ann"));
    engine.forget(forget).await.expect("it forgets");
    assert_eq!(stage.pages.paths(), []);
    assert_eq!(read(&engine, Page::Memory).await, None);
}

#[tokio::test]
async fn memories_made_of_an_episode_deleted_by_hand_go_with_its_session() {
    let stage = Stage::default();
    let engine = stage.open().await;
    let key = session("s");
    say(&engine, &key, "ann", 0, "I live in Lisbon").await;
    engine.flush(flush(&key)).await.expect("it cuts");
    stage.rest(&engine).await;
    made_of(&stage, &engine, &key).await;
    let paths = stage.vault.paths();
    for path in paths.iter().filter(|path| path.contains("ann/episode")) {
        stage.vault.delete(path);
    }
    stage.rest(&engine).await;
    assert_eq!(
        entries(&stage, EntryKind::Profile).len(),
        1,
        "nobody asked for that"
    );
    let other = session("other");
    engine.forget(Forget::Session(other)).await.expect("it forgets");
    assert_eq!(entries(&stage, EntryKind::Profile).len(), 1, "nor for that");
    engine.forget(Forget::Session(key)).await.expect("it forgets");
    assert!(entries(&stage, EntryKind::Profile).is_empty());
    assert!(
        !read(&engine, Page::Memory)
            .await
            .expect("a page")
            .contains("kind")
    );
}
