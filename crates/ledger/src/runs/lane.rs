//! Lanes of background runs: one strategy for one owner of one scope, with one run at a time.
//!
//! Owns: the order within a lane. Never: the due time of a run.

use model::Owner;
use rusqlite::{Connection, ToSql};

use crate::failure::LedgerResult;
use crate::row::kind_number;
use crate::statement::Statements as _;

/// Order of runs in a lane: a running one, then manual ones, then the earliest due.
const TURN: &str = "state = 'running' DESC, cause = 'manual' AND state = 'queued' DESC, due, seq";

const LANE: &str = "scope = ?1 AND strategy = ?2 AND owner_kind IS ?3 AND owner IS ?4";

/// A lane's four columns.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) scope: i64,
    pub(super) strategy: String,
    pub(super) owner_kind: Option<i64>,
    pub(super) owner: Option<String>,
}

impl Lane {
    pub(super) fn new(scope: i64, strategy: &str, owner: Option<&Owner>) -> Self {
        Self {
            scope,
            strategy: strategy.to_owned(),
            owner_kind: owner.map(|owner| kind_number(owner.kind)),
            owner: owner.map(|owner| owner.id.as_str().to_owned()),
        }
    }

    /// The lane's four parameters of a statement, and more.
    pub(super) fn with<'a>(&'a self, more: &[&'a dyn ToSql]) -> Vec<&'a dyn ToSql> {
        let lane: [&dyn ToSql; 4] = [&self.scope, &self.strategy, &self.owner_kind, &self.owner];
        lane.into_iter().chain(more.iter().copied()).collect()
    }

    pub(super) fn set_head(&self, connection: &Connection) -> LedgerResult<()> {
        connection.run(&unset_head(), &*self.with(&[]))?;
        let sql = format!("UPDATE runs SET head = 1 WHERE seq = ({})", next());
        connection.run(&sql, &*self.with(&[]))
    }
}

fn unset_head() -> String {
    format!("UPDATE runs INDEXED BY lane_heads SET head = 0 WHERE head = 1 AND {LANE}")
}

/// Selects the head of a lane.
fn next() -> String {
    format!("SELECT seq FROM runs INDEXED BY lanes WHERE {LANE} AND finished IS NULL ORDER BY {TURN} LIMIT 1")
}

/// Marks the heads of all lanes anew.
pub(crate) fn set_heads(connection: &Connection) -> LedgerResult<()> {
    connection.run("UPDATE runs SET head = 0 WHERE head = 1", [])?;
    let sql = format!(
            "UPDATE runs SET head = 1 WHERE seq IN (SELECT seq FROM (
               SELECT seq, row_number() OVER (PARTITION BY scope, strategy, owner_kind, owner ORDER BY {TURN}) AS place
               FROM runs WHERE finished IS NULL) WHERE place = 1)"
        );
    connection.run(&sql, [])
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    /// SQLite's plan for a statement, a line for each step.
    fn plan(sql: &str) -> Vec<String> {
        let mut connection = Connection::open_in_memory().expect("opens");
        crate::writer::prepare(&connection).expect("settings");
        crate::schema::migrate(&mut connection).expect("migrates");
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .expect("a statement");
        let lines = statement
            .query_map([1, 1, 1, 1], |row| row.get(3))
            .expect("plans");
        lines.map(|line| line.expect("a line")).collect()
    }

    #[test]
    fn the_head_of_a_lane_is_found_without_scanning_waiting_runs() {
        let lane = "scope=? AND strategy=? AND owner_kind=? AND owner=?";
        let look = |index| [format!("SEARCH runs USING {index} ({lane})")];
        // No sorting: the first entry of the index is the next run.
        assert_eq!(plan(&super::next()), look("INDEX lanes"));
        assert_eq!(plan(&super::unset_head()), look("INDEX lane_heads"));
    }
}
