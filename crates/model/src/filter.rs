//! The filter language as a tree, and its result for one row.
//!
//! Owns: the meaning of a filter. Never: its JSON form (`wire`) or its translation for a store.

use crate::{Doc, Parent, SenderId, SessionId, Timestamp};

/// Maximum depth of a nested filter.
pub const FILTER_DEPTH_MAX: usize = 16;

/// A field that a filter may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    SessionId,
    ParentType,
    ParentId,
    Timestamp,
    SenderId,
}

/// The fields of one row that a filter may name.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    pub session: Option<&'a SessionId>,
    pub parent: Option<&'a Parent>,
    pub time: Timestamp,
    pub senders: &'a [SenderId],
}

impl<'a> From<&'a Doc> for Fields<'a> {
    fn from(doc: &'a Doc) -> Self {
        Self {
            session: doc.session.as_ref(),
            parent: doc.parent.as_ref(),
            time: doc.time,
            senders: &doc.senders,
        }
    }
}

/// How a field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
}

/// The value to compare a field with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Time(Timestamp),
}

/// A filter: a row passes or it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Compare(Field, Comparison, Value),
    In(Field, Vec<Value>),
}

impl Filter {
    /// Whether a row passes. A row without the field passes only `Ne`.
    pub fn matches(&self, row: Fields<'_>) -> bool {
        match self {
            Self::All(filters) => filters.iter().all(|f| f.matches(row)),
            Self::Any(filters) => filters.iter().any(|f| f.matches(row)),
            Self::Compare(field, comparison, value) => compare(row, *field, *comparison, value),
            Self::In(field, values) => values
                .iter()
                .any(|value| compare(row, *field, Comparison::Eq, value)),
        }
    }

    /// The session that a top-level condition requires, if any.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Compare(Field::SessionId, Comparison::Eq, Value::Text(session)) => Some(session),
            Self::All(filters) => filters.iter().find_map(|filter| match filter {
                Self::Compare(..) => filter.session(),
                _ => None,
            }),
            _ => None,
        }
    }
}

fn compare(row: Fields<'_>, field: Field, comparison: Comparison, value: &Value) -> bool {
    match (field, value) {
        (Field::Timestamp, Value::Time(time)) => ordered(comparison, &row.time, time),
        (Field::SessionId, Value::Text(text)) => {
            text_is(comparison, row.session.map(SessionId::as_str), text)
        }
        (Field::ParentType, Value::Text(text)) => {
            text_is(comparison, row.parent.map(|parent| parent.kind.as_str()), text)
        }
        (Field::ParentId, Value::Text(text)) => {
            text_is(comparison, row.parent.map(|parent| parent.id.as_str()), text)
        }
        (Field::SenderId, Value::Text(text)) => {
            let member = row.senders.iter().any(|sender| sender.as_str() == text);
            match comparison {
                Comparison::Eq => member,
                Comparison::Ne => !member,
                _ => false,
            }
        }
        _ => false,
    }
}

fn text_is(comparison: Comparison, have: Option<&str>, want: &str) -> bool {
    match have {
        Some(have) => ordered(comparison, have, want),
        None => comparison == Comparison::Ne,
    }
}

fn ordered<T: Ord + ?Sized>(comparison: Comparison, have: &T, want: &T) -> bool {
    match comparison {
        Comparison::Eq => have == want,
        Comparison::Ne => have != want,
        Comparison::Gt => have > want,
        Comparison::Gte => have >= want,
        Comparison::Lt => have < want,
        Comparison::Lte => have <= want,
    }
}
