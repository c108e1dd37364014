//! Accepting, cutting, and reading in between.
//!
//! Owns: the meaning of `Transcripts` except its sweeps. Never: one ledger's way of storing.

use model::{CellId, Message, MessageId, Owner, SessionKey};
use ports::{Accepted, CutWithAppend, JobFailure, JobId, JobKind, LedgerError, Sweep};

use super::Ledger;
use crate::ledger::samples::{
    at, cell, cut, full, job, name, new, replies, says, scope, session, with_client_id,
};

pub(super) fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|m| m.id.as_str()).collect()
}

/// Claims and completes every job there is.
pub(super) async fn finish_all(ledger: &impl Ledger) {
    loop {
        let claimed = ledger.claim(10, 0, at(100), at(200)).await.expect("claims");
        if claimed.is_empty() {
            return;
        }
        let ids: Vec<JobId> = claimed.into_iter().map(|job| job.id).collect();
        ledger.complete(&ids, at(100)).await.expect("completes");
    }
}

/// Every field of a message comes back unchanged; equal times keep the order of arrival.
pub async fn everything_comes_back_in_order(ledger: &impl Ledger) {
    let s = session("a", "any text: 'as\0 long' as it is short ☃");
    let late = says(&s, "ann", "m1", 50);
    let early = full(&s, "m2", 10);
    let same = says(&s, "ann", "m3", 50);
    let before_1970 = says(&s, "ann", "m4", -5);
    let outcome = ledger
        .append(&s, vec![new(late.clone()), new(early.clone())], at(1))
        .await
        .expect("accepted");
    assert_eq!(outcome.buffered, 2);
    assert!(outcome.accepted.iter().all(|a| !a.duplicate));
    let outcome = ledger
        .append(&s, vec![new(same.clone()), new(before_1970.clone())], at(2))
        .await
        .expect("accepted");
    assert_eq!(outcome.buffered, 4);
    assert_eq!(
        ledger.buffer(&s).await.expect("reads"),
        [before_1970, early, late, same]
    );
    let other = session("a", "other");
    assert!(ledger.buffer(&other).await.expect("reads").is_empty());
    let nothing = ledger.append(&other, Vec::new(), at(3)).await.expect("accepted");
    assert_eq!((nothing.accepted.len(), nothing.buffered), (0, 0));
}

/// A client id identifies one message of its session.
pub async fn a_client_id_makes_a_retry_harmless(ledger: &impl Ledger) {
    let (s, other) = (session("a", "s"), session("a", "other"));
    let first = with_client_id(says(&s, "ann", "m1", 1), "c1");
    let again = with_client_id(says(&s, "ann", "m2", 2), "c1");
    let outcome = ledger
        .append(&s, vec![first, again.clone()], at(1))
        .await
        .expect("accepted");
    let m1 = |duplicate| Accepted {
        id: MessageId::new("m1"),
        duplicate,
        forgotten: false,
        restored: false,
    };
    assert_eq!(outcome.accepted, [m1(false), m1(true)]);
    let buffer = ledger.buffer(&s).await.expect("reads");
    assert_eq!(ids(&buffer), ["m1"]);
    ledger
        .cut(cut(vec![cell("c", &buffer, &["ann"])]))
        .await
        .expect("cut");
    finish_all(ledger).await;
    let outcome = ledger.append(&s, vec![again], at(1)).await.expect("accepted");
    assert_eq!((outcome.accepted, outcome.buffered), (vec![m1(true)], 0));
    let elsewhere = with_client_id(says(&other, "ann", "m3", 2), "c1");
    let outcome = ledger
        .append(&other, vec![elsewhere], at(1))
        .await
        .expect("accepted");
    assert!(
        !outcome.accepted[0].duplicate,
        "another session's client id is another id"
    );
    assert_eq!(ids(&ledger.buffer(&other).await.expect("reads")), ["m3"]);
}

