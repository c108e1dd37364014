//! The JSON of an edited item: its text with the changed blocks replaced and the removed blocks left out.
//!
//! Owns: matching blocks of the text with blocks of the item, and changing the text. Invariant: unchanged parts keep
//! their bytes. Never: blocks of items without a text (`canon`).

use super::Family;
use super::canon;
use super::parts::{self, Home, PlacedBlock};
use crate::json::{self, ByteSpan, Object, Value, cuts, quoted, spliced};
use crate::{Block, Item, Outcome};

/// A block of the text, and the index of the same block in the item, where it may have changed; none if it was removed.
type Fated = (PlacedBlock, Option<usize>);

/// The item's text with its present blocks; none if the text cannot be changed, so that the canonical form is needed.
pub(super) fn edited(raw: &str, item: &Item, family: Family) -> Option<String> {
    let value = json::parsed(raw).filter(Value::is_object)?;
    let parts = matched(parts::read(value, family).ok()?.parts, &item.blocks);
    // If a key occurs twice, removing its last value would restore the previous one.
    if parts.iter().any(is_gone) && value.object().repeats() {
        return None;
    }
    let order: Vec<usize> = parts.iter().filter_map(|(_, index)| *index).collect();
    let all_held = (0..item.blocks.len()).all(|index| order.contains(&index)) && order.is_sorted();
    let editing = Editing {
        raw,
        object: value.object(),
        parts,
        item,
        family,
    };
    if all_held {
        editing.in_place()
    } else {
        editing.rebuilt()
    }
}

struct Editing<'a> {
    raw: &'a str,
    object: Object<'a>,
    parts: Vec<Fated>,
    item: &'a Item,
    family: Family,
}

fn is_gone((_, index): &Fated) -> bool {
    index.is_none()
}

impl Editing<'_> {
    fn at(&self, home: Home) -> impl Iterator<Item = &Fated> {
        self.parts.iter().filter(move |(part, _)| part.home == home)
    }

    fn in_place(&self) -> Option<String> {
        let mut changes: Vec<(ByteSpan, String)> = Vec::new();
        for (part, index) in &self.parts {
            match index {
                Some(index) if self.item.blocks[*index] == part.block => {}
                Some(index) => changes.push(self.change(part, &self.item.blocks[*index])?),
                None if part.home == Home::Item => return None,
                None => {}
            }
        }
        self.take_out_of_lists(&mut changes);
        self.take_out_members(&mut changes);
        Some(spliced(self.raw, changes))
    }

    /// The change of a block's text to the block's present content.
    fn change(&self, part: &PlacedBlock, block: &Block) -> Option<(ByteSpan, String)> {
        match (&part.block, block, &part.text) {
            (Block::Text(_), Block::Text(text), Some(place)) => Some((place.clone(), quoted(text))),
            (Block::Outcome(old), Block::Outcome(new), Some(place))
                if old.call_id == new.call_id && old.failed == new.failed =>
            {
                Some((
                    place.clone(),
                    outcome_value(Value::within(self.raw, place.clone()), old, new)?,
                ))
            }
            _ if part.home == Home::Item => None,
            _ => Some((
                part.whole.clone(),
                canon::element(block, self.family, self.item.role)?,
            )),
        }
    }

    fn take_out_of_lists(&self, changes: &mut Vec<(ByteSpan, String)>) {
        for home in [Home::ContentList, Home::CallList] {
            let siblings: Vec<ByteSpan> = self.at(home).map(|(part, _)| part.whole.clone()).collect();
            let is_kept: Vec<bool> = self.at(home).map(|(_, index)| index.is_some()).collect();
            if is_kept.contains(&true) {
                changes.extend(
                    cuts(&siblings, &is_kept)
                        .into_iter()
                        .map(|cut| (cut, String::new())),
                );
            } else if home == Home::ContentList && !is_kept.is_empty() {
                let place = self.object.get("content").map(|content| content.span());
                changes.extend(place.map(|place| (place, self.no_content())));
            }
        }
        let content = self.at(Home::Content).find(|part| is_gone(part));
        changes.extend(content.map(|(part, _)| (part.whole.clone(), self.no_content())));
    }

    /// The value of an empty `content`.
    fn no_content(&self) -> String {
        let calls = self.item.calls().next().is_some();
        if calls && self.family == Family::Chat {
            "null"
        } else {
            "\"\""
        }
        .to_owned()
    }

    fn take_out_members(&self, changes: &mut Vec<(ByteSpan, String)>) {
        let spans = self.object.spans();
        let mut calls = self.at(Home::CallList).peekable();
        let none_left = calls.peek().is_some() && self.item.calls().next().is_none() && calls.all(is_gone);
        let list = self
            .object
            .get("tool_calls")
            .filter(|_| none_left)
            .map(|list| list.span());
        let members = self.at(Home::Member).filter(|part| is_gone(part));
        let gone: Vec<ByteSpan> = members.map(|(part, _)| part.whole.clone()).chain(list).collect();
        let is_kept: Vec<bool> = spans
            .iter()
            .map(|span| !gone.iter().any(|gone| gone.end == span.end))
            .collect();
        changes.extend(cuts(&spans, &is_kept).into_iter().map(|cut| (cut, String::new())));
    }

    /// The text for new or reordered blocks: its own members, with the lists of blocks rewritten. Each block of the
    /// original text keeps its bytes.
    fn rebuilt(&self) -> Option<String> {
        if self.at(Home::Item).next().is_some() {
            return None;
        }
        let (mut content, mut calls) = (Vec::new(), Vec::new());
        for (index, block) in self.item.blocks.iter().enumerate() {
            let part = self.parts.iter().find(|(_, is)| *is == Some(index));
            let part = part.map(|(part, _)| part);
            if part.is_some_and(|part| part.home == Home::Member) {
                continue;
            }
            let text = match part {
                Some(part) if part.home != Home::Content => self.element(part, block)?,
                _ => canon::element(block, self.family, self.item.role)?,
            };
            let is_call = match part {
                Some(part) => part.home == Home::CallList,
                None => self.family == Family::Chat && matches!(block, Block::Call(_)),
            };
            if is_call { &mut calls } else { &mut content }.push(text);
        }
        let mut changes = Vec::new();
        let written = if content.is_empty() {
            self.no_content()
        } else {
            format!("[{}]", content.join(","))
        };
        self.put("content", written, &mut changes);
        if !calls.is_empty() {
            self.put("tool_calls", format!("[{}]", calls.join(",")), &mut changes);
        }
        for (part, index) in self.at(Home::Member) {
            if let Some(index) = index
                && self.item.blocks[*index] != part.block
            {
                changes.push(self.change(part, &self.item.blocks[*index])?);
            }
        }
        self.take_out_members(&mut changes);
        Some(spliced(self.raw, changes))
    }

    fn element(&self, part: &PlacedBlock, block: &Block) -> Option<String> {
        if part.block == *block {
            return Some(self.raw[part.whole.clone()].to_owned());
        }
        let (place, text) = self.change(part, block)?;
        let inner = place.start - part.whole.start..place.end - part.whole.start;
        Some(spliced(&self.raw[part.whole.clone()], vec![(inner, text)]))
    }

    /// Sets the value of a member; a new member becomes the first.
    fn put(&self, key: &str, value: String, changes: &mut Vec<(ByteSpan, String)>) {
        if let Some(old) = self.object.get(key) {
            changes.push((old.span(), value));
            return;
        }
        let first = self.object.spans().first().map_or(1, |span| span.start);
        changes.push((first..first, format!("\"{key}\":{value},")));
    }
}

