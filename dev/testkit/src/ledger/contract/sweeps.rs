//! Forgetting: the deleted data, the data deleted with it, and the data that must stay.
//!
//! Owns: the meaning of `Transcripts::sweep`. Never: bytes in files; the adapter's own tests check those.

use model::{CellId, MessageId, Owner, SessionKey};
use ports::{Forgotten, JobId, JobKind, Sweep, TaskQuery};

use super::Ledger;
use super::transcripts::{finish_all, ids};
use crate::ledger::samples::{
    accepting, at, cell, cut, job, name, new, replies, says, scope, session, with_client_id,
};

/// Runs each of these functions on a ledger of its own.
pub async fn check_all<L: Ledger>(fresh: &impl Fn() -> L) {
    a_session_goes_with_all_its_rows(&fresh()).await;
    an_owner_goes_with_the_talk_of_her_own(&fresh()).await;
    an_owner_leaves_messages_that_others_remember(&fresh()).await;
    an_owner_goes_out_of_one_session(&fresh()).await;
    answers_stay_with_the_user_whose_words_are_gone(&fresh()).await;
    an_agent_goes_as_sender_and_as_owner(&fresh()).await;
    a_scope_goes_and_no_other(&fresh()).await;
    single_messages_go_with_emptied_memcells(&fresh()).await;
    a_deleted_client_id_is_left_out(&fresh()).await;
    left_out_messages_leave_nothing(&fresh()).await;
}

fn forgotten(messages: usize, cells: &[&str]) -> Forgotten {
    Forgotten {
        messages,
        cells: cells.len(),
        cell_ids: cells.iter().map(|id| CellId::new(*id)).collect(),
        conversations: 0,
    }
}

async fn accept(ledger: &impl Ledger, session: &SessionKey, said: &[(&str, &str)]) {
    let messages = said.iter().enumerate().map(|(i, (who, id))| {
        let millis = i64::try_from(i).expect("few");
        match *who {
            "bot" => new(replies(session, who, id, millis)),
            _ => new(says(session, who, id, millis)),
        }
    });
    ledger
        .append(session, messages.collect(), at(1))
        .await
        .expect("accepted");
}

async fn left(ledger: &impl Ledger, app: &str, all: &[&str]) -> String {
    let all: Vec<MessageId> = all.iter().map(|id| MessageId::new(*id)).collect();
    let left = ledger.messages(&scope(app), &all).await.expect("reads");
    ids(&left).join(" ")
}

async fn jobs_left(ledger: &impl Ledger, app: &str) -> Vec<String> {
    let query = TaskQuery {
        scope: scope(app),
        session: None,
        state: None,
        kinds: Vec::new(),
        made_from: None,
        made_before: None,
        page: 1,
        page_size: 100,
    };
    let page = ledger.page(&query).await.expect("reads");
    page.jobs.into_iter().rev().map(|job| job.id.0).collect()
}

/// Buffer, memcells, jobs, client ids: everything of one session, nothing of another.
async fn a_session_goes_with_all_its_rows(ledger: &impl Ledger) {
    let (s, other, foreign) = (session("a", "s"), session("a", "other"), session("b", "s"));
    let messages = vec![
        with_client_id(says(&s, "ann", "m1", 1), "c1"),
        new(replies(&s, "bot", "m2", 2)),
    ];
    ledger.append(&s, messages, at(1)).await.expect("accepted");
    accept(ledger, &other, &[("ann", "m3")]).await;
    accept(ledger, &foreign, &[("ann", "m4")]).await;
    let buffer = ledger.buffer(&s).await.expect("reads");
    ledger
        .cut(cut(vec![cell("c1", &buffer[..1], &["ann"])]))
        .await
        .expect("cut");
    let jobs = vec![
        job("add", JobKind::MemoryAdd, &s),
        job("kept", JobKind::MemoryAdd, &other),
    ];
    ledger.enqueue(jobs, at(1)).await.expect("queued");

    let swept = ledger.sweep(Sweep::Session(s.clone())).await.expect("swept");
    assert_eq!(swept, forgotten(2, &["c1"]));
    assert!(ledger.buffer(&s).await.expect("reads").is_empty());
    assert_eq!(ledger.cell(&CellId::new("c1")).await.expect("reads"), None);
    assert_eq!(left(ledger, "a", &["m1", "m2", "m3"]).await, "m3");
    assert_eq!(left(ledger, "b", &["m4"]).await, "m4");
    assert_eq!(jobs_left(ledger, "a").await, ["kept"]);
    let open = ledger.buffered().await.expect("reads");
    assert_eq!(open.sessions, 2);
    let ann = Owner::user(name("ann"));
    assert_eq!(ids(&ledger.tail(&s.scope, &ann).await.expect("reads")), ["m3"]);
    let again = ledger.sweep(Sweep::Session(s.clone())).await.expect("swept");
    assert_eq!(again, Forgotten::default());
}

