//! The entries of a conversation as a tree: the branch that its program shows, and the others.
//!
//! Owns: the order of the entries and their links. Never: their text.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ImportedTalk;

impl ImportedTalk<'_> {
    /// Sorts entries without links by time, if each has a time with a zone.
    pub(super) fn order(&mut self) {
        let is_list = self.nodes.iter().all(|node| node.parent.is_none());
        let mut said = self.nodes.iter().filter(|node| node.said.is_some());
        let is_dated = !self.has_local && said.all(|node| node.time.is_some());
        if self.row.has("attach") || is_list && is_dated {
            self.nodes.sort_by_key(|node| node.time);
        }
        if !self.row.has("attach") {
            return;
        }
        let known: HashSet<String> = self.nodes.iter().map(|node| node.id.clone()).collect();
        for at in 1..self.nodes.len() {
            let parent = self.nodes[at].parent.as_ref();
            if !parent.is_some_and(|parent| known.contains(parent)) {
                self.nodes[at].parent = Some(self.nodes[at - 1].id.clone());
            }
        }
    }

    /// The shown branch; without links between entries, all of them.
    pub(super) fn path(&self, leaf: Option<&str>) -> Vec<usize> {
        let (places, all) = (self.places(), 0..self.nodes.len());
        let parent = |at: usize| self.parent(&places, at).filter(|up| *up != at);
        if !all.clone().any(|at| parent(at).is_some()) {
            return all.collect();
        }
        let newest = |up: Option<usize>| {
            let below = all.clone().filter(|at| parent(*at) == up);
            below.max_by_key(|at| (self.nodes[*at].time, *at))
        };
        let mut next = leaf.and_then(|leaf| places.get(leaf).copied());
        if next.is_none() && self.row.has("open") {
            let mut at = newest(None);
            for _ in 0..self.nodes.len() {
                next = at.or(next);
                at = at.and_then(|at| newest(Some(at)));
            }
        }
        let mut next = next.or_else(|| all.clone().max_by_key(|at| (self.nodes[*at].time, *at)));
        let mut path = Vec::new();
        while let Some(at) = next.filter(|_| path.len() < self.nodes.len()) {
            path.push(at);
            next = parent(at);
        }
        path.reverse();
        path
    }

    fn parent(&self, places: &HashMap<&str, usize>, at: usize) -> Option<usize> {
        places.get(self.nodes[at].parent.as_deref()?).copied()
    }

    fn places(&self) -> HashMap<&str, usize> {
        let places = self.nodes.iter().enumerate();
        places.map(|(at, node)| (node.id.as_str(), at)).collect()
    }

    /// The entries of each other branch, in order.
    pub(super) fn branches(&self, path: &[usize]) -> Vec<Vec<usize>> {
        let places = self.places();
        let mut branches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let path: HashSet<usize> = path.iter().copied().collect();
        for at in (0..self.nodes.len()).filter(|at| !path.contains(at)) {
            let mut root = at;
            for _ in 0..self.nodes.len() {
                let up = self.parent(&places, root).filter(|up| !path.contains(up));
                let Some(up) = up else { break };
                root = up;
            }
            branches.entry(root).or_default().push(at);
        }
        branches.into_values().collect()
    }
}
