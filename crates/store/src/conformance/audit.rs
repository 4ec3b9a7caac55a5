//! Records of acts: written, found by those who may read them, and forgotten in time.

use headwater_model::{
    id::{AuditId, KeyId, SessionId, UserId, WorkspaceId},
    page::{PageRequest, Position},
    time::EpochMs,
};
use serde_json::json;

use super::{Factory, fixture::*, tenants::team};
use crate::{
    AUDIT_SEARCHED_MAX, Actor, ActorKind, AuditFilter, AuditReader, AuditRecord, AuditTarget,
    FoundAudit, Store, Viewer,
};

/// More than any test writes.
const MANY: u32 = 1_000_000;
/// Those that are written at a time: a store lets nobody wait for ever.
const AT_ONCE: usize = 1000;

fn actor(user_id: &UserId) -> Actor {
    Actor {
        via: ActorKind::Key,
        user_id: Some(user_id.clone()),
        username: Some("ann".to_owned()),
        key_id: None,
        key_name: None,
        session_id: None,
    }
}

/// The record of something that nobody owns.
fn record(actor: Actor, action: &str, target_id: &str, at_ms: EpochMs) -> AuditRecord {
    AuditRecord {
        id: AuditId::new(at_ms, entropy()),
        at_ms,
        actor,
        action: action.to_owned(),
        target: AuditTarget {
            kind: "source".to_owned(),
            id: target_id.to_owned(),
            name: None,
            owner_id: None,
            workspace_id: None,
        },
        details: serde_json::Map::new(),
        address: None,
        user_agent: String::new(),
    }
}

fn user_id() -> UserId {
    UserId::new(T0, entropy())
}

/// The same, of a thing of that user and workspace.
fn owned_by(
    record: AuditRecord,
    owner_id: Option<&UserId>,
    workspace_id: Option<&WorkspaceId>,
) -> AuditRecord {
    let target = AuditTarget {
        owner_id: owner_id.cloned(),
        workspace_id: workspace_id.cloned(),
        ..record.target
    };
    AuditRecord { target, ..record }
}

async fn write(store: &dyn Store, record: &AuditRecord) -> AuditId {
    store.write_audit(record.clone(), MANY).await.unwrap();
    record.id.clone()
}

async fn find(
    store: &dyn Store,
    reader: &AuditReader,
    filter: &AuditFilter,
    page: &PageRequest<AuditId>,
) -> FoundAudit {
    store.find_audit(reader, filter, page).await.unwrap()
}

/// The ids of all records that a reader finds.
async fn ids(store: &dyn Store, reader: &AuditReader, filter: &AuditFilter) -> Vec<AuditId> {
    let found = find(store, reader, filter, &PageRequest::first(100)).await;
    assert_eq!(found.searched_to, None);
    found.items.into_iter().map(|record| record.id).collect()
}

/// Everything of a record survives a restart.
pub async fn a_record_reads_back_as_it_was_written(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = user_id();
    let whole = AuditRecord {
        actor: Actor {
            via: ActorKind::Session,
            key_id: Some(KeyId::new(T0, entropy())),
            key_name: Some("first \u{202e}".to_owned()),
            session_id: Some(SessionId::new(T0, entropy())),
            ..actor(&ann)
        },
        details: json!({"fields": ["name"], "count": 3})
            .as_object()
            .unwrap()
            .clone(),
        address: Some("192.0.2.1".to_owned()),
        user_agent: "browser/1".to_owned(),
        ..record(actor(&ann), "source.update", "dc_1", T0)
    };
    let mut whole = owned_by(whole, Some(&ann), Some(&WorkspaceId::new(T0, entropy())));
    whole.target.name = Some("orders".to_owned());
    let nobody = Actor {
        via: ActorKind::Nobody,
        user_id: None,
        username: None,
        ..actor(&ann)
    };
    let bare = record(nobody, "session.refuse", "", T0 + SECOND);
    write(&*store, &whole).await;
    write(&*store, &bare).await;
    let store = factory.reopen(store).await;
    let first = PageRequest::first(9);
    let found = find(&*store, &AuditReader::All, &AuditFilter::default(), &first).await;
    assert_eq!(found.items, [bare, whole]);
}

