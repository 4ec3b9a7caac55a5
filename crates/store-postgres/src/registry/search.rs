//! Listing components: the index that they are searched by, and pages of results.

use headwater_model::{
    hash::CodeHash,
    id::ComponentId,
    page::{Page, PageRequest, Position},
};
use headwater_store::{
    ComponentFilter, ListedComponent, Owner, SavedComponent, StoreError, app_slugs,
};
use tokio_postgres::Row;

use super::drafts;
use crate::{
    connection::{Connection, Params, failed},
    row::{get, json, name_of, parsed, signed, unsigned},
};

/// One row per key that the owner can use, and one per component without a key; then the filter.
/// `place` is the row's position in the listing. Parameters: owner, components that are not the last of their key, type,
/// app, words, whether only those of sources are asked for.
const FOUND: &str = "
    WITH not_last AS (SELECT id, key FROM component_search WHERE {asked} AND id = ANY($2)),
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
    winners AS (
        SELECT DISTINCT ON (key) component_id AS id, key AS place FROM registry ORDER BY key, rank DESC
    ),
    listed AS (
        SELECT id, place, FALSE AS is_published FROM drafts
        UNION ALL
        SELECT id, place, TRUE FROM winners WHERE place NOT IN (SELECT place FROM drafts)
    ),
    found AS (
        SELECT listed.* FROM listed JOIN component_search USING (id)
        WHERE ($3::text IS NULL OR type = $3)
          AND ($4::text IS NULL OR strpos(apps, $4) > 0)
          AND NOT EXISTS (SELECT 1 FROM unnest($5::text[]) AS word WHERE strpos(text, word) = 0)
    )";

/// The position of a component without a key: after all keys, in creation order.
const KEYLESS_PLACE: &str = "chr(1114111) || id";

/// The condition of unpublished components, if only those of sources are asked for.
const OF_SOURCES: &str = "(NOT $6::boolean OR id IN (SELECT component_id FROM sources))";

/// Writes the text that a component is searched by.
pub(crate) async fn index(
    connection: &Connection,
    component: &SavedComponent,
) -> Result<(), StoreError> {
    let description = &component.description;
    let texts = [
        description.key.as_deref(),
        Some(description.name.as_str()),
        description.description.as_deref(),
        component.code_url.as_deref(),
    ];
    let texts: Vec<_> = texts.into_iter().flatten().collect();
    let inserted = connection.execute("INSERT INTO component_search (id, user_id, workspace_id, key, version, type, apps, text)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", &[&component.id.as_str(), &component.owner.user_id.as_str(), &component.owner.workspace_id.as_ref().map(|id| id.as_str()), &description.key, &description.version, &name_of(&description.component_type)?, &app_slugs(description), &texts.join(" ").to_lowercase()]).await;
    inserted.map_err(failed("saving a component"))?;
    Ok(())
}

pub(super) async fn page(
    connection: &Connection,
    owner: &Owner,
    filter: &ComponentFilter,
    page: &PageRequest<ComponentId>,
) -> Result<Page<ListedComponent>, StoreError> {
    let failed = failed("listing components");
    let (of_owner, owner_id) = drafts::of_owner(owner, "$1");
    let not_last = drafts::not_last(connection, owner).await?;
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
    let filtered: Params<'_> = &[
        &owner_id,
        &not_last,
        &component_type,
        &app,
        &words,
        &filter.of_sources,
    ];
    let total: i64 = connection
        .value(&format!("{found} SELECT count(*) FROM found"), filtered)
        .await
        .map_err(&failed)?;
    let (bound, order, cursor) = match &page.position {
        Position::First => ("$7::text = ''", "ASC", ""),
        Position::After(after) => ("place > {place}", "ASC", after.as_str()),
        Position::Before(before) => ("place < {place}", "DESC", before.as_str()),
    };
    let place =
        format!("(SELECT coalesce(key, {KEYLESS_PLACE}) FROM component_search WHERE id = $7)");
    let bound = bound.replace("{place}", &place);
    let sql = format!(
        "{found} SELECT id, description, code_url, code_hash, created_at, updated_at, is_published
         FROM (SELECT * FROM found WHERE {bound} ORDER BY place {order} LIMIT $8) AS listed
         JOIN components USING (id) ORDER BY place"
    );
    let limit = signed(page.limit);
    let bounded: Params<'_> = &[&cursor, &limit];
    let rows = connection
        .query(&sql, &[filtered, bounded].concat())
        .await
        .map_err(&failed)?;
    let mut items = Vec::new();
    for row in &rows {
        items.push(component(row)?);
    }
    Ok(Page {
        total_count: total.unsigned_abs(),
        items,
    })
}

fn component(row: &Row) -> Result<ListedComponent, StoreError> {
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
