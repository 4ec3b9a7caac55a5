//! Subscriptions on the pages of both their sides: names, rows, the form that adds one, and the one that removes it.

use std::collections::HashMap;

use headwater_model::{
    id::{EmitterId, ListenerId, UserId, WorkspaceId},
    page::PageRequest,
    subscription::{EmitterPattern, Subscription},
};
use headwater_platform::{KnownNames, PlatformError, Wanted};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    page::webhooks::list::name as webhook_name,
    part::{
        icon::{Icon, icon},
        name::{self, named},
        text,
    },
    problem::capital,
    state::Ui,
    visit::Visitor,
};

/// Things of a kind that are offered; others are subscribed by their ids.
const OFFERED: u32 = 100;

/// The fields of both forms: the other side, and the channel. An empty channel is the default one.
#[derive(Default, Deserialize)]
pub(crate) struct Given {
    #[serde(default)]
    pub(crate) other: String,
    #[serde(default)]
    channel: String,
}

impl Given {
    pub(crate) fn channel(&self) -> &str {
        self.channel.trim()
    }
}

/// A form as it was sent, and the reason why it was refused.
pub(crate) struct Refused {
    given: Given,
    reason: String,
}

impl Refused {
    /// The refusal that the person can mend; any other error is told on a page of its own.
    pub(crate) fn of(given: Given, error: PlatformError) -> Result<Self, PlatformError> {
        if !matches!(
            error,
            PlatformError::Invalid(_) | PlatformError::NotFound { .. }
        ) {
            return Err(error);
        }
        Ok(Self {
            given,
            reason: capital(&error.to_string()),
        })
    }
}

/// Something that can be the other side, with its name.
struct Named {
    id: String,
    name: String,
}

/// The things of a workspace, or of the visitor, that events come from or go to.
pub(crate) struct Things {
    sources: Vec<Named>,
    workflows: Vec<Named>,
    webhooks: Vec<Named>,
    /// The names of what is subscribed, whether it is offered or not.
    known: KnownNames,
    /// The names of workspaces all of whose events somebody gets.
    workspaces: HashMap<WorkspaceId, String>,
    own: UserId,
}

impl Things {
    pub(crate) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        workspace: Option<&WorkspaceId>,
    ) -> Result<Self, PlatformError> {
        let (platform, caller) = (&ui.platform, visitor.caller());
        let wanted = Wanted::default;
        let (sources, workflows, webhooks) = tokio::try_join!(
            async {
                let page = PageRequest::first(OFFERED);
                platform
                    .sources(caller, workspace.cloned(), wanted(), &page)
                    .await
            },
            async {
                let page = PageRequest::first(OFFERED);
                platform
                    .listed_workflows(caller, workspace.cloned(), wanted(), &page)
                    .await
            },
            async {
                let page = PageRequest::first(OFFERED);
                platform.webhooks(caller, workspace.cloned(), &page).await
            },
        )?;
        let thing = |id: String, name: &str| Named {
            id,
            name: name.to_owned(),
        };
        Ok(Self {
            sources: sources
                .items
                .iter()
                .map(|view| thing(view.source.id.to_string(), &view.source.spec.name))
                .collect(),
            workflows: workflows
                .items
                .iter()
                .map(|workflow| thing(workflow.id.to_string(), &workflow.name))
                .collect(),
            webhooks: webhooks
                .items
                .iter()
                .map(|webhook| thing(webhook.id.to_string(), webhook_name(webhook)))
                .collect(),
            known: KnownNames::default(),
            workspaces: HashMap::new(),
            own: caller.user_id().clone(),
        })
    }

    /// The same with the names of both sides of these subscriptions.
    pub(crate) async fn naming(
        mut self,
        ui: &Ui,
        visitor: &Visitor,
        subscriptions: &[Subscription],
    ) -> Result<Self, PlatformError> {
        let emitters = subscriptions.iter().filter_map(|one| match &one.emitter {
            EmitterPattern::One(id) => Some(id.clone()),
            EmitterPattern::AllSources
            | EmitterPattern::AllWorkflows
            | EmitterPattern::User(_)
            | EmitterPattern::Workspace(_) => None,
        });
        let listeners = subscriptions.iter().map(|one| one.listener.clone());
        let names = ui.platform.names(visitor.caller(), emitters, listeners);
        self.known = names.await?;
        for one in subscriptions {
            let EmitterPattern::Workspace(id) = &one.emitter else {
                continue;
            };
            if self.workspaces.contains_key(id) {
                continue;
            }
            // Somebody who left it keeps the subscription.
            if let Ok(view) = ui.platform.workspace(visitor.caller(), id).await {
                self.workspaces.insert(id.clone(), view.workspace.name);
            }
        }
        Ok(self)
    }

    pub(crate) fn emitter(&self, pattern: &EmitterPattern) -> Markup {
        html! {
            @match pattern {
                EmitterPattern::One(id) => { (name::emitter(&self.known, id)) }
                EmitterPattern::AllSources => { "every source" }
                EmitterPattern::AllWorkflows => { "every workflow" }
                EmitterPattern::User(id) if *id == self.own => { span title=(id) { "everything that you deploy" } }
                EmitterPattern::User(id) => { "everything of the user " code { (id) } }
                EmitterPattern::Workspace(id) => { "everything of the workspace " span title=(id) { (named(self.workspaces.get(id).map(String::as_str), id.as_str())) } }
            }
        }
    }

    pub(crate) fn listener(&self, listener: &ListenerId) -> Markup {
        name::listener(&self.known, listener)
    }

    /// The form that adds a listener to an emitter.
    pub(crate) fn add_listener(
        &self,
        action: &str,
        emitter: &EmitterId,
        refused: Option<&Refused>,
    ) -> Markup {
        let own = emitter.to_string();
        let groups = [
            ("Webhooks", &self.webhooks),
            ("Sources", &self.sources),
            ("Workflows", &self.workflows),
        ];
        let options = option_groups(&groups, &own, chosen(refused));
        add(action, "Listener", &options, refused)
    }

    /// The form that adds an emitter to a listener.
    pub(crate) fn add_emitter(&self, action: &str, refused: Option<&Refused>) -> Markup {
        let groups = [("Sources", &self.sources), ("Workflows", &self.workflows)];
        let chosen = chosen(refused);
        let options = html! {
            (option_groups(&groups, "", chosen))
            optgroup label="Everything" {
                option value="dc_*" selected[chosen == "dc_*"] { "every source, later ones too" }
                option value="p_*" selected[chosen == "p_*"] { "every workflow, later ones too" }
            }
        };
        add(action, "Gets the events of", &options, refused)
    }
}