/// A user reads its own acts, those on its things, and those on things in its workspaces; each once.
pub async fn a_reader_finds_its_own_acts_and_those_on_what_it_sees(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let [ann, bob, cleo] = [user_id(), user_id(), user_id()];
    let [team, other] = [T0, T0].map(|now_ms| WorkspaceId::new(now_ms, entropy()));
    let mut at_ms = T0;
    let mut next = |by: &UserId, owner: Option<&UserId>, workspace: Option<&WorkspaceId>| {
        at_ms = at_ms + MS;
        owned_by(
            record(actor(by), "source.update", "dc_1", at_ms),
            owner,
            workspace,
        )
    };
    let own = write(&*store, &next(&ann, None, None)).await;
    let on_own = write(&*store, &next(&bob, Some(&ann), None)).await;
    let in_team = write(&*store, &next(&bob, Some(&bob), Some(&team))).await;
    let all_at_once = write(&*store, &next(&ann, Some(&ann), Some(&team))).await;
    let others = write(&*store, &next(&bob, Some(&bob), Some(&other))).await;
    let of_bob = write(&*store, &next(&bob, Some(&bob), None)).await;
    let reader = |user_id: &UserId, workspaces: &[&WorkspaceId]| {
        AuditReader::Viewer(Viewer {
            user_id: user_id.clone(),
            workspace_ids: workspaces.iter().map(|id| (*id).clone()).collect(),
        })
    };
    let everything = AuditFilter::default();
    let by_target = AuditFilter {
        target_id: Some("dc_1".to_owned()),
        ..AuditFilter::default()
    };
    for filter in [&everything, &by_target] {
        let found = ids(&*store, &reader(&ann, &[&team]), filter).await;
        let seen = [&all_at_once, &in_team, &on_own, &own].map(Clone::clone);
        assert_eq!(found, seen, "{filter:?}");
        let found = ids(&*store, &reader(&cleo, &[&other]), filter).await;
        assert_eq!(found, std::slice::from_ref(&others), "{filter:?}");
        assert_eq!(ids(&*store, &reader(&cleo, &[]), filter).await, []);
        let found = ids(&*store, &AuditReader::All, filter).await;
        assert_eq!(found.len(), 6, "{filter:?}");
        assert_eq!(found[0], of_bob);
    }
    for filter in [
        AuditFilter {
            actor: Some(bob.to_string()),
            ..AuditFilter::default()
        },
        AuditFilter {
            workspace_id: Some(other.clone()),
            ..AuditFilter::default()
        },
    ] {
        assert_eq!(ids(&*store, &reader(&cleo, &[]), &filter).await, []);
    }
}

