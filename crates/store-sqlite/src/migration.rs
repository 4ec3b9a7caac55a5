//! The schema and its history: numbered files, each run once, in order, in a transaction of its own.

use headwater_store::StoreError;
use rusqlite::Connection;

use crate::connection::failed;

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_every_way_out.sql"),
    include_str!("../migrations/0003_component_model.sql"),
    include_str!("../migrations/0004_on_time.sql"),
    include_str!("../migrations/0005_ordering.sql"),
    include_str!("../migrations/0006_bounded_queues.sql"),
    include_str!("../migrations/0007_versions_and_generations.sql"),
    include_str!("../migrations/0008_runnables_leases_and_runs.sql"),
    include_str!("../migrations/0009_counted_by_their_writers.sql"),
    include_str!("../migrations/0010_counted_events.sql"),
    include_str!("../migrations/0011_isolated_sources.sql"),
    include_str!("../migrations/0012_workflows.sql"),
    include_str!("../migrations/0013_folders.sql"),
    include_str!("../migrations/0014_sessions.sql"),
    include_str!("../migrations/0015_causes_and_deliveries.sql"),
    include_str!("../migrations/0016_runs_by_the_hour.sql"),
    include_str!("../migrations/0017_source_deployments.sql"),
    include_str!("../migrations/0018_event_views.sql"),
    include_str!("../migrations/0019_audit.sql"),
    include_str!("../migrations/0020_replayed_runs.sql"),
    include_str!("../migrations/0021_run_details.sql"),
    include_str!("../migrations/0022_components_by_code.sql"),
    include_str!("../migrations/0023_run_facts.sql"),
    include_str!("../migrations/0024_attempt_causes_and_renewals.sql"),
];

/// Brings the schema up to date.
pub(crate) fn run(connection: &Connection) -> Result<(), StoreError> {
    let failed = failed("migrating the database");
    let version = known(connection)?;
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(version) {
        let script = format!(
            "BEGIN IMMEDIATE;\n{migration}\nPRAGMA user_version = {};\nCOMMIT;",
            index + 1
        );
        connection.execute_batch(&script).map_err(&failed)?;
    }
    Ok(())
}

/// Whether the schema is the one of this program.
pub(crate) fn is_current(connection: &Connection) -> Result<bool, StoreError> {
    Ok(known(connection)? == MIGRATIONS.len())
}

/// The table that is there as long as a store is being copied into the database.
pub(crate) const UNFINISHED: &str = "unfinished_copy";

/// Whether a copy into the database was begun and not finished.
pub(crate) fn is_unfinished(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
        .and_then(|mut statement| statement.exists([UNFINISHED]))
        .map_err(failed("reading the schema"))
}

/// The version of the schema, if this program knows it and it is not in the making.
pub(crate) fn known(connection: &Connection) -> Result<usize, StoreError> {
    if is_unfinished(connection)? {
        return Err(StoreError::Unsupported(
            StoreError::UNFINISHED_COPY.to_owned(),
        ));
    }
    let version: u32 = connection
        .query_row("PRAGMA user_version", (), |row| row.get(0))
        .map_err(failed("reading the version of the schema"))?;
    match version as usize {
        known if known <= MIGRATIONS.len() => Ok(known),
        newer => Err(StoreError::Unsupported(format!(
            "the database has schema {newer}, this program knows {}; start a newer headwater",
            MIGRATIONS.len()
        ))),
    }
}

#[cfg(test)]
mod of_schema_3;
#[cfg(test)]
mod of_schema_7;

#[cfg(test)]
mod tests {
    use headwater_model::{id::DeploymentId, time::EpochMs};

    use super::*;
    use crate::connection;

    #[test]
    fn migrating_twice_changes_nothing_and_a_newer_schema_is_refused() {
        let connection = connection::in_memory().unwrap();
        run(&connection).unwrap();
        run(&connection).unwrap();
        connection
            .pragma_update(None, "user_version", MIGRATIONS.len() + 1)
            .unwrap();
        let refused = run(&connection).unwrap_err();
        assert!(matches!(refused, StoreError::Unsupported(_)));
        let told = refused.to_string();
        assert!(told.starts_with("the database has schema"), "{told}");
        assert!(told.contains("start a newer headwater"), "{told}");
    }

