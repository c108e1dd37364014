//! A row as columns of the table, and back.
//!
//! Owns: the table's schema. Never: a lossy column, save that vectors are kept in half precision.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, ListBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int64Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray,
    UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use model::{
    Doc, DocId, DocKey, DocKind, EntryId, MessageId, Name, Origin, Owner, OwnerKind, Parent, ParentKind,
    Role, Scope, SessionId, Timestamp, Vector,
};
use ports::IndexError;

use crate::terms;

/// Scope and owner in one text; it has the scalar index.
pub(crate) const OWNER: &str = "owner";
/// Owner and id in one text, so that rows of many owners are found by one list of values.
pub(crate) const KEY: &str = "key";
/// The words of subject, summary and text; it has the full-text index.
pub(crate) const TERMS: &str = "terms";
pub(crate) const VECTOR: &str = "vector";

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The owner column's value. Names have no `/`, so two owners never share one.
pub(crate) fn owner_key(scope: &Scope, owner: &Owner) -> String {
    let kind = match owner.kind {
        OwnerKind::User => "u",
        OwnerKind::Agent => "a",
    };
    format!("{}/{}/{kind}/{}", scope.app, scope.project, owner.id)
}

/// The key column's value.
pub(crate) fn row_key(key: &DocKey) -> String {
    format!("{}/{}", owner_key(&key.scope, &key.owner), key.id)
}

/// The table's columns for vectors of that size.
pub(crate) fn schema(dims: usize) -> SchemaRef {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    let long = |name: &str| Field::new(name, DataType::LargeUtf8, false);
    let time = |name: &str, nullable| Field::new(name, DataType::Int64, nullable);
    let list = |name: &str| Field::new_list(name, Field::new_list_field(DataType::Utf8, true), false);
    let item = Arc::new(Field::new_list_field(DataType::Float16, true));
    let vector = DataType::FixedSizeList(
        item,
        i32::try_from(dims).expect("a vector has fewer numbers than i32"),
    );
    Arc::new(Schema::new(vec![
        text(OWNER, false),
        text(KEY, false),
        text("kind", false),
        text("session", true),
        text("parent_kind", true),
        text("parent", true),
        Field::new("seq", DataType::UInt32, false),
        time("time", false),
        time("valid_from", true),
        time("valid_until", true),
        list("supersedes"),
        text("origin", false),
        text("role", true),
        text("speaker", true),
        list("senders"),
        list("sources"),
        long("subject"),
        long("summary"),
        long("text"),
        text("path", false),
        long(TERMS),
        Field::new(VECTOR, vector, true),
    ]))
}

/// The columns that a row is read from.
pub(crate) fn read_columns(schema: &Schema) -> Vec<&str> {
    let names = schema.fields().iter().map(|field| field.name().as_str());
    names.filter(|name| *name != TERMS).collect()
}

/// Rows as columns.
pub(crate) fn to_batch(docs: &[Doc], schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    fn texts<'a>(docs: &'a [Doc], value: impl Fn(&'a Doc) -> &'a str) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(docs.iter().map(value)))
    }
    fn options<'a>(docs: &'a [Doc], value: impl Fn(&'a Doc) -> Option<&'a str>) -> ArrayRef {
        Arc::new(docs.iter().map(value).collect::<StringArray>())
    }
    fn long<S: AsRef<str>>(values: impl Iterator<Item = S>) -> ArrayRef {
        Arc::new(LargeStringArray::from_iter_values(values))
    }
    let times = |value: fn(&Doc) -> Option<Timestamp>| -> ArrayRef {
        Arc::new(
            docs.iter()
                .map(|doc| value(doc).map(Timestamp::millis))
                .collect::<Int64Array>(),
        )
    };
    let owners = docs.iter().map(|doc| owner_key(&doc.key.scope, &doc.key.owner));
    let keys = docs.iter().map(|doc| row_key(&doc.key));
    let words = docs
        .iter()
        .map(|doc| terms::of_row(&[&doc.subject, &doc.summary, &doc.text]));
    let columns = vec![
        Arc::new(StringArray::from_iter_values(owners)) as ArrayRef,
        Arc::new(StringArray::from_iter_values(keys)),
        texts(docs, |doc| doc.kind.as_str()),
        options(docs, |doc| doc.session.as_ref().map(SessionId::as_str)),
        options(docs, |doc| doc.parent.as_ref().map(|parent| parent.kind.as_str())),
        options(docs, |doc| doc.parent.as_ref().map(|parent| parent.id.as_str())),
        Arc::new(docs.iter().map(|doc| Some(doc.seq)).collect::<UInt32Array>()),
        times(|doc| Some(doc.time)),
        times(|doc| doc.valid_from),
        times(|doc| doc.valid_until),
        lists(docs, |doc| doc.supersedes.iter().map(EntryId::as_str)),
        texts(docs, |doc| doc.origin.as_str()),
        options(docs, |doc| doc.role.map(Role::as_str)),
        options(docs, |doc| doc.speaker.as_deref()),
        lists(docs, |doc| doc.senders.iter().map(Name::as_str)),
        lists(docs, |doc| doc.sources.iter().map(MessageId::as_str)),
        long(docs.iter().map(|doc| &doc.subject)),
        long(docs.iter().map(|doc| &doc.summary)),
        long(docs.iter().map(|doc| &doc.text)),
        texts(docs, |doc| &doc.path),
        long(words),
        vectors(docs, schema),
    ];
    RecordBatch::try_new(schema.clone(), columns)
}

