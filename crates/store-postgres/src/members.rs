//! The members of a cluster, and the keys that they share. Every time is the database's.

use std::time::Duration;

use async_trait::async_trait;
use headwater_model::time::EpochMs;
use headwater_store::{
    MEMBER_TIMEOUT, Member, MemberPart, Members, NODE_TIMEOUT, NodeEpoch, NodeName, Sealed,
    StoreError,
};
use tokio_postgres::Row;

use crate::{
    clock::NOW_MS,
    connection::{Connection, failed},
    living::{GONE_AFTER, millis},
    migration,
    row::{get, moment},
    store::PostgresStore,
};

/// The time for which a member that is lost is shown.
const SHOWN_FOR: Duration = Duration::from_secs(3600);

/// The node that has all work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leader {
    /// Its id.
    pub name: NodeName,
    /// Its life.
    pub epoch: NodeEpoch,
    /// The URL at which the others reach it; `None` for one that is no member of a cluster.
    pub address: Option<String>,
}

/// A member, as it tells the others of itself.
#[derive(Debug, Clone, Copy)]
pub struct Joining<'a> {
    /// Its id.
    pub name: &'a NodeName,
    /// The URL at which the others reach it.
    pub address: &'a str,
    /// The version of its program.
    pub version: &'a str,
    /// Whether it could take work over, as far as it knows.
    pub can_lead: bool,
}

/// A member, as the others see it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Joined {
    /// Whether it is to take no work over.
    pub is_draining: bool,
    /// Whether others live that may take work over.
    pub has_successor: bool,
}

impl PostgresStore {
    /// Says that a member lives, and learns how it is seen.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn join(&self, member: Joining<'_>) -> Result<Joined, StoreError> {
        self.write_locking(|connection| async move {
            // An older program may still lead, and have its tables.
            let (and_column, and_value, and_set, and_able) = match is_column(&connection, "members", "can_lead").await? {
                true => (", can_lead", ", $5", ", can_lead = $5", "AND other.can_lead"),
                false => ("", "", "", "AND $5::boolean IS NOT NULL"),
            };
            let joined = format!(
                "INSERT INTO members (id, address, version, joined_at_ms, seen_at_ms{and_column})
                 VALUES ($1, $2, $3, {NOW_MS}, {NOW_MS}{and_value})
                 ON CONFLICT (id) DO UPDATE
                 SET address = $2, version = $3, seen_at_ms = greatest(members.seen_at_ms, excluded.seen_at_ms){and_set}
                 RETURNING is_draining, EXISTS (
                     SELECT 1 FROM members AS other
                     WHERE other.id <> $1 AND NOT other.is_draining AND other.seen_at_ms > {NOW_MS} - $4 {and_able}
                 ) AS has_successor"
            );
            let Joining { name, address, version, can_lead } = member;
            let row = connection
                .query_one(
                    &joined,
                    &[&name.as_str(), &address, &version, &millis(MEMBER_TIMEOUT), &can_lead],
                )
                .await
                .map_err(failed("joining the cluster"))?;
            Ok(Joined {
                is_draining: get(&row, "is_draining")?,
                has_successor: get(&row, "has_successor")?,
            })
        })
        .await
    }

    /// Takes a member that stops out, with those that were lost long ago.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn leave(&self, name: &NodeName) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            let left = format!("DELETE FROM members WHERE id = $1 OR seen_at_ms < {NOW_MS} - $2");
            let left = connection
                .execute(&left, &[&name.as_str(), &millis(SHOWN_FOR)])
                .await;
            left.map_err(failed("leaving the cluster")).map(drop)
        })
        .await
    }

    /// The node that has all work, unless that is nobody.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn leader(&self) -> Result<Option<Leader>, StoreError> {
        self.read(|connection| async move {
            // A new database has no tables, and one that an older program had has no members.
            let address = match (
                is_table(&connection, "nodes").await?,
                is_table(&connection, "members").await?,
            ) {
                (false, _) => return Ok(None),
                (true, false) => "NULL::text",
                (true, true) => {
                    "(SELECT members.address FROM members WHERE members.id = nodes.name)"
                }
            };
            let leader = format!(
                "SELECT name, epoch, {address} AS address FROM nodes
                 WHERE NOT is_dead AND heartbeat_ms > {NOW_MS} - $1
                 ORDER BY epoch DESC LIMIT 1"
            );
            let row = connection
                .query_opt(&leader, &[&millis(NODE_TIMEOUT)])
                .await
                .map_err(failed("looking for the node that leads"))?;
            row.as_ref().map(leader_of).transpose()
        })
        .await
    }

    /// Declares a node dead that nobody listens for any more and that has been silent for two heartbeats. `false`: it was
    /// heard of since. It writes nothing more, even if it lives.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn give_up(&self, epoch: NodeEpoch) -> Result<bool, StoreError> {
        self.write_locking(|connection| async move {
            let died = format!(
                "UPDATE nodes SET is_dead = TRUE
                 WHERE epoch = $1 AND NOT is_dead AND heartbeat_ms <= {NOW_MS} - $2"
            );
            let epoch = crate::row::signed(epoch.0);
            let died = connection
                .execute(&died, &[&epoch, &millis(GONE_AFTER)])
                .await;
            Ok(died.map_err(failed("declaring a node dead"))? > 0)
        })
        .await
    }

    /// Whether the database has the tables of a cluster: none has before its first node has led.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn knows_members(&self) -> Result<bool, StoreError> {
        self.read(|connection| async move { is_table(&connection, "members").await })
            .await
    }

    /// Whether this program knows the database's tables, so that it could take over.
    ///
    /// # Errors
    /// `Unsupported` when a newer version of the program has led; `Unavailable` when the database cannot be reached.
    pub async fn knows_schema(&self) -> Result<(), StoreError> {
        self.read(|connection| async move { migration::known(&connection).await.map(drop) })
            .await
    }

    /// The mark of the cluster, sealed with its secret, if a node has led that leaves one.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn cluster_mark(&self) -> Result<Option<Sealed>, StoreError> {
        self.read(|connection| async move {
            if !is_table(&connection, "cluster_marks").await? {
                return Ok(None);
            }
            let kept = "SELECT sealed FROM cluster_marks";
            let kept = connection.value_opt(kept, &[]).await;
            Ok(kept
                .map_err(failed("reading the mark of the cluster"))?
                .map(Sealed))
        })
        .await
    }

    /// Leaves the mark of the cluster.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn set_cluster_mark(&self, mark: &Sealed) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            let kept = "INSERT INTO cluster_marks (sealed) VALUES ($1)
                        ON CONFLICT (is_the_one) DO UPDATE SET sealed = excluded.sealed";
            let kept = connection.execute(kept, &[&mark.0]).await;
            kept.map_err(failed("leaving the mark of the cluster"))
                .map(drop)
        })
        .await
    }

    /// The sealed secret keys of the cluster, if it has any.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn cluster_keys(&self) -> Result<Option<Sealed>, StoreError> {
        self.read(|connection| async move { kept_keys(&connection).await })
            .await
    }

    /// Keeps the first secret keys of the cluster, and returns those that are kept: another node may have been first.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn begin_cluster_keys(&self, first: &Sealed) -> Result<Sealed, StoreError> {
        self.write(|connection| async move {
            let kept = "INSERT INTO cluster_keys (sealed) VALUES ($1) ON CONFLICT DO NOTHING";
            let kept = connection.execute(kept, &[&first.0]).await;
            kept.map_err(failed("keeping the secret keys"))?;
            let kept = kept_keys(&connection).await?;
            kept.ok_or_else(|| StoreError::Corrupt("the secret keys are gone".to_owned()))
        })
        .await
    }

    /// Replaces the secret keys of the cluster.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be reached.
    pub async fn set_cluster_keys(&self, keys: &Sealed) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            let kept = connection
                .execute("UPDATE cluster_keys SET sealed = $1", &[&keys.0])
                .await;
            kept.map_err(failed("keeping the secret keys")).map(drop)
        })
        .await
    }
}

