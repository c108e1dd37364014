//! Finds the known conversation that a request continues, by a chain of hashes over the client's messages.
//!
//! Owns: the chain, the index of known chains, the relation of a message list to one of them. Never: messages on disk.
//!
//! Leading system messages are not part of the chain: a client can change them within a conversation. Reasoning in a
//! message of its own is not part of it either: some clients send it back and some do not. A client that does not name
//! its conversation continues one only if its list contains a reply of ours: two conversations with the same first
//! question are two.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use transcript::Role;

use crate::canon::{self, Meaning};
use crate::digest::{Digest, Feed};

/// The caller's id of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationId(pub String);

/// Border between conversations. Lists of two scopes never match, even equal ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchScope<'a> {
    pub tenant: Cow<'a, str>,
    pub owner: &'a str,
    /// The client's own name of the conversation, if it gives one.
    pub session: Option<&'a str>,
}

impl MatchScope<'_> {
    fn seed(&self) -> Digest {
        let mut feed = Feed::new("scope");
        feed.field(b't', self.tenant.as_bytes());
        feed.field(b'o', self.owner.as_bytes());
        if let Some(session) = self.session {
            feed.field(b's', session.as_bytes());
        }
        feed.digest()
    }
}

/// One message in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub meaning: Meaning,
    /// Hash of this message and all before it.
    pub hash: Digest,
    /// Hash of this message and the one before it; none for the first.
    pub pair: Option<Digest>,
    /// Number of messages of the list up to here, reasoning included.
    pub end: usize,
}

/// The messages of a conversation after its leading system messages, hashed.
#[derive(Debug, Clone)]
pub struct Chain {
    seed: Digest,
    named: bool,
    links: Vec<Link>,
    messages: usize,
    /// Reasoning before the next message.
    thought: Option<Digest>,
}

impl Chain {
    /// The chain of these messages, each its JSON text, without the leading system messages.
    pub fn of(scope: &MatchScope<'_>, messages: &[&str]) -> Self {
        Self::of_meanings(scope, messages.iter().map(|message| canon::read(message)))
    }

    /// The chain of messages that are already read.
    pub fn of_meanings(scope: &MatchScope<'_>, meanings: impl IntoIterator<Item = Meaning>) -> Self {
        let mut chain = Self {
            seed: scope.seed(),
            named: scope.session.is_some(),
            links: Vec::new(),
            messages: 0,
            thought: None,
        };
        meanings.into_iter().for_each(|meaning| chain.push(meaning));
        chain
    }

    /// Adds a message, or a reply as it was streamed.
    pub fn push(&mut self, mut meaning: Meaning) {
        self.messages += 1;
        if meaning.thinks {
            self.thought = meaning.hidden;
            return;
        }
        meaning.hidden = meaning.hidden.or(self.thought.take());
        let step = |purpose: &str, before: &Digest| {
            let mut feed = Feed::new(purpose);
            feed.field(b's', &self.seed.0);
            feed.field(b'h', &before.0);
            feed.field(b'm', &meaning.digest.0);
            feed.digest()
        };
        let last = self.links.last();
        let hash = step("chain", last.map_or(&self.seed, |link| &link.hash));
        let pair = last.map(|link| step("pair", &link.meaning.digest));
        self.links.push(Link {
            meaning,
            hash,
            pair,
            end: self.messages,
        });
    }

    /// Number of messages of the list that the first `links` cover, reasoning included.
    pub fn end(&self, links: usize) -> usize {
        let last = links.checked_sub(1).and_then(|last| self.links.get(last));
        last.map_or(0, |link| link.end)
    }

    /// The messages in order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
}

/// A message of a known conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MessagePlace {
    conversation: ConversationId,
    /// Counted from 0.
    index: usize,
}

/// Relation of a client's list to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// No known conversation.
    New,
    /// All known messages, and more.
    Continued,
    /// The same question again: all known messages except the last reply.
    Regenerated,
    /// All known messages, with another text in place of the last reply.
    EchoRewritten { at: usize },
    /// Another message from this place on.
    Branched { at: usize },
    /// Messages are missing at the front, at the end, or both.
    Truncated { front: usize, back: usize },
}

/// The conversation that a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// None for a new one.
    pub conversation: Option<ConversationId>,
    /// Number of messages of the client's list that belong to the conversation.
    pub shared: usize,
    pub kind: MatchKind,
}

