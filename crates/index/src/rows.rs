//! A row as columns of the table, and back.
//!
//! Owns: the table's schema. Never: a lossy column, save that vectors are kept as bytes.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, PrimitiveBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, LargeStringArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use model::record::{self, Seen};
use model::{Doc, DocKey, Owner, OwnerKind, Scope, Vector, dot, text};
use ports::{IndexError, vector_bytes, vector_of};

/// Scope and owner in one text; it has the scalar index.
pub(crate) const OWNER: &str = "owner";
/// Owner and id in one text, so that rows of many owners are found by one list of values.
pub(crate) const KEY: &str = "key";
/// The terms of subject, summary and text, with spaces between them; it has the full-text index.
pub(crate) const TERMS: &str = "terms";
/// Everything else in one: a column costs every commit a file's header and every read a page, however little it holds.
pub(crate) const RECORD: &str = "record";
pub(crate) const VECTOR: &str = "vector";

/// The columns that a row is read from.
pub(crate) const READ: [&str; 2] = [RECORD, VECTOR];

/// Texts are stored as zstd frames, a block of rows in each. Without the second setting long rows would get a frame each, and without
/// the third a block would be 4 KiB, in which little repeats.
const COMPRESSION: [(&str, &str); 3] = [
    ("lance-encoding:compression", "zstd"),
    ("lance-encoding:structural-encoding", "miniblock"),
    ("lance-encoding:minichunk-size", "32768"),
];

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
    let item = Arc::new(Field::new_list_field(DataType::Int8, true));
    let vector = DataType::FixedSizeList(
        item,
        i32::try_from(dims).expect("a vector has fewer numbers than i32"),
    );
    let compression = COMPRESSION.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let text = |name, kind| Field::new(name, kind, false).with_metadata(HashMap::from(compression.clone()));
    Arc::new(Schema::new(vec![
        text(OWNER, DataType::Utf8),
        text(KEY, DataType::Utf8),
        text(TERMS, DataType::LargeUtf8),
        text(RECORD, DataType::LargeUtf8),
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
    let mut vectors = FixedSizeListBuilder::new(PrimitiveBuilder::<Int8Type>::new(), dims);
    for doc in docs {
        match &doc.vector {
            Some(vector) => vectors.values().append_slice(&vector_bytes(vector)),
            None => vectors.values().append_nulls(usize::try_from(dims).unwrap_or(0)),
        }
        vectors.append(doc.vector.is_some());
    }
    Arc::new(vectors.finish())
}

/// Columns as rows of that owner, added to `docs` if they are to be kept. A column or record that is not ours means that the files are damaged.
pub(crate) fn from_batch(
    batch: &RecordBatch,
    scope: &Scope,
    owner: &Owner,
    keep: impl Fn(&Doc) -> bool,
    docs: &mut Vec<Doc>,
) -> Result<(), IndexError> {
    let records = batch
        .column_by_name(RECORD)
        .and_then(|column| column.as_string_opt::<i64>());
    let records = records.ok_or_else(|| damaged("a column is missing"))?;
    let vectors = batch
        .column_by_name(VECTOR)
        .and_then(|column| column.as_fixed_size_list_opt());
    let mut seen = Seen::default();
    docs.reserve(batch.num_rows());
    for row in 0..batch.num_rows() {
        let doc = record::read(records.value(row), scope, owner, &mut seen);
        let doc = doc.ok_or_else(|| damaged("a row has an unknown value"))?;
        if keep(&doc) {
            let vectors = vectors.filter(|vectors| vectors.is_valid(row));
            let vector = vectors.and_then(|vectors| vector(vectors, row));
            docs.push(Doc { vector, ..doc });
        }
    }
    Ok(())
}

/// The cosine of each row's vector with that vector of length one, and its key, added to `cosines`.
pub(crate) fn cosines(
    batch: &RecordBatch,
    vector: &[f32],
    cosines: &mut Vec<(f32, String)>,
) -> Result<(), IndexError> {
    let keys = batch
        .column_by_name(KEY)
        .and_then(|column| column.as_string_opt::<i32>());
    let vectors = batch
        .column_by_name(VECTOR)
        .and_then(|column| column.as_fixed_size_list_opt());
    let (Some(keys), Some(vectors)) = (keys, vectors) else {
        return Err(damaged("a column is missing"));
    };
    for row in (0..batch.num_rows()).filter(|row| vectors.is_valid(*row)) {
        let of_row = self::vector(vectors, row).ok_or_else(|| damaged("a vector has an unknown form"))?;
        cosines.push((dot(vector, &of_row), keys.value(row).to_owned()));
    }
    Ok(())
}

fn damaged(reason: &str) -> IndexError {
    IndexError::Unusable {
        reason: reason.to_owned(),
    }
}

fn vector(column: &FixedSizeListArray, row: usize) -> Option<Vector> {
    let values = column.value(row);
    Some(vector_of(values.as_primitive_opt::<Int8Type>()?.values()))
}