/// One message that cannot be stored fails the whole append.
pub async fn an_append_is_all_or_none(ledger: &impl Ledger) {
    let s = session("a", "s");
    let m1 = new(says(&s, "ann", "m1", 1));
    ledger.append(&s, vec![m1], at(1)).await.expect("accepted");
    let other = session("a", "other");
    let taken = vec![
        with_client_id(says(&other, "ann", "m2", 1), "c2"),
        new(says(&other, "ann", "m1", 9)),
    ];
    let refused = ledger.append(&other, taken, at(2)).await;
    assert!(
        matches!(refused, Err(LedgerError::Store(_))),
        "a taken id is refused, not dropped"
    );
    assert!(ledger.buffer(&other).await.expect("reads").is_empty());
    let retry = with_client_id(says(&other, "ann", "m2", 1), "c2");
    let outcome = ledger.append(&other, vec![retry], at(3)).await.expect("accepted");
    assert!(
        !outcome.accepted[0].duplicate,
        "nothing of the refused append stayed"
    );
    let elsewhere = session("b", "s");
    let same_id = new(says(&elsewhere, "ann", "m1", 1));
    ledger
        .append(&elsewhere, vec![same_id], at(4))
        .await
        .expect("another scope");
}

/// Cut messages leave the buffer, are in their memcell, and their jobs are queued.
pub async fn a_cut_moves_messages_once(ledger: &impl Ledger) {
    let s = session("a", "s");
    let messages = [
        says(&s, "ann", "m1", 3),
        replies(&s, "bot", "m2", 1),
        says(&s, "bob", "m3", 2),
        says(&s, "ann", "m4", 4),
    ];
    let batch = messages.iter().cloned().map(new).collect();
    ledger.append(&s, batch, at(1)).await.expect("accepted");
    let buffer = ledger.buffer(&s).await.expect("reads");
    let first = cell("c1", &buffer[..2], &["ann", "bob"]);
    let second = cell("c2", &buffer[2..3], &[]);
    ledger
        .cut(cut(vec![first.clone(), second.clone()]))
        .await
        .expect("cut");
    assert_eq!(ids(&ledger.buffer(&s).await.expect("reads")), ["m4"]);
    assert_eq!(ledger.cell(&first.id).await.expect("reads"), Some(first.clone()));
    assert_eq!(ledger.cell(&second.id).await.expect("reads"), Some(second));
    assert_eq!(ledger.cell(&CellId::new("none")).await.expect("reads"), None);
    let job = ledger
        .job(&s.scope, &JobId("job-c1".to_owned()))
        .await
        .expect("reads")
        .expect("queued with the memcell");
    assert_eq!(
        (job.kind, job.subject.as_str(), &job.session),
        (JobKind::WriteCell, "c1", &s)
    );
    finish_all(ledger).await;
    assert_eq!(
        ledger.cell(&first.id).await.expect("reads"),
        Some(first),
        "a memcell stays"
    );
}

/// A message that has left the buffer fails the whole cut.
pub async fn a_cut_is_all_or_none(ledger: &impl Ledger) {
    let (s, other) = (session("a", "s"), session("a", "other"));
    let batch = |ids: &[&str]| ids.iter().map(|id| new(says(&s, "ann", id, 1))).collect();
    ledger
        .append(&s, batch(&["m1", "m2", "m3"]), at(1))
        .await
        .expect("accepted");
    let foreign = says(&other, "ann", "m9", 1);
    ledger
        .append(&other, vec![new(foreign.clone())], at(1))
        .await
        .expect("accepted");
    let buffer = ledger.buffer(&s).await.expect("reads");
    ledger
        .cut(cut(vec![cell("c1", &buffer[..1], &["ann"])]))
        .await
        .expect("cut");
    let never_said = Message {
        session: s.clone(),
        ..foreign
    };
    let bad = [
        vec![
            cell("c2", &buffer[1..2], &["ann"]),
            cell("c3", &buffer[..1], &["ann"]),
        ],
        vec![
            cell("c2", &buffer[1..2], &["ann"]),
            cell("c3", &buffer[1..2], &["ann"]),
        ],
        vec![
            cell("c2", &buffer[1..2], &["ann"]),
            cell("c3", &[never_said], &["ann"]),
        ],
    ];
    for cells in bad {
        let refused = ledger.cut(cut(cells)).await;
        assert!(matches!(refused, Err(LedgerError::Conflict)), "{refused:?}");
        assert_eq!(ids(&ledger.buffer(&s).await.expect("reads")), ["m2", "m3"]);
        assert_eq!(ledger.cell(&CellId::new("c2")).await.expect("reads"), None);
        let job = ledger
            .job(&s.scope, &JobId("job-c2".to_owned()))
            .await
            .expect("reads");
        assert_eq!(job, None);
    }
    assert_eq!(ids(&ledger.buffer(&other).await.expect("reads")), ["m9"]);
}