    #[test]
    fn components_of_the_first_schema_can_be_searched() {
        let connection = connection::in_memory().unwrap();
        connection.execute_batch(MIGRATIONS[0]).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        let saved = "INSERT INTO artifacts (hash, bytes) VALUES ('h', '');
            INSERT INTO components (id, user_id, key, code, code_hash, artifact_hash, lock, description, created_at, updated_at)
            VALUES ('sc_1', 'u_1', 'shop-new', '', '', 'h', '',
                    '{\"name\": \"New\", \"version\": \"1.0.0\", \"type\": \"action\", \"description\": \"Of a Shop\",
                      \"props\": [{\"name\": \"a\", \"type\": \"app\", \"app\": \"mail\"},
                                  {\"name\": \"b\", \"type\": \"string\"}]}', 1, 1),
                   ('sc_2', 'u_1', NULL, '', '', 'h', '', '{\"name\": \"Plain\"}', 1, 1);";
        connection.execute_batch(saved).unwrap();
        run(&connection).unwrap();
        let mut statement = connection
            .prepare("SELECT type, trim(apps), trim(text), coalesce(version, '') FROM component_search ORDER BY id")
            .unwrap();
        let columns =
            |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        let rows = statement.query_map((), columns).unwrap();
        let rows: Vec<[String; 4]> = rows.collect::<Result<_, _>>().unwrap();
        assert_eq!(
            rows,
            [
                ["action", "shop mail", "shop-new new of a shop", "1.0.0"],
                ["source", "", "plain", ""],
            ]
        );
    }

    #[test]
    fn the_only_user_becomes_the_administrator_and_keeps_its_usage() {
        let connection = connection::in_memory().unwrap();
        connection.execute_batch(MIGRATIONS[0]).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        connection
            .execute_batch(
                "INSERT INTO users VALUES ('u_1', 'admin', 'admin@localhost', 1);
                 INSERT INTO api_keys VALUES ('key_1', 'u_1', 'hash', 1);
                 INSERT INTO usage VALUES ('u_1', 19675, 3, 60);",
            )
            .unwrap();
        run(&connection).unwrap();
        let migrated = "SELECT is_admin, name, invocations, compute_ms
                        FROM users JOIN api_keys ON user_id = users.id JOIN daily_usage ON owner_id = users.id";
        let row: (bool, String, u32, u32) = connection
            .query_row(migrated, (), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .unwrap();
        assert_eq!(row, (true, "first".to_owned(), 3, 60));
    }

    #[test]
    fn sources_of_before_have_a_deployment_of_their_present_version() {
        let connection = connection::in_memory().unwrap();
        let before = MIGRATIONS
            .iter()
            .position(|one| one.contains("CREATE TABLE source_deployments"))
            .unwrap();
        for migration in &MIGRATIONS[..before] {
            connection.execute_batch(migration).unwrap();
        }
        connection
            .pragma_update(None, "user_version", before)
            .unwrap();
        let deployed = "INSERT INTO artifacts (hash, bytes) VALUES ('h', '');
            INSERT INTO components (id, user_id, key, code, code_hash, artifact_hash, lock, description, created_at, updated_at)
            VALUES ('sc_1', 'u_1', 'shop-new', '', 'c', 'h', '', '{\"name\": \"New\", \"version\": \"1.0.0\"}', 1, 1);
            INSERT INTO sources (id, user_id, name, name_slug, state, component_id, artifact_hash, configured_props,
                                 dynamic_props, created_at, updated_at)
            VALUES ('dc_1', 'u_1', 'n', 'n', 'active', 'sc_1', 'h', '{\"a\": 1}', '[]', 1, 7),
                   ('dc_2', 'u_1', 'm', 'm', 'deploying', 'sc_1', 'h', '{}', '[]', 1, 7);";
        connection.execute_batch(deployed).unwrap();
        run(&connection).unwrap();
        let found = "SELECT sources.deployment_id, component_name || component_key || component_version || code_hash
                            || source_deployments.configured_props || source_deployments.created_at_ms
                     FROM sources LEFT JOIN source_deployments ON source_id = sources.id ORDER BY sources.id";
        let mut statement = connection.prepare(found).unwrap();
        let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)));
        let rows: Vec<(Option<String>, Option<String>)> =
            rows.unwrap().collect::<Result<_, _>>().unwrap();
        let id: DeploymentId = rows[0].0.as_deref().unwrap().parse().unwrap();
        assert!(id < DeploymentId::new(EpochMs(1_500_000_000_000), 0));
        assert_eq!(
            rows[0].1.as_deref(),
            Some("Newshop-new1.0.0c{\"a\": 1}7000")
        );
        assert_eq!(rows[1], (None, None));
    }

