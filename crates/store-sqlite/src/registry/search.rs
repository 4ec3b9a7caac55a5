//! Listing components: the index that they are searched by, and pages of results.

use headwater_model::{
    hash::CodeHash,
    id::ComponentId,
    page::{Page, PageRequest, Position},
};
use headwater_store::{
    ComponentFilter, ListedComponent, Owner, SavedComponent, StoreError, app_slugs,
};
use rusqlite::{Connection, Row, named_params, params};

use super::drafts;
use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, json, name_of, parsed, to_json, unsigned},
};

/// One row per key that the owner can use, and one per component without a key; then the filter.
/// `place` is the row's position in the listing.
const FOUND: &str = "
    WITH not_last AS (SELECT id, key FROM component_search WHERE {asked} AND id IN (SELECT value FROM json_each(:not_last))),
    meant AS (
        SELECT max(id) AS id, key AS place FROM component_search
        WHERE {owner} AND {asked} AND key IS NOT NULL AND key NOT IN (SELECT key FROM not_last) GROUP BY key
        UNION ALL
        SELECT id, key FROM not_last
        UNION ALL
        SELECT id, {keyless} FROM component_search WHERE {owner} AND {asked} AND key IS NULL
    ),
    drafts AS (
        SELECT id, place FROM meant
        WHERE NOT EXISTS (SELECT 1 FROM registry WHERE component_id = meant.id)
    ),
    winners AS (SELECT component_id AS id, key AS place, max(rank) FROM registry GROUP BY key),
    listed AS (
        SELECT id, place, 0 AS is_published FROM drafts
        UNION ALL
        SELECT id, place, 1 FROM winners WHERE place NOT IN (SELECT place FROM drafts)
    ),
    found AS (
        SELECT listed.* FROM listed JOIN component_search USING (id)
        WHERE (:type IS NULL OR type = :type)
          AND (:app IS NULL OR instr(apps, :app) > 0)
          AND NOT EXISTS (SELECT 1 FROM json_each(:words) AS word WHERE instr(text, word.value) = 0)
    )";

/// The position of a component without a key: after all keys, in creation order.
const KEYLESS_PLACE: &str = "char(1114111) || id";

/// The condition of unpublished components, if only those of sources are asked for.
const OF_SOURCES: &str = "(NOT :of_sources OR id IN (SELECT component_id FROM sources))";

/// Writes the text that a component is searched by.
pub(crate) fn index(connection: &Connection, component: &SavedComponent) -> Result<(), StoreError> {
    let description = &component.description;
    let texts = [
        description.key.as_deref(),
        Some(description.name.as_str()),
        description.description.as_deref(),
        component.code_url.as_deref(),
    ];
    let texts: Vec<_> = texts.into_iter().flatten().collect();
    let inserted = connection.execute_prepared(
        "INSERT INTO component_search (id, user_id, workspace_id, key, version, type, apps, text)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            component.id.as_str(),
            component.owner.user_id.as_str(),
            component.owner.workspace_id.as_ref().map(|id| id.as_str()),
            description.key,
            description.version,
            name_of(&description.component_type)?,
            app_slugs(description),
            texts.join(" ").to_lowercase(),
        ],
    );
    inserted.map_err(failed("saving a component"))?;
    Ok(())
}

pub(super) fn page(
    connection: &Connection,
    owner: &Owner,
    filter: &ComponentFilter,
    page: &PageRequest<ComponentId>,
) -> Result<Page<ListedComponent>, StoreError> {
    let failed = failed("listing components");
    let (of_owner, owner_id) = drafts::of_owner(owner, ":owner");
    let not_last = to_json(&drafts::not_last(connection, owner)?)?;
    let found = FOUND
        .replace("{owner}", &of_owner)
        .replace("{asked}", OF_SOURCES)
        .replace("{keyless}", KEYLESS_PLACE);
    let component_type = filter.component_type.as_ref().map(name_of).transpose()?;
    let app = filter.app.as_ref().map(|app| format!(" {app} "));
    let words: Vec<_> = filter
        .words
        .iter()
        .map(|word| word.to_lowercase())
        .collect();
    let words = to_json(&words)?;
    let total: i64 = connection
        .prepare_cached(&format!("{found} SELECT count(*) FROM found"))
        .and_then(|mut statement| {
            let parameters = named_params! {
                ":owner": owner_id, ":not_last": not_last, ":type": component_type, ":app": app, ":words": words,
                ":of_sources": filter.of_sources,
            };
            statement.query_row(parameters, |row| row.get(0))
        })
        .map_err(&failed)?;
    let (bound, order, cursor) = match &page.position {
        Position::First => (":cursor = ''", "ASC", ""),
        Position::After(after) => ("place > {place}", "ASC", after.as_str()),
        Position::Before(before) => ("place < {place}", "DESC", before.as_str()),
    };
    let place =
        format!("(SELECT coalesce(key, {KEYLESS_PLACE}) FROM component_search WHERE id = :cursor)");
    let bound = bound.replace("{place}", &place);
    let sql = format!(
        "{found} SELECT id, description, code_url, code_hash, created_at, updated_at, is_published
         FROM (SELECT * FROM found WHERE {bound} ORDER BY place {order} LIMIT :limit) AS listed
         JOIN components USING (id) ORDER BY place"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let parameters = named_params! {
        ":owner": owner_id, ":not_last": not_last, ":type": component_type, ":app": app, ":words": words,
        ":of_sources": filter.of_sources, ":cursor": cursor, ":limit": page.limit,
    };
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(component(row)?);
    }
    Ok(Page {
        total_count: total.unsigned_abs(),
        items,
    })
}

fn component(row: &Row<'_>) -> Result<ListedComponent, StoreError> {
    Ok(ListedComponent {
        id: parsed(row, "id")?,
        description: json(row, "description")?,
        code_url: get(row, "code_url")?,
        code_hash: CodeHash::new(get::<String>(row, "code_hash")?),
        is_published: get(row, "is_published")?,
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
    })
}
