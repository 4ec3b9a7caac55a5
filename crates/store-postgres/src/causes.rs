//! The way from an event to the runs that it caused.

use headwater_model::{
    event::EventRef,
    id::InvocationId,
    page::{Page, PageRequest, Position},
};
use headwater_store::{ListedRun, StoreError, Viewer};

use crate::{
    connection::{Connection, Params, failed},
    row::{get, parsed, signed},
    run_places, run_records,
};

/// The runs that event `$1` to `$3` caused and that the viewer `$4`, a member of `$5`, may see.
const CAUSED: &str = "
    SELECT found.id AS id, is_open FROM (
        SELECT id, runnable_id, TRUE AS is_open FROM invocations
        WHERE cause_emitter_id = $1 AND cause_ms = $2 AND cause_sequence = $3
        UNION ALL
        SELECT id, runnable_id, FALSE FROM runs
        WHERE cause_emitter_id = $1 AND cause_ms = $2 AND cause_sequence = $3) AS found
    JOIN emitters ON emitter_id = runnable_id
    WHERE (user_id = $4 OR workspace_id = ANY($5))";

pub(crate) async fn runs(
    connection: &Connection,
    event: &EventRef,
    viewer: &Viewer,
    page: &PageRequest<InvocationId>,
) -> Result<Page<ListedRun>, StoreError> {
    let failed = failed("reading the runs that an event caused");
    let workspaces: Vec<&str> = viewer.workspace_ids.iter().map(|id| id.as_str()).collect();
    let (emitter, user) = (event.emitter.as_str(), viewer.user_id.as_str());
    let (ms, sequence) = (signed(event.id.ms), signed(event.id.sequence));
    let of_event: Params<'_> = &[&emitter, &ms, &sequence, &user, &workspaces];
    let total: i64 = connection
        .value(
            &format!("SELECT count(*) FROM ({CAUSED}) AS caused"),
            of_event,
        )
        .await
        .map_err(&failed)?;
    let (bound, order, from) = match &page.position {
        Position::First => ("id < $6", "DESC", "~"),
        Position::After(after) => ("id < $6", "DESC", after.as_str()),
        Position::Before(before) => ("id > $6", "ASC", before.as_str()),
    };
    let sql =
        format!("SELECT * FROM ({CAUSED}) AS caused WHERE {bound} ORDER BY id {order} LIMIT $7");
    let limit = signed(page.limit);
    let of_page: Params<'_> = &[&from, &limit];
    let rows = connection
        .query(&sql, &[of_event, of_page].concat())
        .await
        .map_err(&failed)?;
    let mut items = Vec::new();
    for row in &rows {
        let id: InvocationId = parsed(row, "id")?;
        let id = id.as_str();
        let run = match get(row, "is_open")? {
            true => run_places::open_run(connection, id)
                .await?
                .map(|run| ListedRun::Open(run.into())),
            false => run_records::by_id(connection, id)
                .await?
                .map(|run| ListedRun::Ended(run.into())),
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
