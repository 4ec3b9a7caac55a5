//! `/workflows/{id}/settings`: its ids, triggers with their endpoints, and deployments.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{id::WorkflowId, page::PageRequest};
use headwater_platform::DeploymentSummary;
use maud::{Markup, html};

use super::{deployment::standing, head::Shown};
use crate::{
    part::{
        code::copyable,
        empty::empty,
        pager::{Ends, pager},
        text, time,
    },
    path::PathId,
    query::ROWS,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Shows the settings of a workflow.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WorkflowId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let page = PageRequest {
        limit: ROWS,
        ..visitor.page_request()
    };
    let deployments = ui
        .platform
        .workflow_deployments(visitor.caller(), &id, &page)
        .await?;
    let workflow = &shown.view.workflow;
    let now_ms = visitor.now_ms;
    let body = html! {
        (shown.head(&visitor, "settings"))
        dl.facts {
            dt { "Id" } dd { code { (id) } }
            dt { "Slug" } dd { (text::value(&workflow.name_slug)) }
            dt { "Deployment" } dd { a href={ (shown.base()) "/steps" } title=(workflow.deployment_id) { "the newest" } ", which new runs follow" }
            dt { "Created" } dd { (time::ago(workflow.created_at.to_ms(), now_ms)) }
            dt { "Changed" } dd { (time::ago(workflow.updated_at.to_ms(), now_ms)) }
        }
        p.note { "Limits, retention and mail about errors are " code { "settings" } " of " code { "workflow.yaml" } "." }
        h2 { "Triggers" }
        (triggers(&shown))
        h2 { "Deployments" }
        (list(&shown.base(), &deployments.items, &visitor))
        (pager(&visitor, &Ends::of(&deployments, |deployment| &deployment.id)))
    };
    Ok(Page::of(
        Section::Workflows,
        format!("{} · settings", shown.name()),
        body,
    )
    .command(format!("headwater workflows describe {}", shown.quoted()))
    .command(format!("headwater deployments {}", shown.quoted())))
}

fn triggers(shown: &Shown) -> Markup {
    let triggers = &shown.view.triggers;
    html! {
        @if triggers.is_empty() {
            (empty("It has no triggers.", html! { p { "It runs when it is started by hand, or by another workflow." } }))
        } @else {
            table.list {
                thead { tr { th scope="col" { "Type" } th scope="col" { "Starts runs on" } th scope="col" { "Address" } th scope="col" { "Id" } } }
                tbody {
                    @for trigger in triggers {
                        tr {
                            th scope="row" { (trigger.kind) }
                            td data-label="Starts runs on" { (shown.in_a_word(trigger)) }
                            td data-label="Address" {
                                @if let Some(url) = &trigger.endpoint_url { (copyable(url)) }
                                @if let Some(mailbox) = &trigger.mailbox { (copyable(mailbox)) }
                            }
                            td data-label="Id" { code { (trigger.id) } }
                        }
                    }
                }
            }
        }
    }
}

fn list(base: &str, deployments: &[DeploymentSummary], visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Deployed" } th scope="col" { "Age" } th scope="col" { "State" } th scope="col" { "Action" } } }
            tbody {
                @for deployment in deployments {
                    @let page = format!("{base}/deployments/{}", deployment.id);
                    tr {
                        th scope="row" { a href=(page) title=(deployment.id) { (time::exact(deployment.created_at_ms)) } }
                        td data-label="Age" { (time::ago(deployment.created_at_ms, visitor.now_ms)) }
                        td data-label="State" { (standing(deployment, base)) }
                        td data-label="Action" { @if !deployment.is_current { a href={ (page) "/roll_back" } { "Roll back" } } }
                    }
                }
            }
        }
    }
}
