//! Deleting an item for good: which records of the log must be written anew.
//!
//! Owns: that nothing of the item is left in any event. Never: erasing the old records; the store does.

use transcript::ItemId;

use crate::event::Event;
use crate::ranges;

/// The events to be put at these places of the log; none where the log has no such item. A tombstone stands where the item
/// stood, so that ids keep their meaning.
pub fn rewrite(log: &[Event], id: ItemId) -> Option<Vec<(u64, Event)>> {
    let is_it = |event: &Event| matches!(event, Event::Item { id: found, .. } if *found == id);
    log.iter().any(is_it).then(|| {
        let changed = (0..)
            .zip(log)
            .filter_map(|(at, event)| Some((at, changed(event, id)?)));
        changed.collect()
    })
}

fn changed(event: &Event, id: ItemId) -> Option<Event> {
    match event {
        Event::Item { id: found, .. } if *found == id => Some(Event::Forget(id)),
        Event::Node(node) if ranges::contains(&node.covers, id) => Some(Event::Node(node.without(id))),
        Event::Masks(masks) if masks.iter().any(|mask| mask.id == id) => Some(Event::Masks(
            masks.iter().filter(|mask| mask.id != id).cloned().collect(),
        )),
        _ => None,
    }
}