#[async_trait]
impl Members for PostgresStore {
    async fn members(&self) -> Result<Vec<Member>, StoreError> {
        self.read(|connection| async move {
            let members = format!(
                "SELECT members.*, members.seen_at_ms <= {NOW_MS} - $1 AS is_lost,
                     EXISTS (
                         SELECT 1 FROM nodes
                         WHERE name = id AND NOT is_dead AND heartbeat_ms > {NOW_MS} - $2
                     ) AS leads
                 FROM members WHERE seen_at_ms > {NOW_MS} - $3 ORDER BY id"
            );
            let bounds = [MEMBER_TIMEOUT, NODE_TIMEOUT, SHOWN_FOR].map(millis);
            let rows = connection
                .query(&members, &[&bounds[0], &bounds[1], &bounds[2]])
                .await
                .map_err(failed("listing the members"))?;
            rows.iter().map(member_of).collect()
        })
        .await
    }

    async fn set_draining(&self, name: &NodeName, is_draining: bool) -> Result<bool, StoreError> {
        self.write_locking(|connection| async move {
            let set = "UPDATE members SET is_draining = $2 WHERE id = $1";
            let set = connection
                .execute(set, &[&name.as_str(), &is_draining])
                .await;
            Ok(set.map_err(failed("draining a node"))? > 0)
        })
        .await
    }
}

async fn is_table(connection: &Connection, name: &str) -> Result<bool, StoreError> {
    let known = "SELECT to_regclass($1) IS NOT NULL";
    let known = connection.value(known, &[&name]).await;
    known.map_err(failed("looking at the tables"))
}

async fn is_column(connection: &Connection, table: &str, name: &str) -> Result<bool, StoreError> {
    let known = "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2 AND NOT attisdropped";
    let known = connection.exists(known, &[&table, &name]).await;
    known.map_err(failed("looking at the tables"))
}

async fn kept_keys(connection: &Connection) -> Result<Option<Sealed>, StoreError> {
    let kept = connection
        .value_opt("SELECT sealed FROM cluster_keys", &[])
        .await;
    Ok(kept.map_err(failed("reading the secret keys"))?.map(Sealed))
}

fn leader_of(row: &Row) -> Result<Leader, StoreError> {
    let epoch: i64 = get(row, "epoch")?;
    Ok(Leader {
        name: NodeName::new(get::<String>(row, "name")?),
        epoch: NodeEpoch(epoch.unsigned_abs()),
        address: get(row, "address")?,
    })
}

fn member_of(row: &Row) -> Result<Member, StoreError> {
    let time = |column| -> Result<EpochMs, StoreError> { Ok(moment(get(row, column)?)) };
    Ok(Member {
        name: NodeName::new(get::<String>(row, "id")?),
        address: get(row, "address")?,
        version: get(row, "version")?,
        joined_at_ms: time("joined_at_ms")?,
        seen_at_ms: time("seen_at_ms")?,
        is_draining: get(row, "is_draining")?,
        can_lead: get(row, "can_lead")?,
        part: match (get(row, "leads")?, get(row, "is_lost")?) {
            (true, _) => MemberPart::Leads,
            (false, false) => MemberPart::Follows,
            (false, true) => MemberPart::Lost,
        },
    })
}