/// Each field of a filter leaves out what it does not describe.
pub async fn records_are_found_by_each_field_of_the_filter(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let [ann, bob] = [user_id(), user_id()];
    let team = WorkspaceId::new(T0, entropy());
    let (key_id, session_id) = (KeyId::new(T0, entropy()), SessionId::new(T0, entropy()));
    let mut one = owned_by(
        record(actor(&ann), "source.deploy", "dc_1", T0 + MS),
        None,
        Some(&team),
    );
    one.actor.key_id = Some(key_id.clone());
    one.actor.session_id = Some(session_id.clone());
    let mut other = record(actor(&bob), "sources.count", "dc_2", T0 + MS * 3);
    other.actor.username = Some("bob".to_owned());
    write(&*store, &one).await;
    write(&*store, &other).await;
    let with = |change: &dyn Fn(&mut AuditFilter)| {
        let mut filter = AuditFilter::default();
        change(&mut filter);
        filter
    };
    let middle = T0 + MS * 2;
    for filter in [
        with(&|filter| filter.actor = Some(ann.to_string())),
        with(&|filter| filter.actor = Some("ann".to_owned())),
        with(&|filter| filter.actor = Some(key_id.to_string())),
        with(&|filter| filter.actor = Some(session_id.to_string())),
        with(&|filter| filter.action = Some("source".to_owned())),
        with(&|filter| filter.action = Some("source.deploy".to_owned())),
        with(&|filter| filter.target_id = Some("dc_1".to_owned())),
        with(&|filter| filter.workspace_id = Some(team.clone())),
        with(&|filter| filter.until_ms = Some(middle)),
        with(&|filter| filter.until_ms = Some(T0 + MS)),
    ] {
        let found = ids(&*store, &AuditReader::All, &filter).await;
        assert_eq!(found, std::slice::from_ref(&one.id), "{filter:?}");
    }
    for filter in [
        with(&|filter| filter.since_ms = Some(middle)),
        with(&|filter| filter.since_ms = Some(T0 + MS * 3)),
        with(&|filter| filter.action = Some("sources".to_owned())),
    ] {
        let found = ids(&*store, &AuditReader::All, &filter).await;
        assert_eq!(found, std::slice::from_ref(&other.id), "{filter:?}");
    }
    for filter in [
        with(&|filter| filter.action = Some("source.dep".to_owned())),
        with(&|filter| {
            filter.actor = Some("ann".to_owned());
            filter.target_id = Some("dc_2".to_owned());
        }),
    ] {
        assert_eq!(
            ids(&*store, &AuditReader::All, &filter).await,
            [],
            "{filter:?}"
        );
    }
}

/// Pages lead to all records, and back.
pub async fn audit_records_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = user_id();
    let mut all = Vec::new();
    for number in 0..7 {
        let act = record(actor(&ann), "source.run", "dc_1", T0 + MS * number);
        // In both of the reader's arms.
        all.push(write(&*store, &owned_by(act, Some(&ann), None)).await);
    }
    all.reverse();
    let reader = AuditReader::Viewer(Viewer {
        user_id: ann,
        workspace_ids: Vec::new(),
    });
    let page_at = |position| PageRequest { limit: 3, position };
    let (mut seen, mut position) = (Vec::new(), Position::First);
    loop {
        let page = page_at(position.clone());
        let found = find(&*store, &reader, &AuditFilter::default(), &page).await;
        let Some(last) = found.items.last() else {
            break;
        };
        position = Position::After(last.id.clone());
        seen.extend(found.items.into_iter().map(|record| record.id));
    }
    assert_eq!(seen, all);
    let page = page_at(Position::Before(all[5].clone()));
    let found = find(&*store, &reader, &AuditFilter::default(), &page).await;
    let found: Vec<AuditId> = found.items.into_iter().map(|record| record.id).collect();
    assert_eq!(found, all[2..5]);
}

/// A search that finds little looks at so many, and goes on behind them.
pub async fn a_search_of_records_is_bounded_and_goes_on_where_it_stopped(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = user_id();
    let wanted = record(actor(&ann), "source.delete", "dc_1", T0);
    write(&*store, &wanted).await;
    let numbers: Vec<_> = (0..AUDIT_SEARCHED_MAX + 10).collect();
    for numbers in numbers.chunks(AT_ONCE) {
        // The store may write them in groups.
        let mut writes = tokio::task::JoinSet::new();
        for number in numbers {
            let later = T0 + MS * (number + 1);
            let other = record(actor(&ann), "source.run", "dc_1", later);
            let store = std::sync::Arc::clone(&store);
            writes.spawn(async move { store.write_audit(other, MANY).await.unwrap() });
        }
        writes.join_all().await;
    }
    let filter = AuditFilter {
        action: Some("source.delete".to_owned()),
        ..AuditFilter::default()
    };
    let first = PageRequest::first(10);
    let found = find(&*store, &AuditReader::All, &filter, &first).await;
    assert_eq!(found.items, []);
    let page = PageRequest {
        limit: 10,
        position: Position::After(found.searched_to.unwrap()),
    };
    let found = find(&*store, &AuditReader::All, &filter, &page).await;
    assert_eq!((found.items, found.searched_to), (vec![wanted], None));
}

