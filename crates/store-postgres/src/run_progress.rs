//! The effects of commits on runs of workflows: places, large values, answers to waits, sends, calls, and the end with the
//! run's record. Of however many runs, places, large values, applied answers and ends take one statement each, and calls
//! three; sends and answers take one a row.

use std::collections::BTreeMap;

use futures::{future::try_join_all, try_join};
use headwater_store::{Owner, RunCommit, RunProgress, StoreError};

use crate::{
    connection::{Connection, failed},
    enqueue,
    row::{list, signed},
    run_places, send_rows,
};

/// A commit with effects on its run.
pub(crate) struct Advanced<'a> {
    commit: &'a RunCommit,
    progress: &'a RunProgress,
    owner: &'a Owner,
}

impl<'a> Advanced<'a> {
    /// Finds the effects of a commit on its run, if any. `owner`: that of the workflow.
    pub(crate) fn by(commit: &'a RunCommit, owner: &'a Owner) -> Option<Self> {
        let progress = commit.progress.as_ref()?;
        Some(Self {
            commit,
            progress,
            owner,
        })
    }

    fn run(&self) -> &'a str {
        self.commit.run_id.as_str()
    }
}

/// Writes the values of runs.
pub(crate) async fn write_values(
    connection: &Connection,
    advanced: &[Advanced<'_>],
) -> Result<(), StoreError> {
    try_join!(
        write_places(connection, advanced),
        write_blobs(connection, advanced),
        note_applied(connection, advanced),
        write_details(connection, advanced),
    )
    .map(drop)
}

/// Writes the effects on others, which find the runs of this step as they are after it, and forgets what is not kept.
pub(crate) async fn write_effects(
    connection: &Connection,
    advanced: &[Advanced<'_>],
) -> Result<(), StoreError> {
    let calls = advanced.iter().flat_map(|of| &of.progress.calls);
    enqueue::calls(connection, &calls.collect::<Vec<_>>()).await?;
    for of in advanced {
        let (commit, progress) = (of.commit, of.progress);
        let run = (&commit.run_id, commit.runnable());
        for send in &progress.sends {
            send_rows::queue(connection, run, of.owner, send, commit.now_ms).await?;
        }
        for answer in &progress.resolves {
            run_places::resolve(connection, answer, commit.now_ms).await?;
        }
    }
    forget(connection, advanced).await
}

async fn write_places(
    connection: &Connection,
    advanced: &[Advanced<'_>],
) -> Result<(), StoreError> {
    let places = advanced.iter().flat_map(|of| {
        let places = of.progress.places.iter();
        places.map(|place| ((of.run(), place.path.as_str()), place.body.get()))
    });
    // The last body of each counts.
    let places: BTreeMap<(&str, &str), &str> = places.collect();
    let places: Vec<_> = places.into_iter().collect();
    if places.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO run_places (run_id, path, body) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
             ON CONFLICT (run_id, path) DO UPDATE SET body = excluded.body",
            &[
                &list(&places, |((run, _), _)| *run),
                &list(&places, |((_, path), _)| *path),
                &list(&places, |(_, body)| *body),
            ],
        )
        .await
        .map_err(failed("writing a run's places"))
        .map(drop)
}

async fn write_blobs(connection: &Connection, advanced: &[Advanced<'_>]) -> Result<(), StoreError> {
    let blobs = advanced.iter().flat_map(|of| {
        let blobs = of.progress.blobs.iter();
        blobs.map(|blob| (of.run(), blob))
    });
    let blobs: Vec<_> = blobs.collect();
    if blobs.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO run_blobs (run_id, hash, bytes) SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
             ON CONFLICT DO NOTHING",
            &[
                &list(&blobs, |(run, _)| *run),
                &list(&blobs, |(_, blob)| &*blob.hash),
                &list(&blobs, |(_, blob)| &blob.bytes[..]),
            ],
        )
        .await
        .map_err(failed("writing a run's large values"))
        .map(drop)
}

async fn note_applied(
    connection: &Connection,
    advanced: &[Advanced<'_>],
) -> Result<(), StoreError> {
    let waits = advanced.iter().flat_map(|of| {
        let waits = of.progress.applied.iter();
        waits.map(|wait| (of.run(), wait))
    });
    let waits: Vec<_> = waits.collect();
    if waits.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "UPDATE run_resolutions SET is_applied = TRUE
             FROM unnest($1::text[], $2::text[], $3::bigint[]) AS wait (run, place, number)
             WHERE run_id = run AND path = place AND generation = number",
            &[
                &list(&waits, |(run, _)| *run),
                &list(&waits, |(_, wait)| &*wait.path),
                &list(&waits, |(_, wait)| signed(wait.generation)),
            ],
        )
        .await
        .map_err(failed("noting answers to waits"))
        .map(drop)
}

/// Deletes everything of runs that have ended but their records; sends that have not ended go at their end.
async fn forget(connection: &Connection, advanced: &[Advanced<'_>]) -> Result<(), StoreError> {
    const OF_RUNS: [&str; 5] = [
        "UPDATE sends SET is_forgotten = TRUE WHERE run_id = ANY($1) AND state = 'pending'",
        "DELETE FROM sends WHERE run_id = ANY($1) AND state <> 'pending'",
        "DELETE FROM run_places WHERE run_id = ANY($1)",
        "DELETE FROM run_blobs WHERE run_id = ANY($1)",
        "DELETE FROM run_resolutions WHERE run_id = ANY($1)",
    ];
    let forgotten = advanced.iter().filter(|of| of.progress.is_forgotten);
    let forgotten: Vec<&str> = forgotten.map(Advanced::run).collect();
    if forgotten.is_empty() {
        return Ok(());
    }
    let forgotten = &forgotten;
    let forget = |sql| async move { connection.execute(sql, &[forgotten]).await };
    let all = try_join_all(OF_RUNS.map(forget)).await;
    all.map_err(failed("forgetting runs")).map(drop)
}

/// Writes the details of runs that have ended, beside their records.
async fn write_details(
    connection: &Connection,
    advanced: &[Advanced<'_>],
) -> Result<(), StoreError> {
    let ended = advanced.iter().filter(|of| of.commit.ended.is_some());
    let details = ended.filter_map(|of| Some((of.run(), of.progress.details.as_ref()?.get())));
    let details: BTreeMap<&str, &str> = details.collect();
    let details: Vec<_> = details.into_iter().collect();
    if details.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO run_details (run_id, details) SELECT * FROM unnest($1::text[], $2::text[])
             ON CONFLICT (run_id) DO UPDATE SET details = excluded.details",
            &[
                &list(&details, |(run, _)| *run),
                &list(&details, |(_, details)| *details),
            ],
        )
        .await
        .map_err(failed("recording runs"))
        .map(drop)
}
