//! mem0's filters: the owners that a request concerns, and a filter for each.
//!
//! Owns: mem0's fields and their meaning for an owner. Never: times and sessions (`wire` reads them), or matching a
//! row (`model`).

use std::collections::{BTreeMap, BTreeSet};

use memory::List;
use model::{Comparison, EntryKind, Field, Filter, Name, Owner, Scope, Value, Zone};
use serde_json::{Map, Value as Json, json};

use super::names::{agent_of, agents_own, everyone, no_run, refuse_app};
use crate::failure::Failure;
use crate::frame::Visit;
use crate::state::Gateway;
use crate::wire::Invalid;
use crate::wire::scope::name;

const IDS: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];
const TIMES: [&str; 3] = ["created_at", "updated_at", "timestamp"];

/// A filter as the client wrote it.
#[derive(Debug)]
enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    User(Who),
    Agent(Who),
    SomeRun,
    Rows(Filter),
}

#[derive(Debug)]
enum Who {
    Anyone,
    These(Vec<Name>),
}

/// An owner, and the filter for this owner's memories.
pub(super) type OwnerFilter = (Owner, Filter);

/// A name that stands for all owners that a filter does not name: if it passes the filter, they pass too.
const STRANGER: &str = "+";

/// The filter that every memory passes.
const EVERYTHING: Filter = Filter::All(Vec::new());

/// The owners of a request and their filters, from its `filters`.
pub(super) async fn owner_filters(
    visit: &Visit,
    filters: Option<&Map<String, Json>>,
) -> Result<Vec<OwnerFilter>, Failure> {
    let scope = &visit.caller.home;
    let reader = FilterReader {
        home: scope,
        zone: visit.gateway.zone(),
    };
    let conditions = filters.map_or(Ok(Vec::new()), |filters| reader.object(filters, "filters."))?;
    if conditions.is_empty() {
        let problem = "name whose memories: `user_id`, `agent_id` or `run_id`";
        return Err(Invalid::at("filters", problem).into());
    }
    let condition = Condition::All(conditions);
    let (mut named, mut agents) = (BTreeSet::new(), BTreeSet::new());
    condition.names(&mut named, &mut agents)?;
    for owner in &named {
        visit.caller.enter_owner(owner)?;
    }
    let stranger = Owner::user(name("user_id", STRANGER)?);
    let others = match condition.passes(&stranger, &AgentFilters::new()) {
        Some(_) => everyone(visit).await?,
        None => Vec::new(),
    };
    let mut by_owner = Vec::new();
    let others = others.iter().filter(|owner| !named.contains(owner));
    for owner in named.iter().chain(others) {
        let by_agent = if named.contains(owner) {
            filters_by_agent(&visit.gateway, scope, owner, &agents).await?
        } else {
            AgentFilters::new()
        };
        let filter = condition.passes(owner, &by_agent);
        by_owner.extend(filter.map(|filter| (owner.clone(), filter)));
    }
    Ok(by_owner)
}

/// For each agent, the filter for an owner's memories from conversations with it.
type AgentFilters = BTreeMap<Name, Filter>;

async fn filters_by_agent(
    gateway: &Gateway,
    scope: &Scope,
    owner: &Owner,
    agents: &BTreeSet<Name>,
) -> Result<AgentFilters, Failure> {
    let mut by_agent = AgentFilters::new();
    for agent in agents {
        let said = Filter::Compare(Field::SenderId, Comparison::Eq, Value::Text(agent.to_string()));
        let list = List {
            filter: Some(said.clone()),
            ..List::all(scope.clone(), owner.clone(), EntryKind::Episode)
        };
        // A fact names only its speaker, and its episode all speakers.
        let episodes = gateway.engine.list(list).await?.hits.into_iter();
        let episodes = episodes
            .map(|hit| Value::Text(hit.doc.key.id.to_string()))
            .collect();
        let filter = Filter::Any(vec![said, Filter::In(Field::ParentId, episodes)]);
        by_agent.insert(agent.clone(), filter);
    }
    Ok(by_agent)
}

impl Condition {
    /// Collects the owners and the agents that the condition names.
    fn names(&self, owners: &mut BTreeSet<Owner>, agents: &mut BTreeSet<Name>) -> Result<(), Invalid> {
        match self {
            Self::All(conditions) | Self::Any(conditions) => {
                for condition in conditions {
                    condition.names(owners, agents)?;
                }
            }
            Self::User(Who::These(users)) => owners.extend(users.iter().cloned().map(Owner::user)),
            Self::Agent(Who::These(names)) => {
                for agent in names {
                    owners.insert(agents_own(agent)?);
                    agents.insert(agent.clone());
                }
            }
            Self::User(Who::Anyone) | Self::Agent(Who::Anyone) | Self::SomeRun | Self::Rows(_) => {}
        }
        Ok(())
    }