/// However its message was deleted, a client id is left out of later appends until one accepts it.
async fn a_deleted_client_id_is_left_out(ledger: &impl Ledger) {
    let ann = Owner::user(name("ann"));
    let (whole, some, owned, part) = (
        session("a", "whole"),
        session("a", "some"),
        session("a", "owned"),
        session("a", "part"),
    );
    let says = |s: &SessionKey, id: &str, n: i64| says(s, "ann", &format!("{}-{id}", s.session), n);
    let sweeps = [
        (&whole, Sweep::Session(whole.clone())),
        (
            &some,
            Sweep::Messages(scope("a"), vec![MessageId::new("some-m1")]),
        ),
        (&part, Sweep::OwnerInSession(part.clone(), ann.clone())),
        (&owned, Sweep::Owner(scope("a"), ann)),
    ];
    for (s, sweep) in sweeps {
        let first = vec![with_client_id(says(s, "m1", 1), "c1"), new(says(s, "m2", 2))];
        ledger.append(s, first, at(1)).await.expect("accepted");
        ledger.sweep(sweep).await.expect("swept");
        let again = || {
            let anew = with_client_id(says(s, "m3", 1), "c1");
            vec![
                anew,
                with_client_id(says(s, "m4", 2), "c2"),
                new(says(s, "m5", 3)),
            ]
        };
        let append = async |said| ledger.append(s, said, at(2)).await.expect("accepted").accepted;
        let accepted = append(again()).await;
        let verdicts: Vec<_> = accepted.iter().map(|a| (a.duplicate, a.forgotten)).collect();
        assert_eq!(verdicts, [(true, true), (false, false), (false, false)], "{s:?}");
        let accepted = append(again().into_iter().take(2).map(accepting).collect()).await;
        let verdicts: Vec<_> = accepted.iter().map(|a| (a.duplicate, a.restored)).collect();
        assert_eq!(verdicts, [(false, true), (true, false)], "{s:?}");
        let accepted = append(vec![again().remove(0)]).await;
        assert!(accepted[0].duplicate && !accepted[0].forgotten, "{s:?}");
    }
    ledger
        .sweep(Sweep::Messages(scope("a"), vec![MessageId::new("some-m4")]))
        .await
        .expect("swept");
    ledger.sweep(Sweep::Scope(scope("a"))).await.expect("swept");
    let anew = vec![with_client_id(says(&some, "m4", 1), "c2")];
    let outcome = ledger.append(&some, anew, at(3)).await.expect("accepted");
    assert!(
        !outcome.accepted[0].forgotten,
        "nothing is left of a deleted scope"
    );
}

/// A session whose messages were all left out has no buffer, and no append brings a deleted title back.
async fn left_out_messages_leave_nothing(ledger: &impl Ledger) {
    let (s, renamed) = (session("a", "s"), session("a", "renamed"));
    for of in [&s, &renamed] {
        let said = vec![with_client_id(says(of, "ann", of.session.as_str(), 1), "c1")];
        ledger
            .entitle(of, "Petra".to_owned(), false)
            .await
            .expect("is called so");
        ledger.append(of, said, at(1)).await.expect("accepted");
    }
    ledger.sweep(Sweep::Session(s.clone())).await.expect("swept");
    ledger
        .entitle(&renamed, String::new(), false)
        .await
        .expect("loses its title");
    for of in [&s, &renamed] {
        ledger
            .entitle(of, "Petra".to_owned(), false)
            .await
            .expect("answered");
        assert_eq!(ledger.title(of).await.expect("reads"), None, "{of:?}");
    }
    let anew = || vec![with_client_id(says(&s, "ann", "m2", 1), "c1")];
    let outcome = ledger.append(&s, anew(), at(2)).await.expect("answered");
    assert_eq!(outcome.buffered, 0);
    assert_eq!(ledger.open_sessions(9).await.expect("reads").len(), 1);
    ledger
        .entitle(&s, "Petra".to_owned(), true)
        .await
        .expect("is called so");
    assert_eq!(ledger.title(&s).await.expect("reads").as_deref(), Some("Petra"));
    ledger.append(&s, anew(), at(2)).await.expect("answered");
    assert_eq!(
        ledger.title(&s).await.expect("reads"),
        None,
        "a session without messages is none"
    );
}