async fn tail(ledger: &impl Ledger, owner: &Owner) -> String {
    let tail = ledger.tail(&scope("a"), owner).await.expect("reads");
    ids(&tail).join(" ")
}

/// One commit accepts messages and cuts the buffer with them; the memcells are in the order of the requested
/// ids.
pub async fn an_append_cuts_the_buffer_that_it_completes(ledger: &impl Ledger) {
    let s = session("a", "s");
    let (m1, m2, m3) = (
        says(&s, "ann", "m1", 1),
        says(&s, "ann", "m2", 2),
        says(&s, "ann", "m3", 3),
    );
    ledger
        .append(&s, vec![new(m1.clone())], at(1))
        .await
        .expect("accepted");
    let with = CutWithAppend {
        cut: cut(vec![
            cell("c1", std::slice::from_ref(&m1), &["ann"]),
            cell("c2", std::slice::from_ref(&m2), &["ann"]),
        ]),
        buffered_before: 1,
    };
    let outcome = ledger
        .append_and_cut(vec![new(m2), new(m3)], with, at(2))
        .await
        .expect("accepted");
    assert_eq!(
        (outcome.accepted.len(), outcome.buffered, outcome.is_cut),
        (2, 3, true)
    );
    assert_eq!(ids(&ledger.buffer(&s).await.expect("reads")), ["m3"]);
    assert_eq!(ledger.buffered().await.expect("reads").messages, 1);
    let wanted = ["c2", "gone", "c1"].map(CellId::new);
    let cells = ledger.cells(&wanted).await.expect("reads");
    let found: Vec<&str> = cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(found, ["c2", "c1"]);
    assert_eq!(ids(&cells[1].messages), ["m1"]);
    let unwritten = async |id: &str| ledger.unwritten_after(&CellId::new(id)).await.expect("reads");
    assert_eq!(unwritten("c1").await, [CellId::new("c2")]);
    assert_eq!(unwritten("c2").await, []);
    let claimed = ledger.claim(9, 9, at(100), at(200)).await.expect("claims");
    assert_eq!(claimed.len(), 2);
    ledger
        .complete(&[claimed[1].id.clone()], at(101))
        .await
        .expect("ends");
    assert_eq!(unwritten("c1").await, []);
}

/// A buffer that differs from the caller's is not cut, but the messages are accepted.
pub async fn an_append_cuts_no_other_buffer(ledger: &impl Ledger) {
    let s = session("a", "s");
    let (m1, m2) = (says(&s, "ann", "m1", 1), says(&s, "ann", "m2", 2));
    let first = with_client_id(m1.clone(), "c1");
    ledger
        .append(&s, vec![first.clone()], at(1))
        .await
        .expect("accepted");
    let of = |id: &str, messages: &[Message], buffered_before| CutWithAppend {
        cut: cut(vec![cell(id, messages, &["ann"])]),
        buffered_before,
    };
    let m3 = says(&s, "ann", "m3", 3);
    let unknown = says(&s, "ann", "m9", 9);
    for (message, with, expected) in [
        (new(m2.clone()), of("x1", &[m1.clone(), m2], 0), &["m1", "m2"][..]),
        (first, of("x2", std::slice::from_ref(&m1), 2), &["m1", "m2"]),
        (
            new(m3.clone()),
            of("x3", &[m1, m3, unknown], 2),
            &["m1", "m2", "m3"],
        ),
    ] {
        let outcome = ledger
            .append_and_cut(vec![message], with, at(2))
            .await
            .expect("accepted");
        assert!(!outcome.is_cut);
        assert_eq!(outcome.buffered, expected.len());
        assert_eq!(ids(&ledger.buffer(&s).await.expect("reads")), expected);
    }
    let cells = ledger
        .cells(&["x1", "x2", "x3"].map(CellId::new))
        .await
        .expect("reads");
    assert!(cells.is_empty());
    assert!(
        ledger
            .claim(9, 9, at(100), at(200))
            .await
            .expect("claims")
            .is_empty()
    );
}

