//! A row as columns of the table, and back.
//!
//! Owns: the table's schema. Never: a lossy column, save that vectors are kept in half precision.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, LargeStringArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use model::{Doc, DocKey, Name, Owner, OwnerKind, Scope, SessionId, Vector};
use ports::IndexError;

use crate::record;

/// Scope and owner in one text; it has the scalar index.
pub(crate) const OWNER: &str = "owner";
/// Owner and id in one text, so that rows of many owners are found by one list of values.
pub(crate) const KEY: &str = "key";
/// The terms of subject, summary and text, with spaces between them; it has the full-text index.
pub(crate) const TERMS: &str = "terms";
/// Everything else in one: a column costs every commit a file's header and every read a page, however little it holds.
const RECORD: &str = "record";
pub(crate) const VECTOR: &str = "vector";

/// The columns that a row is read from.
pub(crate) const READ: [&str; 2] = [RECORD, VECTOR];

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The owner column's value. Names have no `/`, so two owners never share one.
pub(crate) fn owner_key(scope: &Scope, owner: &Owner) -> String {
    let kind = match owner.kind {
        OwnerKind::User => "u",
        OwnerKind::Agent => "a",
        OwnerKind::Library => "l",
    };
    format!("{}/{}/{kind}/{}", scope.app, scope.project, owner.id)
}

/// The key column's value.
pub(crate) fn row_key(key: &DocKey) -> String {
    format!("{}/{}", owner_key(&key.scope, &key.owner), key.id)
}

/// The table's columns for vectors of that size.
pub(crate) fn schema(dims: usize) -> SchemaRef {
    let item = Arc::new(Field::new_list_field(DataType::Float16, true));
    let vector = DataType::FixedSizeList(
        item,
        i32::try_from(dims).expect("a vector has fewer numbers than i32"),
    );
    Arc::new(Schema::new(vec![
        Field::new(OWNER, DataType::Utf8, false),
        Field::new(KEY, DataType::Utf8, false),
        Field::new(TERMS, DataType::LargeUtf8, false),
        Field::new(RECORD, DataType::LargeUtf8, false),
        Field::new(VECTOR, vector, true),
    ]))
}

/// Rows as columns.
pub(crate) fn to_batch(docs: &[Doc], schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let owners = docs.iter().map(|doc| owner_key(&doc.key.scope, &doc.key.owner));
    let keys = docs.iter().map(|doc| row_key(&doc.key));
    let terms = docs.iter().map(|doc| {
        let fields = [&doc.subject, &doc.summary, &doc.text];
        fields.map(|field| text::terms(field).join(" ")).join(" ")
    });
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(owners)),
        Arc::new(StringArray::from_iter_values(keys)),
        Arc::new(LargeStringArray::from_iter_values(terms)),
        Arc::new(LargeStringArray::from_iter_values(docs.iter().map(record::write))),
        vectors(docs, schema),
    ];
    RecordBatch::try_new(schema.clone(), columns)
}

fn vectors(docs: &[Doc], schema: &Schema) -> ArrayRef {
    let dims = match schema.fields().last().map(|field| field.data_type()) {
        Some(DataType::FixedSizeList(_, dims)) => *dims,
        _ => unreachable!("the vector is the last column"),
    };
    let mut vectors = FixedSizeListBuilder::new(PrimitiveBuilder::<Float16Type>::new(), dims);
    for doc in docs {
        match &doc.vector {
            Some(vector) => {
                let halves: Vec<Half> = vector.iter().copied().map(Half::from_f32).collect();
                vectors.values().append_slice(&halves);
            }
            None => vectors.values().append_nulls(usize::try_from(dims).unwrap_or(0)),
        }
        vectors.append(doc.vector.is_some());
    }
    Arc::new(vectors.finish())
}

/// Columns as rows of that owner, added to `docs`. A column or record that is not ours means that the files are damaged.
pub(crate) fn from_batch(
    batch: &RecordBatch,
    scope: &Scope,
    owner: &Owner,
    docs: &mut Vec<Doc>,
) -> Result<(), IndexError> {
    let damaged = |reason: &str| IndexError::Unusable {
        reason: reason.to_owned(),
    };
    let records = batch
        .column_by_name(RECORD)
        .and_then(|column| column.as_string_opt::<i64>());
    let vectors = batch
        .column_by_name(VECTOR)
        .and_then(|column| column.as_fixed_size_list_opt());
    let (Some(records), Some(vectors)) = (records, vectors) else {
        return Err(damaged("a column is missing"));
    };
    let mut seen = Seen::default();
    docs.reserve(batch.num_rows());
    for row in 0..batch.num_rows() {
        let doc = record::read(records.value(row), scope, owner, &mut seen);
        docs.push(Doc {
            vector: vectors.is_valid(row).then(|| vector(vectors, row)).flatten(),
            ..doc.ok_or_else(|| damaged("a row has an unknown value"))?
        });
    }
    Ok(())
}

/// Values that many rows share, kept in memory once.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    sessions: HashMap<&'a str, SessionId>,
    names: HashMap<&'a str, Name>,
    paths: HashMap<&'a str, Arc<str>>,
}

impl<'a> Seen<'a> {
    pub(crate) fn session(&mut self, id: &'a str) -> SessionId {
        let session = self.sessions.entry(id);
        session.or_insert_with(|| SessionId::new(id)).clone()
    }

    pub(crate) fn name(&mut self, name: &'a str) -> Option<Name> {
        if let Some(known) = self.names.get(name) {
            return Some(known.clone());
        }
        let new = Name::parse(name).ok()?;
        self.names.insert(name, new.clone());
        Some(new)
    }

    pub(crate) fn path(&mut self, path: &'a str) -> Arc<str> {
        self.paths.entry(path).or_insert_with(|| path.into()).clone()
    }
}

fn vector(column: &FixedSizeListArray, row: usize) -> Option<Vector> {
    let values = column.value(row);
    let halves = values.as_primitive_opt::<Float16Type>()?.values();
    Some(halves.iter().map(|half| half.to_f32()).collect())
}