/// Whether to prefer a conversation among others with the same beginning.
type Likes<'a> = &'a dyn Fn(&ConversationId) -> bool;

/// Finds the conversation with the longest common beginning; failing that, a conversation that ends like the list of a
/// client that drops old messages. Among several with the same beginning, a preferred one comes before the latest.
pub fn match_chain(known: &ConversationIndex, chain: &Chain, likes: Likes<'_>) -> Matched {
    let client: Vec<Meaning> = chain.links.iter().map(|link| link.meaning).collect();
    if let Some((conversation, meanings)) = from_start(known, chain, &client, likes) {
        let (shared, kind) = relate(&meanings, &client, 0);
        if chain.named || replied(&client[..shared]) {
            return Matched {
                conversation: Some(conversation),
                shared,
                kind,
            };
        }
    }
    from_middle(known, chain, &client, likes).unwrap_or(Matched {
        conversation: None,
        shared: 0,
        kind: MatchKind::New,
    })
}

/// The conversation with the longest common beginning. Among several with the same beginning, one whose hidden parts
/// equal the client's. None if the client sends no hidden part and those of the conversations differ: the bytes of one
/// must not be sent for another.
fn from_start(
    known: &ConversationIndex,
    chain: &Chain,
    client: &[Meaning],
    likes: Likes<'_>,
) -> Option<(ConversationId, Vec<Meaning>)> {
    let (count, fits) = (1..=client.len()).rev().find_map(|count| {
        let places = known.by_hash(&chain.links[count - 1].hash, likes).into_iter();
        let pair = |place: MessagePlace| (known.meanings(&place.conversation), place.conversation);
        let fits: Vec<_> = places
            .filter(|place| place.index + 1 == count)
            .map(pair)
            .filter(|(meanings, _)| relate(meanings, client, 0).0 >= count)
            .collect();
        (!fits.is_empty()).then_some((count, fits))
    })?;
    let alike = |one: &[Meaning], other: &[Meaning]| {
        let mut pairs = one.iter().zip(other).take(count);
        pairs.all(|(one, other)| one.hidden == other.hidden)
    };
    let exact = fits.iter().rposition(|(meanings, _)| alike(meanings, client));
    let only = || {
        fits.iter()
            .all(|(meanings, _)| alike(meanings, &fits[0].0))
            .then(|| fits.len() - 1)
    };
    let at = exact.or_else(only)?;
    let (meanings, conversation) = fits.into_iter().nth(at)?;
    Some((conversation, meanings))
}

/// Below this many equal messages, the end of one conversation may be the beginning of another.
const ALIGNED_MIN: usize = 3;

/// New messages are at the end of the list; only this many messages from the end are looked up.
const PAIRS_TRIED_MAX: usize = 64;

fn from_middle(
    known: &ConversationIndex,
    chain: &Chain,
    client: &[Meaning],
    likes: Likes<'_>,
) -> Option<Matched> {
    let mut refused = BTreeSet::new();
    for (index, link) in chain.links.iter().enumerate().rev().take(PAIRS_TRIED_MAX) {
        let Some(place) = link.pair.and_then(|pair| known.by_pair(&pair, likes)) else {
            continue;
        };
        let Some(front) = place.index.checked_sub(index).filter(|front| *front > 0) else {
            continue;
        };
        if !refused.insert((place.conversation.clone(), front)) {
            continue;
        }
        let (shared, kind) = relate(&known.meanings(&place.conversation), client, front);
        let aligned_min = if chain.named { 2 } else { ALIGNED_MIN };
        if shared >= aligned_min && replied(&client[..shared]) {
            return Some(Matched {
                conversation: Some(place.conversation),
                shared,
                kind,
            });
        }
    }
    None
}

fn replied(messages: &[Meaning]) -> bool {
    messages
        .iter()
        .any(|message| message.role == Some(Role::Assistant))
}