    #[test]
    fn deliveries_are_found_by_attempts_of_before() {
        let connection = connection::in_memory().unwrap();
        let mut migrations = MIGRATIONS.iter();
        let before = migrations.position(|one| one.contains("ADD COLUMN answer"));
        let before = before.unwrap();
        for migration in &MIGRATIONS[..before] {
            connection.execute_batch(migration).unwrap();
        }
        connection
            .pragma_update(None, "user_version", before)
            .unwrap();
        let attempted = "
            INSERT INTO deliveries (position, id, webhook_id, subscription_id, event_position, indexed_at_ms, state, created_at_ms)
            VALUES (1, 'dlv_1', 'wh_1', 'sub_1', 1, 1, 'delivered', 1), (2, 'dlv_2', 'wh_1', 'sub_1', 1, 1, 'dead', 1),
                   (3, 'dlv_3', 'wh_1', 'sub_1', 1, 1, 'pending', 1), (4, 'dlv_4', 'wh_1', 'sub_1', 1, 1, 'pending', 1);
            INSERT INTO attempts (delivery_position, number, at_ms, latency_ms, status, error)
            VALUES (1, 1, 1, 1, NULL, 'cannot connect: Connection refused (os error 111)'), (1, 2, 1, 1, 204, NULL),
                   (2, 1, 1, 1, 503, NULL), (2, 2, 1, 1, 301, NULL), (3, 1, 1, 1, NULL, 'no answer within 15s');";
        connection.execute_batch(attempted).unwrap();
        run(&connection).unwrap();
        let mut statement = connection
            .prepare("SELECT coalesce(answer, '-') FROM deliveries ORDER BY id")
            .unwrap();
        let answers = statement.query_map((), |row| row.get(0)).unwrap();
        let answers: Vec<String> = answers.collect::<Result<_, _>>().unwrap();
        assert_eq!(answers, ["2xx", "3xx", "timeout", "-"]);
        let mut statement = connection
            .prepare(
                "SELECT coalesce(failure, '-') FROM attempts ORDER BY delivery_position, number",
            )
            .unwrap();
        let failures = statement.query_map((), |row| row.get(0)).unwrap();
        let failures: Vec<String> = failures.collect::<Result<_, _>>().unwrap();
        assert_eq!(failures, ["refused", "-", "status", "redirect", "timeout"]);
    }

    #[test]
    fn runs_of_before_keep_their_details_and_name_the_run_that_they_repeat() {
        let connection = connection::in_memory().unwrap();
        let mut migrations = MIGRATIONS.iter();
        let before = migrations.position(|one| one.contains("ADD COLUMN replay_of"));
        let before = before.unwrap();
        for migration in &MIGRATIONS[..before] {
            connection.execute_batch(migration).unwrap();
        }
        connection
            .pragma_update(None, "user_version", before)
            .unwrap();
        let ended = "
            INSERT INTO runs (runnable_id, failed, id, version, trigger, queued_at_ms, started_at_ms, ended_at_ms, outcome,
                              emitted, dropped, has_scheduled, details)
            VALUES ('p_1', 0, 'inv_1', 'd_1', 'http', 1, 1, 1, 'returned', 0, 0, 0, '{\"head\": {}}'),
                   ('p_1', 0, 'inv_2', 'd_1', 'replay', 1, 1, 1, 'returned', 0, 0, 0,
                    '{\"head\": {\"replay\": {\"run_id\": \"inv_1\", \"from\": null}}}'),
                   ('p_1', 0, 'inv_3', 'd_1', 'replay', 1, 1, 1, 'returned', 0, 0, 0, NULL);";
        connection.execute_batch(ended).unwrap();
        run(&connection).unwrap();
        let mut statement = connection
            .prepare("SELECT coalesce(replay_of, '-') FROM runs ORDER BY id")
            .unwrap();
        let replayed = statement.query_map((), |row| row.get(0)).unwrap();
        let replayed: Vec<String> = replayed.collect::<Result<_, _>>().unwrap();
        assert_eq!(replayed, ["-", "inv_1", "-"]);
        let mut statement = connection
            .prepare("SELECT run_id FROM run_details ORDER BY run_id")
            .unwrap();
        let detailed = statement.query_map((), |row| row.get(0)).unwrap();
        let detailed: Vec<String> = detailed.collect::<Result<_, _>>().unwrap();
        assert_eq!(detailed, ["inv_1", "inv_2"]);
    }
}
