//! Generators of hostile input.

use model::{
    Content, Entry, EntryId, EntryKind, Message, MessageId, Origin, Owner, Parent, ParentKind, Role, Scope,
    SenderId, SessionId, SessionKey, Timestamp, ToolCall, Zone,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{name, place};

/// Our own syntax, and texts that editors and file systems mangle.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "\\", "\\\\", "a", "word and word", "ä", "日本語",
    "👩‍👩‍👧", "#", "##", "## ", "## Subject {#ep_1}", "### ",
    "### Alice (user, 2023-05-08T14:00:00Z) {#m_1}", "**Alice** 14:00 hi <!--m_1-->", "**", "** ", " *(", ")*",
    "**Bo** 8 May 2023, 14:00 <!--_x :20 @bo tool-->", "*Alice, 14:00*", "- x <!--af_1 2023-05-08T14:00:00Z-->",
    "## S <!--ep_1 2023-05-08T14:00:00Z-->", "<!--", "-->", "_", "*", "### Notes", "<!-- end -->", "<!-- end", "---",
    "---\nquipu: 1\n---\n", "...", "> quote", ">", "- time: 2023", "- time:", "- milk: 2 l", "* call: x",
    "- x", "{#", "{#id}", "}", "{", "(", ")", ",", ", ", ":", "\\u{", "\\u{41}", "\\u{}", "\\u{110000}",
    "u{41}", "\\u", "C:\\users\\u", "\0", "\u{1}", "\u{7f}", "\u{85}", "\u{2028}", "\u{2029}",
    "\u{feff}", "\u{202e}", "\u{a0}", "\u{3000}", "\u{b}", "\u{c}", "```", "\\##", "\n%%\n", "$$", "\n~~~\n",
    "\n<<<<<<< a\n", "\n=======\n", "\n>>>>>>> b\n", "\\\\<!-- end -->",
];

/// Texts made of these pieces, and any other text.
pub(super) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        3 => vec(select(PIECES), 0..8).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
        1 => Just(String::new()),
    ]
    .boxed()
}

fn id() -> BoxedStrategy<String> {
    prop_oneof![3 => "[a-z]{2}_[0-9]{1,4}", 1 => text()].boxed()
}

/// Any instant, offsets with seconds and negative years included.
pub(super) fn time() -> BoxedStrategy<Timestamp> {
    prop_oneof![
        4 => 1_600_000_000_000_i64..1_800_000_000_000,
        1 => any::<i64>(),
        1 => -4_000_000_000_000_i64..0,
    ]
    .prop_map(Timestamp::from_millis)
    .boxed()
}

pub(super) fn zone() -> BoxedStrategy<Zone> {
    select(vec![
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Pacific/Apia",
        "Africa/Monrovia",
    ])
    .prop_map(|name| Zone::named(name).expect("a zone"))
    .boxed()
}

fn sender() -> BoxedStrategy<SenderId> {
    "[A-Za-z0-9_.@+-]{1,9}"
        .prop_filter_map("a name", |text| SenderId::parse(&text).ok())
        .boxed()
}

fn scope() -> BoxedStrategy<Scope> {
    prop_oneof![4 => Just(Scope::default()), 1 => Just(Scope::new(name("other"), name("default")))].boxed()
}

fn turn() -> BoxedStrategy<Message> {
    let call = (text(), text(), text()).prop_map(|(id, name, arguments)| ToolCall { id, name, arguments });
    let who = (
        sender(),
        option::of(text()),
        select(vec![Role::User, Role::Assistant, Role::Tool]),
    );
    let session = (scope(), prop_oneof![Just("s1".to_owned()), text()]);
    let calls = (vec(call, 0..3), option::of(text()));
    (id(), session, who, time(), text(), calls)
        .prop_map(
            |(id, (scope, session), (sender, sender_name, role), time, text, (tool_calls, tool_call_id))| {
                Message {
                    id: MessageId::new(id),
                    session: SessionKey::new(scope, SessionId::new(session)),
                    sender,
                    sender_name,
                    role,
                    time,
                    content: Content::Text(text).into(),
                    tool_calls,
                    tool_call_id,
                }
            },
        )
        .boxed()
}

/// An entry of the file at [`super::PATH`].
pub(super) fn entry() -> BoxedStrategy<Entry> {
    let origins = [
        Origin::User,
        Origin::Assistant,
        Origin::Tool,
        Origin::Web,
        Origin::Import,
        Origin::Hand,
    ];
    let parents = vec![
        ParentKind::Memcell,
        ParentKind::Episode,
        ParentKind::Cluster,
        ParentKind::Document,
    ];
    let parent = (select(parents), text()).prop_map(|(kind, id)| Parent { kind, id });
    let times = (time(), option::of(time()), option::of(time()));
    let made = (
        select(origins.to_vec()),
        option::of(text()),
        option::of(parent),
        option::of(0..=100_u8),
    );
    let ids = (
        vec(id(), 0..3),
        vec(id(), 0..3),
        vec(sender(), 0..3),
        vec(id(), 0..3),
        option::of(id()),
    );
    let said = (text(), text(), text(), vec(turn(), 0..4));
    let session = option::of(prop_oneof![Just("s1".to_owned()), text()]);
    (id(), session, times, made, ids, said)
        .prop_map(|(id, session, times, made, ids, said)| Entry {
            id: EntryId::new(id),
            kind: EntryKind::Episode,
            scope: place().scope,
            owner: Owner::user(name("alice")),
            session: session.map(SessionId::new),
            time: times.0,
            valid_from: times.1,
            valid_until: times.2,
            supersedes: ids.0.into_iter().map(EntryId::new).collect(),
            superseded_by: ids.4.map(EntryId::new),
            origin: made.0,
            author: made.1,
            parent: made.2,
            sources: ids.1.into_iter().map(MessageId::new).collect(),
            senders: ids.2,
            labels: ids.3,
            confidence_percent: made.3,
            subject: said.0,
            summary: said.1,
            body: said.2,
            turns: said.3,
        })
        .boxed()
}

/// Entries of one file, with different ids.
pub(super) fn entries() -> BoxedStrategy<Vec<Entry>> {
    vec(entry(), 1..5)
        .prop_map(|mut entries| {
            let mut seen = std::collections::BTreeSet::new();
            entries.retain(|entry| seen.insert(entry.id.clone()));
            entries
        })
        .boxed()
}