/// Buffered messages belong to every user who speaks in their session, and to nobody elsewhere.
pub async fn a_buffer_is_the_tail_of_all_who_speak(ledger: &impl Ledger) {
    let (s, quiet, foreign) = (session("a", "s"), session("a", "quiet"), session("b", "s"));
    let batch = vec![
        new(says(&s, "ann", "m1", 1)),
        new(says(&s, "bob", "m2", 2)),
        new(replies(&s, "bot", "m3", 3)),
    ];
    ledger.append(&s, batch, at(1)).await.expect("accepted");
    for (session, user, id) in [(&quiet, "cleo", "m4"), (&foreign, "ann", "m5")] {
        let message = new(says(session, user, id, 1));
        ledger
            .append(session, vec![message], at(1))
            .await
            .expect("accepted");
    }
    let user = |user: &str| Owner::user(name(user));
    assert_eq!(tail(ledger, &user("ann")).await, "m1 m2 m3");
    assert_eq!(tail(ledger, &user("bob")).await, "m1 m2 m3");
    assert_eq!(tail(ledger, &user("cleo")).await, "m4");
    assert_eq!(tail(ledger, &user("bot")).await, "", "an agent is not a user");
    assert_eq!(
        tail(ledger, &Owner::agent(name("bot"))).await,
        "",
        "a buffer belongs to users"
    );

    let buffer = ledger.buffer(&s).await.expect("reads");
    ledger
        .cut(cut(vec![cell("c1", &buffer, &[])]))
        .await
        .expect("cut");
    assert_eq!(tail(ledger, &user("ann")).await, "", "nothing is open");
    let later = new(replies(&s, "bot", "m6", 6));
    ledger.append(&s, vec![later], at(2)).await.expect("accepted");
    assert_eq!(
        tail(ledger, &user("ann")).await,
        "m6",
        "she spoke in this session"
    );
}

/// The messages of a memcell belong to its owners' tail until the job that writes the memcell succeeds.
pub async fn a_memcell_is_a_tail_until_it_is_written(ledger: &impl Ledger) {
    let s = session("a", "s");
    let batch = vec![
        new(says(&s, "ann", "m1", 1)),
        new(says(&s, "bob", "m2", 2)),
        new(replies(&s, "bot", "m3", 3)),
    ];
    ledger.append(&s, batch, at(1)).await.expect("accepted");
    let buffer = ledger.buffer(&s).await.expect("reads");
    let cells = vec![
        cell("c1", &buffer[..1], &["ann"]),
        cell("c2", &buffer[1..2], &["ann", "bob"]),
    ];
    ledger.cut(cut(cells)).await.expect("cut");
    let (ann, bob) = (Owner::user(name("ann")), Owner::user(name("bob")));
    assert_eq!(
        tail(ledger, &ann).await,
        "m1 m2 m3",
        "cut, not yet written, and buffered"
    );
    assert_eq!(tail(ledger, &bob).await, "m2 m3");
    let claimed = ledger.claim(1, 0, at(10), at(20)).await.expect("claims");
    assert_eq!(claimed[0].subject, "c1");
    let failure = JobFailure {
        error: "no space".to_owned(),
        retry_at: None,
    };
    ledger
        .fail(&claimed[0].id, failure, at(11))
        .await
        .expect("recorded");
    finish_all(ledger).await;
    assert_eq!(
        tail(ledger, &ann).await,
        "m1 m3",
        "what failed for good is in no Markdown"
    );
    assert_eq!(tail(ledger, &bob).await, "m3");
    ledger.drop_finished(at(1000)).await.expect("drops jobs");
    assert_eq!(
        tail(ledger, &ann).await,
        "m1 m3",
        "written stays written when its job is gone"
    );
    let other = job("other", JobKind::MemoryAdd, &s);
    ledger.enqueue(vec![other], at(30)).await.expect("queued");
    finish_all(ledger).await;
    assert_eq!(
        tail(ledger, &ann).await,
        "m1 m3",
        "only the job that writes a memcell covers it"
    );
}