/// Number of the client's messages that equal those of `known` from `front` on, and the resulting relation.
pub fn relate(known: &[Meaning], client: &[Meaning], front: usize) -> (usize, MatchKind) {
    let known = known.get(front..).unwrap_or_default();
    let shared = known
        .iter()
        .zip(client)
        .take_while(|(known, client)| client.echoes(known))
        .count();
    let (left, new) = (&known[shared..], &client[shared..]);
    let only_reply = left.iter().all(|message| message.role == Some(Role::Assistant));
    let kind = match (left.is_empty(), new.first()) {
        _ if front > 0 => MatchKind::Truncated {
            front,
            back: left.len(),
        },
        (true, Some(_)) => MatchKind::Continued,
        (_, None) if only_reply => MatchKind::Regenerated,
        (_, None) => MatchKind::Truncated {
            front,
            back: left.len(),
        },
        (false, Some(next)) if only_reply && next.role == Some(Role::Assistant) => {
            MatchKind::EchoRewritten { at: shared }
        }
        (false, Some(_)) => MatchKind::Branched { at: shared },
    };
    (shared, kind)
}

/// An index in memory.
#[derive(Debug, Clone, Default)]
pub struct ConversationIndex {
    hashes: PlacesByDigest,
    pairs: PlacesByDigest,
    known: BTreeMap<ConversationId, KnownChain>,
}

/// The places of each digest: at most one in a conversation; the last learnt conversation is last.
type PlacesByDigest = BTreeMap<Digest, Vec<MessagePlace>>;

/// State of one conversation.
#[derive(Debug, Clone, Default)]
struct KnownChain {
    links: Vec<Link>,
    /// All hashes that ever referred to it, including those of abandoned branches.
    hashes: BTreeSet<Digest>,
    pairs: BTreeSet<Digest>,
}

impl ConversationIndex {
    /// Sets the chain of a conversation: the client's messages as they were sent, and the reply.
    pub fn learn(&mut self, conversation: &ConversationId, chain: &Chain) {
        let told = self.known.entry(conversation.clone()).or_default();
        let kept = told
            .links
            .iter()
            .zip(chain.links())
            .take_while(|(one, other)| one.hash == other.hash)
            .count();
        for (index, link) in chain.links().iter().enumerate().skip(kept) {
            let place = MessagePlace {
                conversation: conversation.clone(),
                index,
            };
            lead(&mut self.hashes, &mut told.hashes, link.hash, place.clone());
            if let Some(pair) = link.pair {
                lead(&mut self.pairs, &mut told.pairs, pair, place);
            }
        }
        told.links.truncate(kept);
        told.links.extend_from_slice(&chain.links()[kept..]);
    }

    /// Drops a conversation. Hashes that it shares with another refer to the other again.
    pub fn forget(&mut self, conversation: &ConversationId) {
        let told = self.known.remove(conversation).unwrap_or_default();
        for (places, digests) in [(&mut self.hashes, told.hashes), (&mut self.pairs, told.pairs)] {
            for digest in digests {
                if let Entry::Occupied(mut held) = places.entry(digest) {
                    held.get_mut().retain(|place| place.conversation != *conversation);
                    if held.get().is_empty() {
                        held.remove();
                    }
                }
            }
        }
    }
}

/// Makes a digest refer to a place, and no longer to another one in the same conversation.
fn lead(places: &mut PlacesByDigest, own: &mut BTreeSet<Digest>, digest: Digest, place: MessagePlace) {
    let held = places.entry(digest).or_default();
    if !own.insert(digest) {
        held.retain(|other| other.conversation != place.conversation);
    }
    held.push(place);
}

impl ConversationIndex {
    /// The messages with this [`Link::hash`], the preferred one last.
    fn by_hash(&self, hash: &Digest, likes: Likes<'_>) -> Vec<MessagePlace> {
        let mut places = self.hashes.get(hash).cloned().unwrap_or_default();
        places.sort_by_key(|place| likes(&place.conversation));
        places
    }

    /// The preferred message among those with this [`Link::pair`].
    fn by_pair(&self, pair: &Digest, likes: Likes<'_>) -> Option<MessagePlace> {
        let places = self.pairs.get(pair)?;
        let liked = places.iter().rfind(|place| likes(&place.conversation));
        liked.or(places.last()).cloned()
    }

    /// Every message of a conversation, replies included.
    fn meanings(&self, conversation: &ConversationId) -> Vec<Meaning> {
        let links = self.known.get(conversation).map(|known| known.links.iter());
        links.into_iter().flatten().map(|link| link.meaning).collect()
    }
}
