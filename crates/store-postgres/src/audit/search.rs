//! Searching records: the stretches of indexes in which a reader's are, walked together in the order of ids, and only so far.

use headwater_model::{
    id::{AuditId, UserId},
    page::{PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{
    AUDIT_SEARCHED_MAX, AuditFilter, AuditReader, CappedCount, FoundAudit, StoreError, Viewer,
};
use tokio_postgres::Row;

use super::rows::{by_id, first_id};
use crate::{
    connection::{Connection, failed},
    row::get,
    walk::{Arms, Direction, Walk},
};

/// Ids have 48 bits of milliseconds.
const MS_MAX: u64 = (1 << 48) - 2;

/// A record that was looked at.
struct Looked {
    id: String,
    /// Whether the filter describes it and the reader may read it.
    matches: bool,
}

/// A stretch of an index: its condition on `$1`.
struct Arm {
    condition: &'static str,
    key: String,
}

/// The arms of a reader's records.
struct AuditArms<'a> {
    reader: &'a AuditReader,
    filter: &'a AuditFilter,
    arms: Vec<Arm>,
}

impl<'a> AuditArms<'a> {
    fn new(reader: &'a AuditReader, filter: &'a AuditFilter) -> Self {
        Self {
            arms: arms(reader, filter),
            reader,
            filter,
        }
    }

    fn looked(&self, row: &Row) -> Result<Looked, StoreError> {
        Ok(Looked {
            id: get(row, "id")?,
            matches: self.may_read(row)? && self.is_described(row)?,
        })
    }

    fn may_read(&self, row: &Row) -> Result<bool, StoreError> {
        let AuditReader::Viewer(viewer) = self.reader else {
            return Ok(true);
        };
        let actor: String = get(row, "actor_id")?;
        let owner: Option<String> = get(row, "owner_id")?;
        let workspace: Option<String> = get(row, "workspace_id")?;
        let user = viewer.user_id.as_str();
        Ok(actor == user
            || owner.as_deref() == Some(user)
            || workspace.is_some_and(|id| is_member(viewer, &id)))
    }

    fn is_described(&self, row: &Row) -> Result<bool, StoreError> {
        let AuditFilter {
            actor,
            action,
            target_id,
            workspace_id,
            ..
        } = self.filter;
        if let Some(wanted) = actor {
            let mut is_named = false;
            for column in ["actor_id", "username", "key_id", "session_id"] {
                let name: Option<String> = get(row, column)?;
                is_named |= name.as_ref() == Some(wanted);
            }
            if !is_named {
                return Ok(false);
            }
        }
        if let Some(wanted) = action {
            let name: String = get(row, "action")?;
            let rest = name.strip_prefix(wanted.as_str());
            if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                return Ok(false);
            }
        }
        if let Some(wanted) = target_id {
            let id: String = get(row, "target_id")?;
            if id != *wanted {
                return Ok(false);
            }
        }
        if let Some(wanted) = workspace_id {
            let id: Option<String> = get(row, "workspace_id")?;
            return Ok(id.as_deref() == Some(wanted.as_str()));
        }
        Ok(true)
    }
}

fn is_member(viewer: &Viewer, workspace_id: &str) -> bool {
    viewer
        .workspace_ids
        .iter()
        .any(|id| id.as_str() == workspace_id)
}

/// The narrowest stretches that have every record which is meant.
fn arms(reader: &AuditReader, filter: &AuditFilter) -> Vec<Arm> {
    const ACTOR: &str = "WHERE actor_id = $1";
    const WORKSPACE: &str = "WHERE workspace_id = $1";
    let one = |condition, key: &str| Arm {
        condition,
        key: key.to_owned(),
    };
    if let Some(target_id) = &filter.target_id {
        let condition = "WHERE target_id = $1";
        return vec![one(condition, target_id)];
    }
    if let Some(actor) = &filter.actor
        && actor.parse::<UserId>().is_ok()
    {
        return vec![one(ACTOR, actor)];
    }
    if let Some(workspace_id) = &filter.workspace_id {
        return vec![one(WORKSPACE, workspace_id.as_str())];
    }
    match reader {
        AuditReader::All => vec![one("WHERE $1::text IS NOT NULL", "")],
        AuditReader::Viewer(viewer) => {
            let user = viewer.user_id.as_str();
            let own = [one(ACTOR, user), one("WHERE owner_id = $1", user)];
            let shared = viewer.workspace_ids.iter();
            let shared = shared.map(|id| one(WORKSPACE, id.as_str()));
            own.into_iter().chain(shared).collect()
        }
    }
}