    /// The filter for an owner's memories; none if no memory of this owner can pass. `by_agent` is empty for owners
    /// that the condition does not name.
    fn passes(&self, owner: &Owner, by_agent: &AgentFilters) -> Option<Filter> {
        let any = |filters: Vec<Filter>| (!filters.is_empty()).then_some(Filter::Any(filters));
        match self {
            Self::All(conditions) => {
                let all = conditions.iter().map(|one| one.passes(owner, by_agent));
                all.collect::<Option<_>>().map(Filter::All)
            }
            Self::Any(conditions) => {
                let some = conditions.iter().filter_map(|one| one.passes(owner, by_agent));
                any(some.collect())
            }
            Self::User(Who::These(users)) if !users.contains(&owner.id) => None,
            Self::User(_) => agent_of(owner).is_none().then_some(EVERYTHING),
            Self::Agent(Who::Anyone) => Some(EVERYTHING),
            Self::Agent(Who::These(agents)) => match agent_of(owner) {
                Some(own) => agents
                    .iter()
                    .any(|agent| agent.as_str() == own)
                    .then_some(EVERYTHING),
                None => any(agents
                    .iter()
                    .filter_map(|agent| by_agent.get(agent).cloned())
                    .collect()),
            },
            Self::SomeRun => Some(Filter::Compare(
                Field::SessionId,
                Comparison::Ne,
                Value::Text(no_run(owner)),
            )),
            Self::Rows(filter) => Some(filter.clone()),
        }
    }
}

struct FilterReader<'a> {
    home: &'a Scope,
    zone: &'a Zone,
}

impl FilterReader<'_> {
    fn object(&self, object: &Map<String, Json>, path: &str) -> Result<Vec<Condition>, Invalid> {
        let given = object.iter().filter(|(_, value)| !value.is_null());
        let read = given.map(|(key, value)| self.field(key, value, &format!("{path}{key}")));
        read.filter_map(Result::transpose).collect()
    }

    fn field(&self, key: &str, value: &Json, path: &str) -> Result<Option<Condition>, Invalid> {
        Ok(Some(match key {
            "AND" => Condition::All(self.list(value, path)?),
            "OR" => Condition::Any(self.list(value, path)?),
            "user_id" => Condition::User(who(value, path)?),
            "agent_id" => Condition::Agent(who(value, path)?),
            "app_id" => {
                refuse_app(Some(value.as_str().unwrap_or_default()), self.home)?;
                return Ok(None);
            }
            "run_id" if value == "*" => Condition::SomeRun,
            "run_id" => self.rows("session_id", value, path)?,
            _ if TIMES.contains(&key) => self.rows("timestamp", value, path)?,
            _ => {
                let fields = [IDS.as_slice(), &TIMES].concat().join(", ");
                let problem = format!("Quipu cannot filter by this: use {fields}, AND or OR");
                return Err(Invalid::at(path, problem));
            }
        }))
    }

    fn list(&self, value: &Json, path: &str) -> Result<Vec<Condition>, Invalid> {
        let nodes = value
            .as_array()
            .filter(|nodes| !nodes.is_empty())
            .ok_or_else(|| Invalid::at(path, "must be a list of at least one filter"))?;
        let read = |(at, node): (usize, &Json)| {
            let path = format!("{path}.{at}");
            let object = node.as_object().filter(|object| !object.is_empty());
            let object =
                object.ok_or_else(|| Invalid::at(&path, "must be an object with at least one field"))?;
            Ok(Condition::All(self.object(object, &format!("{path}."))?))
        };
        nodes.iter().enumerate().map(read).collect()
    }

    /// A condition on a field of the memory API, under the API's name of the field.
    fn rows(&self, field: &str, value: &Json, path: &str) -> Result<Condition, Invalid> {
        let filter = crate::wire::filter::parse(Some(&json!({field: value})), self.zone)
            .map_err(|invalid| Invalid::at(path, invalid.problem))?;
        Ok(filter.map_or(Condition::All(Vec::new()), Condition::Rows))
    }
}

/// Parses one name, several names, or `*`.
fn who(value: &Json, path: &str) -> Result<Who, Invalid> {
    let names = match value {
        Json::String(text) if text == "*" => return Ok(Who::Anyone),
        Json::Object(operators) if operators.len() == 1 => {
            operators.get("in").or_else(|| operators.get("eq"))
        }
        value => Some(value),
    };
    let texts = match names {
        Some(Json::Array(names)) => names.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let wrong = || Invalid::at(path, "must be a name, `*`, {\"eq\": name} or {\"in\": [names]}");
    let read = |text: &Json| name(path, text.as_str().ok_or_else(wrong)?);
    let names: Vec<Name> = texts.iter().map(read).collect::<Result<_, _>>()?;
    if names.is_empty() {
        return Err(wrong());
    }
    Ok(Who::These(names))
}