/// Ids have no meaning in another scope, and deleted messages are left out.
pub async fn messages_are_found_by_id_in_their_scope(ledger: &impl Ledger) {
    let (s, foreign) = (session("a", "s"), session("b", "s"));
    for (session, id, millis) in [
        (&s, "m1", 5),
        (&s, "m2", 1),
        (&foreign, "m3", 1),
        (&foreign, "m1", 1),
    ] {
        ledger
            .append(session, vec![new(says(session, "ann", id, millis))], at(1))
            .await
            .expect("accepted");
    }
    let asked: Vec<MessageId> = ["m1", "m2", "m3", "m4", "m1"]
        .into_iter()
        .map(MessageId::new)
        .collect();
    let found = ledger.messages(&s.scope, &asked).await.expect("reads");
    assert_eq!(found, [says(&s, "ann", "m2", 1), says(&s, "ann", "m1", 5)]);
    assert!(ledger.messages(&s.scope, &[]).await.expect("reads").is_empty());
    assert!(
        ledger
            .messages(&scope("c"), &asked)
            .await
            .expect("reads")
            .is_empty()
    );
}

/// A session is open while its buffer is not empty, and a retry adds nothing to it.
pub async fn buffered_messages_are_counted(ledger: &impl Ledger) {
    let sessions = [session("a", "s1"), session("b", "s2"), session("a", "s3")];
    for (s, now) in sessions.iter().zip([30, 10, 20]) {
        let id = format!("{}-1", s.session);
        let message = with_client_id(says(s, "ann", &id, 1), "c");
        ledger.append(s, vec![message], at(now)).await.expect("accepted");
    }
    let open = async || {
        let open = ledger.buffered().await.expect("reads");
        (open.sessions, open.messages)
    };
    assert_eq!(open().await, (3, 3));
    let retry = with_client_id(says(&sessions[1], "ann", "s2-9", 1), "c");
    ledger
        .append(&sessions[1], vec![retry], at(99))
        .await
        .expect("accepted");
    let more = new(says(&sessions[2], "ann", "s3-2", 1));
    ledger
        .append(&sessions[2], vec![more], at(40))
        .await
        .expect("accepted");
    assert_eq!(open().await, (3, 4));
    let buffer = ledger.buffer(&sessions[1]).await.expect("reads");
    ledger
        .cut(cut(vec![cell("c", &buffer, &["ann"])]))
        .await
        .expect("cut");
    assert_eq!(open().await, (2, 3));
    let listed = |limit| ledger.open_sessions(limit);
    let [s1, _, s3] = sessions;
    let oldest = vec![(s1, at(30))];
    assert_eq!(listed(1).await.expect("reads"), oldest, "the earliest first");
    assert_eq!(
        listed(9).await.expect("reads"),
        [oldest, vec![(s3, at(40))]].concat()
    );
}

/// A title stays until another takes its place or the session is forgotten.
pub async fn a_title_is_its_sessions(ledger: &impl Ledger) {
    let (s, other) = (session("a", "s"), session("a", "other"));
    let title = async |of: &SessionKey| ledger.title(of).await.expect("reads");
    assert_eq!(title(&s).await, None);
    for (of, called) in [(&s, "Road bike"), (&other, "Bread"), (&s, "Gravel bike")] {
        ledger
            .entitle(of, called.to_owned(), false)
            .await
            .expect("is called so");
    }
    assert_eq!(title(&s).await.as_deref(), Some("Gravel bike"));
    for of in [&s, &other] {
        let said = vec![new(says(of, "ann", of.session.as_str(), 1))];
        ledger.append(of, said, at(1)).await.expect("accepted");
    }
    assert_eq!(title(&s).await.as_deref(), Some("Gravel bike"));
    ledger.sweep(Sweep::Session(s.clone())).await.expect("swept");
    assert_eq!(title(&s).await, None);
    let alone = Sweep::Messages(other.scope.clone(), vec![MessageId::new("other")]);
    ledger.sweep(alone).await.expect("swept");
    assert_eq!(title(&other).await, None, "a session without messages is none");
}