/// The new `content` or `output` of a result; pictures stay in place.
fn outcome_value(value: Value<'_>, old: &Outcome, new: &Outcome) -> Option<String> {
    let nested = value.object().get("content");
    if let Some(inner) = nested {
        let text = outcome_value(inner, old, new)?;
        let place = inner.span().start - value.span().start..inner.span().end - value.span().start;
        return Some(spliced(value.text(), vec![(place, text)]));
    }
    if new.images == 0 {
        return Some(quoted(&new.text));
    }
    if new.images != old.images {
        return None;
    }
    let mut elements = vec![text_element_like(value, &new.text)];
    elements.extend(
        value
            .elements()
            .into_iter()
            .filter(|element| parts::is_image(*element))
            .map(|image| image.text().to_owned()),
    );
    Some(format!("[{}]", elements.join(",")))
}

fn text_element_like(list: Value<'_>, text: &str) -> String {
    let mut kinds = list
        .elements()
        .into_iter()
        .filter_map(|element| element.object().string("type"));
    let kind = kinds.find(|kind| kind.contains("text"));
    let kind = kind.unwrap_or_else(|| "text".to_owned());
    format!("{{\"type\":{},\"text\":{}}}", quoted(&kind), quoted(text))
}

/// Matches each block of the text with a block of the item: equal blocks first, then those between two equal ones.
fn matched(parts: Vec<PlacedBlock>, blocks: &[Block]) -> Vec<Fated> {
    let mut fates = vec![None; parts.len()];
    let mut anchors = Vec::new();
    let mut from = 0;
    for (index, block) in blocks.iter().enumerate() {
        let at = (from..parts.len()).find(|&at| is_same(&parts[at].block, block));
        if let Some(at) = at {
            fates[at] = Some(index);
            anchors.push((at, index));
            from = at + 1;
        }
    }
    anchors.push((parts.len(), blocks.len()));
    let (mut part_from, mut block_from) = (0, 0);
    for (part_until, block_until) in anchors {
        let mut at = part_from;
        for (index, block) in blocks.iter().enumerate().take(block_until).skip(block_from) {
            if let Some(found) = (at..part_until).find(|&at| is_alike(&parts[at].block, block)) {
                fates[found] = Some(index);
                at = found + 1;
            }
        }
        (part_from, block_from) = (part_until + 1, block_until + 1);
    }
    parts.into_iter().zip(fates).collect()
}

fn is_same(old: &Block, new: &Block) -> bool {
    match (old, new) {
        (Block::Outcome(old), Block::Outcome(new)) => old.call_id == new.call_id,
        (Block::Call(old), Block::Call(new)) => old.id == new.id && (!old.id.is_empty() || old == new),
        _ => old == new,
    }
}

/// Whether an old block may have become the new one. Reasoning never changes, and unknown blocks are not matched.
fn is_alike(old: &Block, new: &Block) -> bool {
    matches!(
        (old, new),
        (Block::Text(_), Block::Text(_)) | (Block::Call(_), Block::Call(_))
    )
}
