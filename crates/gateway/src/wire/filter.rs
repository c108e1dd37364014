//! The filter language: a JSON object to a [`model::Filter`].
//!
//! Owns: its fields, operators, bounds and wording. Never: matching (`model` does).

use model::filter::FILTER_DEPTH_MAX;
use model::{Comparison, Field, Filter, Timestamp, Value, Zone};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use crate::wire::Invalid;

/// Maximum number of values in an `in`.
const IN_VALUES_MAX: usize = 1_000;

/// The filter language for OpenAPI: `{"AND": [...]}`, `{"OR": [...]}`, or fields with a value or operators.
#[derive(Debug, ToSchema)]
pub struct FilterNode {
    /// All of these; not empty.
    #[schema(rename = "AND", no_recursion, required = false)]
    pub all: Option<Vec<FilterNode>>,
    /// Any of these; not empty.
    #[schema(rename = "OR", no_recursion, required = false)]
    pub any: Option<Vec<FilterNode>>,
    /// A value, or an object of `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`. So all fields.
    #[schema(value_type = Option<serde_json::Value>, required = false)]
    pub session_id: Option<Json>,
    /// `memcell` or `episode`.
    #[schema(value_type = Option<serde_json::Value>, required = false)]
    pub parent_type: Option<Json>,
    #[schema(value_type = Option<serde_json::Value>, required = false)]
    pub parent_id: Option<Json>,
    /// Epoch milliseconds or ISO 8601.
    #[schema(value_type = Option<serde_json::Value>, required = false)]
    pub timestamp: Option<Json>,
    /// Any sender of the memory; only `eq` and `in`.
    #[schema(value_type = Option<serde_json::Value>, required = false)]
    pub sender_id: Option<Json>,
}

const FIELDS: [(&str, Field); 5] = [
    ("session_id", Field::SessionId),
    ("parent_type", Field::ParentType),
    ("parent_id", Field::ParentId),
    ("timestamp", Field::Timestamp),
    ("sender_id", Field::SenderId),
];
const RESERVED: [&str; 6] = [
    "owner_id", "owner_type", "app_id", "project_id", "user_id", "agent_id",
];

/// Parses a filter; times without an offset are in `zone`. An empty object filters nothing.
pub fn parse(node: Option<&Json>, zone: &Zone) -> Result<Option<Filter>, Invalid> {
    let Some(node) = node else { return Ok(None) };
    let Some(object) = node.as_object() else {
        return Err(Invalid::at("filters", "must be an object"));
    };
    if object.is_empty() {
        return Ok(None);
    }
    Reader { zone }.node(object, "filters", 1).map(Some)
}

struct Reader<'a> {
    zone: &'a Zone,
}

impl Reader<'_> {
    fn node(&self, object: &Map<String, Json>, path: &str, depth: usize) -> Result<Filter, Invalid> {
        if depth > FILTER_DEPTH_MAX {
            return Err(Invalid::at(
                path,
                format!("filters nest at most {FILTER_DEPTH_MAX} deep"),
            ));
        }
        let mut conditions = Vec::new();
        for (key, value) in object {
            let path = format!("{path}.{key}");
            match key.as_str() {
                "AND" | "OR" if value.is_null() => {}
                "AND" => conditions.push(Filter::All(self.list(value, &path, depth)?)),
                "OR" => conditions.push(Filter::Any(self.list(value, &path, depth)?)),
                _ => self.field(key, value, &path, &mut conditions)?,
            }
        }
        match conditions.len() {
            0 => Err(Invalid::at(path, "must have at least one condition")),
            1 => Ok(conditions.remove(0)),
            _ => Ok(Filter::All(conditions)),
        }
    }

    fn list(&self, value: &Json, path: &str, depth: usize) -> Result<Vec<Filter>, Invalid> {
        let nodes = value
            .as_array()
            .filter(|nodes| !nodes.is_empty())
            .ok_or_else(|| Invalid::at(path, "must be a list of at least one filter"))?;
        let read = |(at, node): (usize, &Json)| {
            let path = format!("{path}.{at}");
            let object = node
                .as_object()
                .ok_or_else(|| Invalid::at(&path, "must be an object"))?;
            self.node(object, &path, depth + 1)
        };
        nodes.iter().enumerate().map(read).collect()
    }

    fn field(&self, key: &str, value: &Json, path: &str, out: &mut Vec<Filter>) -> Result<(), Invalid> {
        if RESERVED.contains(&key) {
            return Err(Invalid::at(
                path,
                format!("`{key}` is reserved: it is set by the request itself"),
            ));
        }
        let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == key) else {
            let known: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
            return Err(Invalid::at(
                path,
                format!("unsupported field: use {}, `AND` or `OR`", known.join(", ")),
            ));
        };
        let Some(operators) = value.as_object() else {
            out.push(self.operator(*field, "eq", value, path)?);
            return Ok(());
        };
        if operators.is_empty() {
            return Err(Invalid::at(path, "must have an operator, as in {\"eq\": …}"));
        }
        for (operator, value) in operators {
            out.push(self.operator(*field, operator, value, &format!("{path}.{operator}"))?);
        }
        Ok(())
    }

    fn operator(&self, field: Field, operator: &str, value: &Json, path: &str) -> Result<Filter, Invalid> {
        let comparison = match operator {
            "in" => return self.any_of(field, value, path),
            "eq" => Comparison::Eq,
            "ne" => Comparison::Ne,
            "gt" => Comparison::Gt,
            "gte" => Comparison::Gte,
            "lt" => Comparison::Lt,
            "lte" => Comparison::Lte,
            _ => {
                let problem = "unsupported operator: use eq, ne, gt, gte, lt, lte or in";
                return Err(Invalid::at(path, problem));
            }
        };
        if field == Field::SenderId && comparison != Comparison::Eq {
            let problem = "unsupported operator: `sender_id` knows eq and in only";
            return Err(Invalid::at(path, problem));
        }
        let value = self.scalar(field, value, path)?;
        Ok(Filter::Compare(field, comparison, value))
    }

    fn any_of(&self, field: Field, value: &Json, path: &str) -> Result<Filter, Invalid> {
        let values = value
            .as_array()
            .filter(|values| (1..=IN_VALUES_MAX).contains(&values.len()))
            .ok_or_else(|| Invalid::at(path, format!("must be a list of 1 to {IN_VALUES_MAX} values")))?;
        let read = |(at, value)| self.scalar(field, value, &format!("{path}.{at}"));
        let values = values.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Filter::In(field, values))
    }

    fn scalar(&self, field: Field, value: &Json, path: &str) -> Result<Value, Invalid> {
        match (field, value) {
            (Field::Timestamp, Json::Number(number)) => number
                .as_i64()
                .map(|millis| Value::Time(Timestamp::from_millis(millis)))
                .ok_or_else(|| Invalid::at(path, "must be whole epoch milliseconds")),
            (Field::Timestamp, Json::String(text)) => self
                .zone
                .parse(text)
                .map(Value::Time)
                .map_err(|error| Invalid::at(path, error)),
            (Field::Timestamp, _) => Err(Invalid::at(path, "must be epoch milliseconds or ISO 8601")),
            (_, Json::String(text)) => Ok(Value::Text(text.clone())),
            _ => Err(Invalid::at(path, "must be a string")),
        }
    }
}