impl Arms for AuditArms<'_> {
    type Row = Looked;

    fn id(row: &Looked) -> &str {
        &row.id
    }

    fn count(&self) -> usize {
        self.arms.len()
    }

    async fn look(
        &self,
        connection: &Connection,
        place: usize,
        (after, before): (&str, &str),
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Looked>, StoreError> {
        let failed = failed("searching audit records");
        let arm = &self.arms[place];
        let sql = format!(
            "SELECT id, actor_id, username, key_id, session_id, action, target_id, owner_id, workspace_id
             FROM audit_records {} AND id > $2 AND id < $3 ORDER BY id {} LIMIT $4",
            arm.condition,
            direction.order()
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = connection
            .query(&sql, &[&arm.key, &after, &before, &limit])
            .await
            .map_err(&failed)?;
        let mut looked = Vec::new();
        for row in &rows {
            looked.push(self.looked(row)?);
        }
        Ok(looked)
    }
}

/// A walk along the records of a filter, each of which is looked at once.
struct Search<'a> {
    walk: Walk<AuditArms<'a>>,
    last: String,
}

impl<'a> Search<'a> {
    async fn begin(
        connection: &Connection,
        reader: &'a AuditReader,
        filter: &'a AuditFilter,
        position: &Position<AuditId>,
    ) -> Result<Self, StoreError> {
        let since = filter.since_ms.unwrap_or_default().0.min(MS_MAX);
        let until = filter.until_ms.map_or(MS_MAX, |until| until.0.min(MS_MAX));
        let (earliest, latest) = (first_id(EpochMs(since)), first_id(EpochMs(until + 1)));
        let (direction, after, before) = match position {
            Position::First => (Direction::Newest, &*earliest, &*latest),
            Position::After(id) => (Direction::Newest, &*earliest, id.as_str().min(&latest)),
            Position::Before(id) => (Direction::Oldest, id.as_str().max(&earliest), &*latest),
        };
        let arms = AuditArms::new(reader, filter);
        Ok(Self {
            walk: Walk::begin(connection, arms, direction, (after, before)).await?,
            last: String::new(),
        })
    }

    /// The next record. One is in several arms when a member does something to a thing of its own.
    async fn next(&mut self, connection: &Connection) -> Result<Option<Looked>, StoreError> {
        loop {
            let looked = self.walk.next(connection).await?;
            match looked {
                Some(looked) if looked.id == self.last => {}
                Some(looked) => {
                    self.last.clone_from(&looked.id);
                    return Ok(Some(looked));
                }
                None => return Ok(None),
            }
        }
    }
}

pub(super) async fn find(
    connection: &Connection,
    reader: &AuditReader,
    filter: &AuditFilter,
    page: &PageRequest<AuditId>,
) -> Result<FoundAudit, StoreError> {
    let mut search = Search::begin(connection, reader, filter, &page.position).await?;
    let (mut found, mut searched) = (FoundAudit::default(), 0);
    while found.items.len() < page.limit as usize {
        let Some(looked) = search.next(connection).await? else {
            break;
        };
        searched += 1;
        if looked.matches {
            found.items.extend(by_id(connection, &looked.id).await?);
        }
        if searched == AUDIT_SEARCHED_MAX && !search.walk.is_over() {
            let id = looked.id.parse();
            let id = id.map_err(|error| StoreError::Corrupt(format!("column id: {error}")))?;
            found.searched_to = Some(id);
            break;
        }
    }
    if matches!(page.position, Position::Before(_)) {
        found.items.reverse();
    }
    Ok(found)
}

pub(super) async fn count(
    connection: &Connection,
    reader: &AuditReader,
    filter: &AuditFilter,
    limit: u32,
) -> Result<CappedCount, StoreError> {
    let mut search = Search::begin(connection, reader, filter, &Position::First).await?;
    let mut counted = CappedCount::default();
    for _ in 0..limit {
        let Some(looked) = search.next(connection).await? else {
            return Ok(counted);
        };
        counted.count += u64::from(looked.matches);
    }
    counted.is_capped = search.next(connection).await?.is_some();
    Ok(counted)
}