/// A count goes so far, over every record once.
pub async fn records_are_counted_up_to_a_bound(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = user_id();
    for (number, action) in [(0, "source.run"), (1, "source.delete"), (2, "source.run")] {
        let act = record(actor(&ann), action, "dc_1", T0 + MS * number);
        write(&*store, &owned_by(act, Some(&ann), None)).await;
    }
    let reader = AuditReader::Viewer(Viewer {
        user_id: ann,
        workspace_ids: Vec::new(),
    });
    let runs = AuditFilter {
        action: Some("source.run".to_owned()),
        ..AuditFilter::default()
    };
    for (filter, limit, expected) in [
        (&AuditFilter::default(), 3, (3, false)),
        (&AuditFilter::default(), 2, (2, true)),
        (&runs, 3, (2, false)),
        (&runs, 2, (1, true)),
    ] {
        let counted = store.count_audit(&reader, filter, limit).await.unwrap();
        assert_eq!((counted.count, counted.is_capped), expected);
    }
}

/// An actor that does much loses its own oldest records alone, also when fewer are to be kept than before.
pub async fn an_actor_has_a_bounded_number_of_records(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let [ann, bob] = [user_id(), user_id()];
    let of_bob = write(&*store, &record(actor(&bob), "source.run", "dc_1", T0)).await;
    let mut of_ann = Vec::new();
    for number in 1..=8 {
        let act = record(actor(&ann), "source.run", "dc_1", T0 + MS * number);
        store.write_audit(act.clone(), 5).await.unwrap();
        of_ann.insert(0, act.id);
    }
    of_ann.truncate(5);
    let everything = AuditFilter::default();
    let mut kept = of_ann.clone();
    kept.push(of_bob.clone());
    assert_eq!(ids(&*store, &AuditReader::All, &everything).await, kept);
    for number in 9..12 {
        let act = record(actor(&ann), "source.run", "dc_1", T0 + MS * number);
        store.write_audit(act.clone(), 3).await.unwrap();
        of_ann.insert(0, act.id);
    }
    of_ann.truncate(3);
    of_ann.push(of_bob);
    assert_eq!(ids(&*store, &AuditReader::All, &everything).await, of_ann);
}

/// Those before a moment go, in bounded steps, and make room for later ones of their actor.
pub async fn old_records_expire_in_steps(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = user_id();
    for number in 0..5 {
        write(
            &*store,
            &record(actor(&ann), "source.run", "dc_1", T0 + MS * number),
        )
        .await;
    }
    let before_ms = T0 + MS * 3;
    let step = store.expire_audit(before_ms, 2).await.unwrap();
    assert_eq!((step.done, step.more), (2, true));
    let step = store.expire_audit(before_ms, 2).await.unwrap();
    assert_eq!((step.done, step.more), (1, false));
    let step = store.expire_audit(before_ms, 2).await.unwrap();
    assert_eq!((step.done, step.more), (0, false));
    let everything = AuditFilter::default();
    assert_eq!(ids(&*store, &AuditReader::All, &everything).await.len(), 2);
    let act = record(actor(&ann), "source.run", "dc_1", T0 + SECOND);
    store.write_audit(act, 3).await.unwrap();
    assert_eq!(ids(&*store, &AuditReader::All, &everything).await.len(), 3);
}

/// Records stay when the user and the workspace that they tell of are gone.
pub async fn records_outlast_those_they_tell_of(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let shared = team(&*store, "shared", &[&ann]).await;
    let act = record(actor(&ann.id), "source.deploy", "dc_1", T0);
    let act = owned_by(act, Some(&ann.id), Some(&shared.id));
    let id = write(&*store, &act).await;
    assert!(store.delete_user(&ann.id).await.unwrap());
    let found = ids(&*store, &AuditReader::All, &AuditFilter::default()).await;
    assert_eq!(found, [id]);
}
