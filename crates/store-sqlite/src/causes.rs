//! The way from an event to the runs that it caused.

use headwater_model::{
    event::EventRef,
    id::InvocationId,
    page::{Page, PageRequest, Position},
};
use headwater_store::{ListedRun, StoreError, Viewer};
use rusqlite::{Connection, params};

use crate::{
    connection::failed,
    row::{get, parsed, signed, to_json},
    run_places, run_records,
};

/// The runs that event `?1` to `?3` caused and that the viewer `?4`, a member of `?5`, may see.
const CAUSED: &str = "
    SELECT found.id AS id, is_open FROM (
        SELECT id, runnable_id, TRUE AS is_open FROM invocations INDEXED BY invocations_by_cause
        WHERE cause_emitter_id = ?1 AND cause_ms = ?2 AND cause_sequence = ?3
        UNION ALL
        SELECT id, runnable_id, FALSE FROM runs INDEXED BY runs_by_cause
        WHERE cause_emitter_id = ?1 AND cause_ms = ?2 AND cause_sequence = ?3) AS found
    CROSS JOIN emitters ON emitter_id = runnable_id
    WHERE (user_id = ?4 OR workspace_id IN (SELECT value FROM json_each(?5)))";

pub(crate) fn runs(
    connection: &Connection,
    event: &EventRef,
    viewer: &Viewer,
    page: &PageRequest<InvocationId>,
) -> Result<Page<ListedRun>, StoreError> {
    let failed = failed("reading the runs that an event caused");
    let workspaces: Vec<&str> = viewer.workspace_ids.iter().map(|id| id.as_str()).collect();
    let workspaces = to_json(&workspaces)?;
    let of_event = params![
        event.emitter.as_str(),
        signed(event.id.ms),
        event.id.sequence,
        viewer.user_id.as_str(),
        workspaces
    ];
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM ({CAUSED})"))
        .and_then(|mut statement| statement.query_row(of_event, |row| row.get(0)))
        .map_err(&failed)?;
    let (bound, order, from) = match &page.position {
        Position::First => ("id < ?6", "DESC", "~"),
        Position::After(after) => ("id < ?6", "DESC", after.as_str()),
        Position::Before(before) => ("id > ?6", "ASC", before.as_str()),
    };
    let sql = format!("SELECT * FROM ({CAUSED}) WHERE {bound} ORDER BY id {order} LIMIT ?7");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let of_page = [of_event, params![from, page.limit]].concat();
    let mut rows = statement.query(&*of_page).map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let id: InvocationId = parsed(row, "id")?;
        let id = id.as_str();
        let run = match get(row, "is_open")? {
            true => run_places::open_run(connection, id)?.map(|run| ListedRun::Open(run.into())),
            false => run_records::by_id(connection, id)?.map(|run| ListedRun::Ended(run.into())),
        };
        items.extend(run);
    }
    if order == "ASC" {
        items.reverse();
    }
    Ok(Page {
        total_count: total.unsigned_abs(),
        items,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{connection, migration};

    #[test]
    fn what_an_event_caused_is_read_from_indexes() {
        let connection = connection::in_memory().unwrap();
        migration::run(&connection).unwrap();
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {CAUSED}"))
            .unwrap();
        let steps = statement.raw_query().mapped(|row| row.get("detail"));
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        for index in ["invocations_by_cause", "runs_by_cause"] {
            let found =
                format!("INDEX {index} (cause_ms=? AND cause_sequence=? AND cause_emitter_id=?)");
            assert!(steps.iter().any(|step| step.contains(&found)), "{steps:?}");
        }
    }
}