fn lists<'a, I: Iterator<Item = &'a str>>(docs: &'a [Doc], values: impl Fn(&'a Doc) -> I) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for doc in docs {
        lists.append_value(values(doc).map(Some));
    }
    Arc::new(lists.finish())
}

fn vectors(docs: &[Doc], schema: &Schema) -> ArrayRef {
    let dims = match schema.fields().last().map(|field| field.data_type()) {
        Some(DataType::FixedSizeList(_, dims)) => *dims,
        _ => unreachable!("the vector is the last column"),
    };
    let mut vectors = FixedSizeListBuilder::new(PrimitiveBuilder::<Float16Type>::new(), dims);
    for doc in docs {
        match &doc.vector {
            Some(vector) => vector
                .iter()
                .for_each(|x| vectors.values().append_value(Half::from_f32(*x))),
            None => vectors.values().append_nulls(usize::try_from(dims).unwrap_or(0)),
        }
        vectors.append(doc.vector.is_some());
    }
    Arc::new(vectors.finish())
}

/// Columns as rows of that owner, added to `docs`. A column or word that is not ours means that the files are damaged.
pub(crate) fn from_batch(
    batch: &RecordBatch,
    scope: &Scope,
    owner: &Owner,
    docs: &mut Vec<Doc>,
) -> Result<(), IndexError> {
    let columns = Columns::of(batch, owner_key(scope, owner).len() + 1)
        .ok_or_else(|| damaged("a column is missing"))?;
    let mut seen = Seen::default();
    docs.reserve(batch.num_rows());
    for row in 0..batch.num_rows() {
        let doc = columns
            .row(row, scope, owner, &mut seen)
            .ok_or_else(|| damaged("a row has an unknown value"))?;
        docs.push(doc);
    }
    Ok(())
}

/// What many rows have in common is in memory once.
#[derive(Default)]
struct Seen<'a> {
    sessions: HashMap<&'a str, SessionId>,
    names: HashMap<&'a str, Name>,
    paths: HashMap<&'a str, Arc<str>>,
}

impl<'a> Seen<'a> {
    fn session(&mut self, id: &'a str) -> SessionId {
        let session = self.sessions.entry(id);
        session.or_insert_with(|| SessionId::new(id)).clone()
    }

    fn name(&mut self, name: &'a str) -> Option<Name> {
        if let Some(known) = self.names.get(name) {
            return Some(known.clone());
        }
        let new = Name::parse(name).ok()?;
        self.names.insert(name, new.clone());
        Some(new)
    }

    fn path(&mut self, path: &'a str) -> Arc<str> {
        self.paths.entry(path).or_insert_with(|| path.into()).clone()
    }
}

fn damaged(reason: &str) -> IndexError {
    IndexError::Unusable {
        reason: reason.to_owned(),
    }
}