/// In a session without other users, nothing stays: the agent's replies belong to the owner's conversation.
async fn an_owner_goes_with_the_talk_of_her_own(ledger: &impl Ledger) {
    let (alone, foreign) = (session("a", "alone"), session("b", "alone"));
    accept(
        ledger,
        &alone,
        &[("ann", "m1"), ("bot", "m2"), ("ann", "m3"), ("bot", "m4")],
    )
    .await;
    accept(ledger, &foreign, &[("ann", "f1")]).await;
    let buffer = ledger.buffer(&alone).await.expect("reads");
    ledger
        .cut(cut(vec![cell("c1", &buffer[..2], &["ann"])]))
        .await
        .expect("cut");
    let queued = job("add", JobKind::MemoryAdd, &alone);
    ledger.enqueue(vec![queued], at(1)).await.expect("queued");

    let stranger = Sweep::Owner(scope("a"), Owner::agent(name("ann")));
    let nobody = ledger.sweep(stranger).await.expect("swept");
    assert_eq!(
        nobody,
        Forgotten::default(),
        "an agent of that name is somebody else"
    );
    let ann = Owner::user(name("ann"));
    let swept = ledger
        .sweep(Sweep::Owner(scope("a"), ann.clone()))
        .await
        .expect("swept");
    assert_eq!(swept, forgotten(4, &["c1"]));
    assert_eq!(left(ledger, "a", &["m1", "m2", "m3", "m4"]).await, "");
    assert_eq!(left(ledger, "b", &["f1"]).await, "f1");
    assert!(ledger.tail(&scope("a"), &ann).await.expect("reads").is_empty());
    assert!(jobs_left(ledger, "a").await.is_empty());
    let open = ledger.buffered().await.expect("reads");
    assert_eq!(open.sessions, 1);
}

/// If others speak or remember, only the owner's messages and name are deleted.
async fn an_owner_leaves_messages_that_others_remember(ledger: &impl Ledger) {
    let shared = session("a", "shared");
    let said = [
        ("ann", "s1"),
        ("bob", "s2"),
        ("bot", "s3"),
        ("ann", "s4"),
        ("bob", "s5"),
        ("ann", "s6"),
    ];
    accept(ledger, &shared, &said).await;
    let buffer = ledger.buffer(&shared).await.expect("reads");
    let cells = vec![
        cell("c1", &buffer[..3], &["ann", "bob"]),
        cell("c2", &buffer[3..4], &["ann"]),
    ];
    ledger.cut(cut(cells)).await.expect("cut");
    let queued = job("add", JobKind::MemoryAdd, &shared);
    ledger.enqueue(vec![queued], at(1)).await.expect("queued");

    let (ann, bob) = (Owner::user(name("ann")), Owner::user(name("bob")));
    let swept = ledger
        .sweep(Sweep::Owner(scope("a"), ann.clone()))
        .await
        .expect("swept");
    assert_eq!(swept, forgotten(3, &["c2"]));
    let c1 = ledger
        .cell(&CellId::new("c1"))
        .await
        .expect("reads")
        .expect("bob's too");
    assert_eq!(
        (ids(&c1.messages), c1.owners),
        (vec!["s2", "s3"], vec![bob.clone()])
    );
    assert_eq!(ids(&ledger.buffer(&shared).await.expect("reads")), ["s5"]);
    assert!(ledger.tail(&scope("a"), &ann).await.expect("reads").is_empty());
    let bobs = ledger.tail(&scope("a"), &bob).await.expect("reads");
    assert_eq!(ids(&bobs), ["s2", "s3", "s5"]);
    assert_eq!(jobs_left(ledger, "a").await, ["job-c1", "add"]);
}