fn chosen(refused: Option<&Refused>) -> &str {
    refused.map_or("", |refused| &refused.given.other)
}

fn option_groups(groups: &[(&str, &Vec<Named>)], own: &str, chosen: &str) -> Markup {
    html! {
        @for (label, things) in groups {
            @if things.iter().any(|thing| thing.id != own) {
                optgroup label=(label) {
                    @for thing in things.iter().filter(|thing| thing.id != own) {
                        option value=(thing.id) selected[chosen == thing.id] { (text::visible(&thing.name)) }
                    }
                }
            }
        }
    }
}

fn add(action: &str, label: &str, options: &Markup, refused: Option<&Refused>) -> Markup {
    let channel = refused.map_or("", |refused| refused.given.channel.as_str());
    html! {
        form.adding method="post" action=(action) {
            @if let Some(refused) = refused {
                div.summary-of-errors role="alert" #wrong { (icon(Icon::Warning)) a href="#other" { (text::sentence(&refused.reason)) } }
            }
            div.field {
                label for="other" { (label) }
                select #other name="other" required aria-invalid=[refused.map(|_| "true")] autofocus[refused.is_some()] {
                    option value="" { "Choose" }
                    (options)
                }
            }
            div.field {
                label for="channel" { "Channel" }
                input #channel name="channel" value=(channel) autocomplete="off" list="channels" aria-describedby="channel-hint";
                datalist #channels { option value="$errors"; option value="$logs"; }
                p.hint #channel-hint { "Empty: all that it emits. Otherwise the name of one channel; " code { "$errors" } " has the failures of its runs." }
            }
            button.primary { (icon(Icon::Plus)) "Add" }
        }
    }
}

/// A table of subscriptions. `other` is the side that the page is not about; `remove` is the address of the form
/// that ends one, with the value that the form names the other side by. Only their creators can end them.
pub(crate) fn table(
    subscriptions: &[&Subscription],
    visitor: &Visitor,
    heading: &str,
    other: impl Fn(&Subscription) -> Markup,
    remove: impl Fn(&Subscription) -> (String, String),
) -> Markup {
    let own = visitor.caller().user_id();
    html! {
        table.list {
            thead { tr { th scope="col" { (heading) } th scope="col" { "Channel" } th scope="col" { "Id" } th scope="col" { "Action" } } }
            tbody {
                @for one in subscriptions {
                    tr {
                        td { (other(one)) }
                        td data-label="Channel" {
                            @if one.channel.name().is_empty() { span.note { "all but the node's own" } }
                            @else { (text::line(one.channel.name())) }
                        }
                        td data-label="Id" { code { (one.id) } }
                        td data-label="Action" {
                            @if one.user_id != *own { span.note { "another member's" } }
                            @else {
                                @let (action, value) = remove(one);
                                form method="post" action=(action) {
                                    input type="hidden" name="other" value=(value);
                                    input type="hidden" name="channel" value=(one.channel.name());
                                    button.danger { "Remove" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
