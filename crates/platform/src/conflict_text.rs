//! The texts of conflicts, for people: the thing, the fact and the next step.

use headwater_model::id::RunnableId;
use headwater_store::{Conflict, Entity, InUse, Last, Taken};

/// The text of a conflict.
pub(crate) fn conflict_text(conflict: &Conflict) -> String {
    match conflict {
        Conflict::LeaseLost => "the lease was lost to another node; try again".to_owned(),
        Conflict::Held { .. } => "another node runs it; try again in a moment".to_owned(),
        Conflict::Gone(entity) => format!("`{entity}` is gone"),
        Conflict::Inactive(Entity::Runnable(RunnableId::Workflow(id))) => format!(
            "workflow `{id}` is not active: only runs by hand start; switch it on with `headwater workflows activate {id}`, \
             and take `inactive: true` out of its workflow.yaml before the next deployment"
        ),
        Conflict::Inactive(entity) => format!("`{entity}` is not active; activate it first"),
        Conflict::QueueFull(entity) => format!(
            "as many runs of `{entity}` as may wait do so already; try again later, or raise `queue.size` in its settings"
        ),
        Conflict::Taken(taken) => taken_text(taken),
        Conflict::Last(last) => last_text(last),
        Conflict::InUse(in_use) => in_use_text(in_use),
        Conflict::Ended(_) => "this connect has ended already; begin another".to_owned(),
        Conflict::Behind => "an earlier commit of the source was refused; try again".to_owned(),
    }
}

fn taken_text(taken: &Taken) -> String {
    match taken {
        Taken::Username(name) => {
            format!("there is a user `{name}` already; choose another username")
        }
        Taken::Orgname(name) => {
            format!("there is a workspace `{name}` already; choose another orgname")
        }
        Taken::Workflow(id) => format!(
            "workflow `{id}` belongs to another owner; delete its `.workflow.state` to deploy it as a new one"
        ),
        Taken::EndpointToken | Taken::KeyHash | Taken::Invocation(_) => {
            "a generated id is taken already; try again".to_owned()
        }
    }
}

fn last_text(last: &Last) -> String {
    match last {
        Last::Key(id) => format!(
            "key `{id}` is your last one, and the one you are using; create another first and revoke this one with it"
        ),
        Last::Member {
            workspace_id,
            user_id,
        } => format!(
            "user `{user_id}` is the last member of workspace `{workspace_id}`; add another member first"
        ),
    }
}

fn in_use_text(in_use: &InUse) -> String {
    let InUse {
        user_id,
        sources,
        workflows,
        webhooks,
    } = in_use;
    let counts = [
        (sources, "sources"),
        (workflows, "workflows"),
        (webhooks, "webhooks"),
    ];
    let counts = counts.iter().filter(|(count, _)| **count > 0);
    let counts: Vec<_> = counts.map(|(count, of)| format!("{count} {of}")).collect();
    let counts = counts.join(" and ");
    format!(
        "user `{user_id}` still has {counts}; delete them first, or revoke the user's keys to shut it out"
    )
}
