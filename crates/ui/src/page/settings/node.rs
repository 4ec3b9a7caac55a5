//! `/settings/node`: the node's version, checks, work and configuration, for its administrator.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::page::PageRequest;
use headwater_platform::{Backlog, PlatformConfig, Setting, SettingOrigin};
use maud::{Markup, html};

use super::{check_admin, doctor, nodes, page};
use crate::{
    part::{
        event_list::live_bar,
        text::{self, grouped},
        time,
    },
    reply::PageReply,
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Shows the node.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    check_admin(&visitor)?;
    let found = ui.platform.readiness().await;
    let left = ui.platform.work_left().await;
    let config = ui.platform.config();
    let nodes = match ui.platform.is_of_cluster() {
        true => Some(ui.platform.nodes(visitor.caller()).await?),
        false => None,
    };
    let body = html! {
        dl.facts {
            dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
            dt { "Address" } dd { code { (config.public_url) } }
            dt { "More" } dd { a href="/readyz" { "readiness" } ", " a href="/metrics" { "metrics" } ", " a href="/docs" { "the API's reference" } }
        }
        h2 { "Checks" }
        (doctor::table(&found, config))
        @if let Some(nodes) = &nodes {
            h2 { "Nodes" }
            (nodes::table(nodes, &visitor))
        }
        (live_bar())
        div data-part="work" data-goes-on="" {
        h2 { "At work" }
        dl.facts {
            (backlog(left, &visitor))
            dt { "Sources with work" } dd { (grouped(found.running_sources as u64)) }
            dt { "Runs in flight" } dd { (grouped(found.engine.runs as u64)) }
            dt { "Workers of sources" } dd { (grouped(found.engine.source_workers as u64)) }
            dt { "Warm workers" } dd { (grouped(found.engine.warm_workers as u64)) }
        }
        }
        h2 { "Limits in force" }
        (configuration(config))
        h2 { "Options" }
        (options(&config.settings))
    };
    let page = page(&visitor, "node", body)
        .changing(&Topic::Runs, &visitor)
        .command("headwater doctor");
    Ok(match nodes {
        Some(_) => page.command("headwater nodes"),
        None => page,
    })
}

/// The work that waits in the store.
fn backlog(left: Backlog, visitor: &Visitor) -> Markup {
    let counted = |count: u64| {
        let plus = if count >= u64::from(Backlog::COUNTED_MAX) {
            "+"
        } else {
            ""
        };
        format!("{}{plus}", grouped(count))
    };
    html! {
        dt { "Runs queued or under way" }
        dd {
            (counted(left.invocations))
            @if let Some(since) = left.oldest_invocation_at_ms { ", the first of those that are due queued " (time::ago(since, visitor.now_ms)) }
        }
        dt { "Deliveries pending" } dd { (counted(left.pending_deliveries)) ", " (counted(left.due_deliveries)) " of them due now" }
        dt { "Events not yet dispatched" } dd { (grouped(left.undispatched_events)) }
    }
}

fn configuration(config: &PlatformConfig) -> Markup {
    let deliveries = &config.deliveries;
    let number = |value: Option<u64>| value.map_or_else(|| "unlimited".to_owned(), grouped);
    html! {
        dl.facts {
            dt { "Domain of endpoints" } dd { @match &config.endpoint_domain { Some(domain) => { code { (domain) } } None => { "none: endpoints are below the node's address" } } }
            dt { "Host of mail" } dd { code { (config.mail_host) } }
            dt { "Mail out" } dd { (if config.mail.is_some() { "by a relay" } else { "none: set --smtp-url and --mail-from" }) }
            dt { "Objects (S3)" } dd { (if config.s3.is_some() { "set up" } else { "none: set --s3-access-key and --s3-secret-key" }) }
            dt { "Apps" } dd { (grouped(config.apps.search("", &PageRequest::first(1)).total_count)) }
            dt { "Events kept" } dd { (grouped(config.retained_events.into())) " of each emitter and kind of channel" }
            dt { "Runs kept" } dd { (grouped(config.retained_runs.into())) " that succeeded and " (grouped(config.retained_failed_runs.into())) " that failed, of each source or workflow" }
            dt { "Audit records" } dd { @match config.retained_audit_days { 0 => "none: --retained-audit-days is 0" days => { "kept for " (text::counted(days.into(), "day", "days")) } } }
            dt { "Waiting events" } dd { (grouped(config.queued_events_per_owner.into())) " of each owner" }
            dt { "Requests at once" } dd { (grouped(config.source_concurrency as u64)) " of each source" }
            dt { "Runs a day" } dd { (number(config.daily_invocations_quota)) " of each user" }
            dt { "Requests a second" } dd { (number(config.rate_limit.map(|limit| limit.get().into()))) " of each key" }
            dt { "Files" } dd { (text::bytes(usize::try_from(config.file_bytes_per_owner).unwrap_or(usize::MAX))) " of each owner" }
            dt { "Deliveries at once" } dd { (grouped(deliveries.webhook_concurrency as u64)) " of a webhook, " (grouped(deliveries.host_concurrency as u64)) " to a host, " (grouped(deliveries.node_concurrency as u64)) " in all" }
            dt { "Time of a delivery" } dd { (time::took(deliveries.attempt_timeout)) }
            dt { "Grace at a stop" } dd { (time::took(config.shutdown_grace)) }
        }
    }
}

/// Every option of the node, with its value and where it was set.
fn options(settings: &[Setting]) -> Markup {
    html! {
        p.note { "A flag counts before its variable, and that before the file of " code { "--config" } ". " code { "headwater serve --help" } " tells what each means." }
        table.list {
            thead { tr { th scope="col" { "Option" } th scope="col" { "Value" } th scope="col" { "Set by" } } }
            tbody { @for setting in settings { tr {
                th scope="row" { code { "--" (setting.name) } }
                td data-label="Value" {
                    @match (&setting.value, &setting.default) {
                        (Some(value), _) if value.is_empty() => { span.note { "given without a value" } }
                        (Some(value), _) => { code { (text::visible(value)) } }
                        (None, _) if setting.is_secret && setting.origin != SettingOrigin::Default => { span.note { "set, not shown" } }
                        (None, Some(default)) => (default),
                        (None, None) => { span.note { "not set" } }
                    }
                }
                td data-label="Set by" { (origin(setting.origin)) }
            } } }
        }
    }
}

fn origin(of: SettingOrigin) -> Markup {
    match of {
        SettingOrigin::Flag => html! { b { "flag" } },
        SettingOrigin::Environment => html! { b { "environment" } },
        SettingOrigin::File => html! { b { "file" } },
        SettingOrigin::Default => html! { span.note { "default" } },
    }
}