/// An owner's part of one session is deleted like all of hers; her other sessions and other owners' parts
/// stay.
async fn an_owner_goes_out_of_one_session(ledger: &impl Ledger) {
    let (shared, alone, other) = (
        session("a", "shared"),
        session("a", "alone"),
        session("a", "other"),
    );
    let said = [
        ("ann", "s1"),
        ("bob", "s2"),
        ("bot", "s3"),
        ("ann", "s4"),
        ("bob", "s5"),
        ("ann", "s6"),
    ];
    accept(ledger, &shared, &said).await;
    accept(ledger, &alone, &[("ann", "l1"), ("bot", "l2"), ("ann", "l3")]).await;
    accept(ledger, &other, &[("ann", "o1"), ("ann", "o2")]).await;
    accept(ledger, &session("b", "shared"), &[("ann", "f1")]).await;
    let buffer = ledger.buffer(&shared).await.expect("reads");
    let cells = vec![
        cell("c1", &buffer[..3], &["ann", "bob"]),
        cell("c2", &buffer[3..4], &["ann"]),
    ];
    ledger.cut(cut(cells)).await.expect("cut");
    let buffer = ledger.buffer(&other).await.expect("reads");
    ledger
        .cut(cut(vec![cell("c3", &buffer[..1], &["ann"])]))
        .await
        .expect("cut");
    let (ann, bob) = (Owner::user(name("ann")), Owner::user(name("bob")));
    let gone = |s: &SessionKey, owner: Owner| Sweep::OwnerInSession(s.clone(), owner);

    let swept = ledger.sweep(gone(&shared, ann.clone())).await.expect("swept");
    assert_eq!(swept, forgotten(3, &["c2"]));
    let c1 = ledger
        .cell(&CellId::new("c1"))
        .await
        .expect("reads")
        .expect("bob's too");
    assert_eq!(
        (ids(&c1.messages), c1.owners),
        (vec!["s2", "s3"], vec![bob.clone()])
    );
    assert_eq!(ids(&ledger.buffer(&shared).await.expect("reads")), ["s5"]);
    let anns = ledger.tail(&scope("a"), &ann).await.expect("reads");
    assert_eq!(ids(&anns), ["l1", "o1", "l2", "o2", "l3"]);
    assert_eq!(jobs_left(ledger, "a").await, ["job-c1", "job-c3"]);
    assert_eq!(left(ledger, "b", &["f1"]).await, "f1");

    let swept = ledger.sweep(gone(&alone, ann.clone())).await.expect("swept");
    assert_eq!(swept, forgotten(3, &[]), "nobody else spoke there");
    assert_eq!(
        ids(&ledger.tail(&scope("a"), &ann).await.expect("reads")),
        ["o1", "o2"]
    );
    for nothing in [
        gone(&shared, ann),
        gone(&other, bob),
        gone(&session("a", "none"), Owner::user(name("ann"))),
        gone(&other, Owner::agent(name("ann"))),
    ] {
        let swept = ledger.sweep(nothing).await.expect("swept");
        assert_eq!(swept, Forgotten::default());
    }
}

/// After a user's own messages are gone, that user can still have the answers to them forgotten.
async fn answers_stay_with_the_user_whose_words_are_gone(ledger: &impl Ledger) {
    let (s, ann) = (session("a", "s"), Owner::user(name("ann")));
    accept(ledger, &s, &[("ann", "m1"), ("bot", "m2")]).await;
    let own = Sweep::Messages(scope("a"), vec![MessageId::new("m1")]);
    assert_eq!(ledger.sweep(own).await.expect("swept"), forgotten(1, &[]));
    assert_eq!(ids(&ledger.tail(&scope("a"), &ann).await.expect("reads")), ["m2"]);
    let part = Sweep::OwnerInSession(s.clone(), ann.clone());
    let swept = ledger.sweep(part).await.expect("swept");
    assert_eq!(swept, forgotten(1, &[]), "the answer");

    accept(ledger, &s, &[("ann", "m3"), ("bob", "m4"), ("bot", "m5")]).await;
    for id in ["m3", "m4"] {
        let own = Sweep::Messages(scope("a"), vec![MessageId::new(id)]);
        ledger.sweep(own).await.expect("swept");
    }
    let anns = ledger.tail(&scope("a"), &ann).await.expect("reads");
    assert!(anns.is_empty(), "bob spoke after her words were gone");
    let bobs = ledger
        .sweep(Sweep::Owner(scope("a"), Owner::user(name("bob"))))
        .await;
    assert_eq!(bobs.expect("swept"), forgotten(1, &[]));
}

/// An agent's own messages and memcells are deleted; the users' messages stay.
async fn an_agent_goes_as_sender_and_as_owner(ledger: &impl Ledger) {
    let s = session("a", "s");
    accept(
        ledger,
        &s,
        &[("ann", "m1"), ("bot", "m2"), ("ann", "m3"), ("bot", "m4")],
    )
    .await;
    let buffer = ledger.buffer(&s).await.expect("reads");
    let bot = Owner::agent(name("bot"));
    let mut own = cell("c1", &buffer[1..2], &[]);
    own.owners = vec![bot.clone()];
    let unowned = cell("c2", &buffer[2..3], &[]);
    ledger.cut(cut(vec![own, unowned])).await.expect("cut");
    assert_eq!(ids(&ledger.tail(&s.scope, &bot).await.expect("reads")), ["m2"]);
    let swept = ledger
        .sweep(Sweep::Owner(scope("a"), bot.clone()))
        .await
        .expect("swept");
    assert_eq!(swept, forgotten(2, &["c1"]));
    assert_eq!(left(ledger, "a", &["m1", "m2", "m3", "m4"]).await, "m1 m3");
    assert_eq!(ids(&ledger.buffer(&s).await.expect("reads")), ["m1"]);
    assert!(ledger.tail(&s.scope, &bot).await.expect("reads").is_empty());
}