struct Columns<'a> {
    /// Where the id begins in a key of this owner.
    id_at: usize,
    key: &'a StringArray,
    kind: &'a StringArray,
    session: &'a StringArray,
    parent_kind: &'a StringArray,
    parent: &'a StringArray,
    seq: &'a UInt32Array,
    time: &'a Int64Array,
    valid_from: &'a Int64Array,
    valid_until: &'a Int64Array,
    supersedes: &'a ListArray,
    origin: &'a StringArray,
    role: &'a StringArray,
    speaker: &'a StringArray,
    senders: &'a ListArray,
    sources: &'a ListArray,
    subject: &'a LargeStringArray,
    summary: &'a LargeStringArray,
    text: &'a LargeStringArray,
    path: &'a StringArray,
    vector: &'a FixedSizeListArray,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch, id_at: usize) -> Option<Self> {
        let text = |name| batch.column_by_name(name)?.as_string_opt::<i32>();
        let long = |name| batch.column_by_name(name)?.as_string_opt::<i64>();
        let time = |name| batch.column_by_name(name)?.as_primitive_opt::<Int64Type>();
        let list = |name| batch.column_by_name(name)?.as_list_opt::<i32>();
        Some(Self {
            id_at,
            key: text(KEY)?,
            kind: text("kind")?,
            session: text("session")?,
            parent_kind: text("parent_kind")?,
            parent: text("parent")?,
            seq: batch.column_by_name("seq")?.as_primitive_opt::<UInt32Type>()?,
            time: time("time")?,
            valid_from: time("valid_from")?,
            valid_until: time("valid_until")?,
            supersedes: list("supersedes")?,
            origin: text("origin")?,
            role: text("role")?,
            speaker: text("speaker")?,
            senders: list("senders")?,
            sources: list("sources")?,
            subject: long("subject")?,
            summary: long("summary")?,
            text: long("text")?,
            path: text("path")?,
            vector: batch.column_by_name(VECTOR)?.as_fixed_size_list_opt()?,
        })
    }

    fn row(&self, row: usize, scope: &Scope, owner: &Owner, seen: &mut Seen<'a>) -> Option<Doc> {
        let option = |column: &'a StringArray| column.is_valid(row).then(|| column.value(row));
        let time = |column: &Int64Array| {
            column
                .is_valid(row)
                .then(|| Timestamp::from_millis(column.value(row)))
        };
        let parent = match (option(self.parent_kind), option(self.parent)) {
            (Some(kind), Some(id)) => Some(Parent {
                kind: ParentKind::parse(kind)?,
                id: id.to_owned(),
            }),
            _ => None,
        };
        let role = match option(self.role) {
            Some(role) => Some(Role::parse(role)?),
            None => None,
        };
        let id: DocId = self.key.value(row).get(self.id_at..)?.into();
        let source = |source: &str| {
            // A turn's source is the message that it is.
            let is_own = *source == *id;
            Some(if is_own {
                MessageId::new(id.clone())
            } else {
                MessageId::new(source)
            })
        };
        Some(Doc {
            sources: items(self.sources, row, source)?,
            key: DocKey {
                scope: scope.clone(),
                owner: owner.clone(),
                id,
            },
            kind: DocKind::parse(self.kind.value(row))?,
            session: option(self.session).map(|id| seen.session(id)),
            parent,
            seq: self.seq.value(row),
            time: time(self.time)?,
            valid_from: time(self.valid_from),
            valid_until: time(self.valid_until),
            supersedes: items(self.supersedes, row, |id| Some(EntryId::new(id)))?,
            origin: Origin::parse(self.origin.value(row))?,
            role,
            speaker: option(self.speaker).map(str::to_owned),
            senders: items(self.senders, row, |name| seen.name(name))?,
            subject: self.subject.value(row).to_owned(),
            summary: self.summary.value(row).to_owned(),
            text: self.text.value(row).to_owned(),
            path: seen.path(self.path.value(row)),
            vector: self
                .vector
                .is_valid(row)
                .then(|| vector(self.vector, row))
                .flatten(),
        })
    }
}

fn items<'a, T>(
    column: &'a ListArray,
    row: usize,
    mut item: impl FnMut(&'a str) -> Option<T>,
) -> Option<Vec<T>> {
    let texts = column.values().as_string_opt::<i32>()?;
    let at = |row: usize| usize::try_from(column.value_offsets()[row]).ok();
    let range = at(row)?..at(row + 1)?;
    let mut items = Vec::with_capacity(range.len());
    for n in range {
        items.push(item(texts.is_valid(n).then(|| texts.value(n))?)?);
    }
    Some(items)
}

fn vector(column: &FixedSizeListArray, row: usize) -> Option<Vector> {
    let values = column.value(row);
    let halves = values.as_primitive_opt::<Float16Type>()?.values();
    Some(halves.iter().map(|half| half.to_f32()).collect())
}
