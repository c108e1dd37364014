//! A server that counts twice as many tokens as the meter, in a window twice as wide, makes no difference to what leaves a view.

use std::sync::Arc;

use context::budget::Budget;
use context::event::Event;
use context::plan::Trigger;
use context::policy::Policy;
use context::session::{Session, What};
use proptest::prelude::*;
use tokens::Meter;
use transcript::{Block, Call, Item, ItemId, Role};

/// What stands at one place of a view: the items that it tells of, and its weight.
type Place = (Vec<(ItemId, ItemId)>, bool, usize);

fn session(turns: &[(usize, usize)]) -> Session {
    let mut session = Session::new(Policy::quipu(), Meter::estimate());
    let mut say = |item: Item| {
        let event = session.arrival(Arc::new(item));
        session.apply(&event);
    };
    for (at, (words, results)) in turns.iter().enumerate() {
        say(Item::text(
            Role::User,
            format!("{at}: {}", "some more words ".repeat(*words)),
        ));
        let call = Block::Call(Call {
            id: format!("call{at}"),
            name: "run".to_owned(),
            arguments: "{}".to_owned(),
        });
        say(Item {
            role: Role::Assistant,
            blocks: vec![call],
            raw: None,
            edited: false,
        });
        say(Item::outcome(
            format!("call{at}"),
            "a line of a file\n".repeat(*results),
        ));
        say(Item::text(Role::Assistant, format!("Done with {at}.")));
    }
    session
}

fn fitted(mut session: Session, limit: usize, trigger: Trigger) -> Vec<Place> {
    session.fit(&Budget::view(limit), trigger, |_: &Event| {});
    let place = |what: &What, tokens| match what {
        What::Item { id, masked } => (vec![(*id, *id)], *masked, tokens),
        What::Node(node) => (node.covers.clone(), false, tokens),
    };
    let pieces = session.frontier().iter();
    pieces.map(|piece| place(&piece.what, piece.tokens)).collect()
}

proptest! {
    /// Planted: pieces weighed against what the server says of the whole.
    #[test]
    fn what_leaves_does_not_depend_on_whose_tokens_are_counted(
        turns in prop::collection::vec((1_usize..60, 1_usize..300), 8..24),
        full in 60_usize..110,
        trigger in prop_oneof![Just(Trigger::Auto), Just(Trigger::Idle), Just(Trigger::Manual)],
    ) {
        let plain = session(&turns);
        let mut doubled = plain.clone();
        doubled.record_usage(plain.tokens(), 2 * plain.tokens());
        prop_assert_eq!(doubled.view_tokens(), 2 * plain.tokens());
        // Whole thousands have shares without a remainder.
        let limit = (plain.tokens() * 100 / full).next_multiple_of(1_000);
        prop_assert_eq!(fitted(doubled, 2 * limit, trigger), fitted(plain, limit, trigger));
    }
}