/// A scope is deleted; its neighbour does not change.
async fn a_scope_goes_and_no_other(ledger: &impl Ledger) {
    for app in ["a", "b"] {
        let s = session(app, "s");
        accept(ledger, &s, &[("ann", "m1"), ("ann", "m2")]).await;
        let buffer = ledger.buffer(&s).await.expect("reads");
        let id = format!("c-{app}");
        ledger
            .cut(cut(vec![cell(&id, &buffer[..1], &["ann"])]))
            .await
            .expect("cut");
    }
    let swept = ledger.sweep(Sweep::Scope(scope("a"))).await.expect("swept");
    assert_eq!(swept, forgotten(2, &["c-a"]));
    assert_eq!(left(ledger, "a", &["m1", "m2"]).await, "");
    assert_eq!(left(ledger, "b", &["m1", "m2"]).await, "m1 m2");
    assert!(jobs_left(ledger, "a").await.is_empty());
    assert_eq!(jobs_left(ledger, "b").await, ["job-c-b"]);
    assert!(ledger.cell(&CellId::new("c-b")).await.expect("reads").is_some());
    let ann = Owner::user(name("ann"));
    assert!(ledger.tail(&scope("a"), &ann).await.expect("reads").is_empty());
    assert_eq!(ledger.tail(&scope("b"), &ann).await.expect("reads").len(), 2);
    finish_all(ledger).await;
}

/// Messages are deleted from buffer and memcells; an empty memcell with its job, an empty session with
/// everything.
async fn single_messages_go_with_emptied_memcells(ledger: &impl Ledger) {
    let s = session("a", "s");
    accept(
        ledger,
        &s,
        &[
            ("ann", "m1"),
            ("ann", "m2"),
            ("bob", "m3"),
            ("ann", "m4"),
            ("ann", "m5"),
        ],
    )
    .await;
    accept(ledger, &session("b", "s"), &[("ann", "m1")]).await;
    let buffer = ledger.buffer(&s).await.expect("reads");
    let cells = vec![
        cell("c1", &buffer[..2], &["ann"]),
        cell("c2", &buffer[2..3], &["bob"]),
    ];
    ledger.cut(cut(cells)).await.expect("cut");
    let claimed = ledger.claim(1, 0, at(10), at(20)).await.expect("claims");
    assert_eq!(claimed[0].subject, "c1");

    let gone = |ids: &[&str]| Sweep::Messages(scope("a"), ids.iter().map(|id| MessageId::new(*id)).collect());
    let swept = ledger
        .sweep(gone(&["m2", "m3", "m4", "none"]))
        .await
        .expect("swept");
    assert_eq!(swept, forgotten(3, &["c2"]));
    assert_eq!(left(ledger, "a", &["m1", "m2", "m3", "m4", "m5"]).await, "m1 m5");
    assert_eq!(left(ledger, "b", &["m1"]).await, "m1");
    let c1 = ledger
        .cell(&CellId::new("c1"))
        .await
        .expect("reads")
        .expect("not empty");
    assert_eq!(ids(&c1.messages), ["m1"]);
    assert_eq!(jobs_left(ledger, "a").await, ["job-c1"]);
    let bob = Owner::user(name("bob"));
    let bobs = ledger.tail(&scope("a"), &bob).await.expect("reads");
    assert!(
        bobs.is_empty(),
        "his only message is gone, so he speaks here no more"
    );

    let swept = ledger.sweep(gone(&["m1", "m5"])).await.expect("swept");
    assert_eq!(swept, forgotten(2, &["c1"]));
    assert!(jobs_left(ledger, "a").await.is_empty());
    ledger
        .complete(&[JobId("job-c1".to_owned())], at(11))
        .await
        .expect("a job that was swept while it ran ends quietly");
    let open = ledger.buffered().await.expect("reads");
    assert_eq!(open.sessions, 1, "an emptied session is not open");
}
