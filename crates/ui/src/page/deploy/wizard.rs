//! The form of a component's props with everything around it, as a page.

use headwater_model::{
    component::{Description, slug},
    id::WorkspaceId,
    page::PageRequest,
    prop::{self, PropDefinition, PropKind},
};
use headwater_platform::{
    AccountUsers, AccountView, CallTarget, ComponentRef, HealthStatus, PlatformError,
    SavedComponent, SourceView, prop_warnings,
};
use maud::{Markup, html};
use serde_json::Value;

use super::{
    event::Sent,
    findings::{Broken, Findings},
    trial::{self, Tried},
};
use crate::{
    address::Address as _,
    assets::FORMS,
    form::{Entered, fill, read_all},
    page::accounts::uses::{can_be_checked, proof},
    part::{
        code::quoted,
        field::{AccountChoice, Surroundings, fields, summary},
        icon::{Icon, icon},
        markdown::markdown,
        text,
    },
    reply::{Page, Section},
    state::Ui,
    visit::Visitor,
};

/// Rows of each list that the form offers.
const OFFERED: u32 = 100;
/// JSON of further props that a form carries.
const ADDITIONAL_BYTES: usize = 1024 * 1024;
/// The id of the form.
const FORM: &str = "props";
/// The field that carries them.
pub(super) const ADDITIONAL: &str = "additional";

/// The form of one component: for a new source, or for one that is there.
pub(crate) struct Wizard {
    pub(crate) component: SavedComponent,
    pub(crate) source: Option<SourceView>,
    pub(crate) workspace: Option<WorkspaceId>,
    /// The address that the form is sent to.
    pub(crate) action: String,
    /// The code as it is written, where it stands beside the form.
    pub(crate) code: Option<String>,
}

impl Wizard {
    fn description(&self) -> &Description {
        &self.component.description
    }

    /// The component's own props, and those that the form carries, or that the source has.
    pub(super) fn props(&self, entered: &Entered) -> Vec<PropDefinition> {
        let carried = entered
            .text(ADDITIONAL)
            .filter(|text| text.len() <= ADDITIONAL_BYTES);
        let carried =
            carried.and_then(|text| serde_json::from_str::<Vec<PropDefinition>>(text).ok());
        let stored = || {
            let source = self.source.as_ref();
            source.map(|view| view.source.spec.dynamic_props.clone())
        };
        let additional = carried.or_else(stored).unwrap_or_default();
        let additional = match self.description().has_additional_props {
            true => additional,
            false => Vec::new(),
        };
        prop::merge(&self.description().props, &additional)
    }

    /// The values as far as they are known, for a call of the component's code.
    pub(super) fn target(&self, entered: &Entered) -> CallTarget {
        CallTarget {
            component: ComponentRef::Id(self.component.id.clone()),
            workspace_id: self.workspace.clone(),
            source_id: self.source.as_ref().map(|view| view.source.id.clone()),
            configured_props: read_all(&self.props(entered), entered).values,
        }
    }

    /// The fields with the values that the source has.
    pub(crate) fn stored(&self) -> Entered {
        let mut entered = Entered::default();
        let Some(view) = &self.source else {
            return entered;
        };
        for prop in self.props(&entered) {
            let value = view
                .configured_props
                .get(&prop.name)
                .filter(|value| !value.is_null());
            if let Some(value) = value.filter(|_| !view.secrets.contains(&prop.name)) {
                fill(&prop, value, &mut entered);
            }
        }
        entered.set_text("name", &*view.source.spec.name);
        entered.set_text(
            "isolated",
            if view.source.spec.is_isolated {
                "true"
            } else {
                ""
            },
        );
        entered
    }

    /// The fields with the values of another source of the component.
    pub(super) fn like(&self, view: SourceView) -> Entered {
        let name = format!("{} copy", view.source.spec.name);
        let additional = serde_json::to_string(&view.source.spec.dynamic_props);
        let former = Self {
            component: self.component.clone(),
            source: Some(view),
            workspace: None,
            action: String::new(),
            code: None,
        };
        let mut entered = former.stored();
        entered.set_text("name", name);
        if self.description().has_additional_props {
            entered.set_text(ADDITIONAL, additional.unwrap_or_default());
        }
        entered
    }

    /// The page of the form.
    pub(crate) async fn page(
        &self,
        ui: &Ui,
        visitor: &Visitor,
        entered: &Entered,
        findings: &Findings,
    ) -> Result<Page, PlatformError> {
        let props = self.props(entered);
        let around = self.surroundings(ui, visitor, &props).await?;
        let entered = &around.with_only_accounts(&props, entered);
        let title = match &self.source {
            Some(view) => format!("Edit {}", view.source.spec.name),
            None => format!("Deploy {}", self.description().name),
        };
        let source = self.source.as_ref().map(|view| &view.source.id);
        let event = Sent::of(entered).field(ui, visitor, source).await?;
        let body = html! {
            (self.head(&title))
            @if let Some(unsaved) = &findings.unsaved { (unsaved) }
            (summary(&props, &findings.wrong))
            (failure(findings))
            @if let Some(report) = &findings.trial { (trial::result(report, Tried::Draft(self.description().hooks), Some(FORM))) }
            form.props.with-code[self.code.is_some()] #(FORM) method="post" action=(self.action) data-props data-script=(FORMS.path()) {
                // The first button is the one that the Enter key presses.
                button.unseen name="action" value="deploy" tabindex="-1" aria-hidden="true" { (self.verb()) }
                (self.carried(entered, &props))
                @if let Some(code) = &self.code { (self.beside(code)) }
                div {
                    div data-fields { (fields(&props, entered, &findings.wrong, &around)) }
                    (event)
                    (self.further(entered))
                    div.actions {
                        button.primary name="action" value="deploy" { (icon(Icon::Ok)) (self.verb()) }
                        button name="action" value="try" data-tests { (icon(Icon::Play)) "Try it" }
                        @if self.description().has_additional_props {
                            button name="action" value="reload" { "Apply and show more fields" }
                        }
                        a.button.quiet href=(self.back()) { "Cancel" }
                    }
                }
            }
        };
        Ok(Page::of(Section::Sources, title, body)
            .with_status(findings.status())
            .command(self.command(&props, entered)))
    }

    fn head(&self, title: &str) -> Markup {
        let description = self.description();
        let warnings = prop_warnings(&description.props);
        html! {
            p.crumbs {
                @match &self.source {
                    Some(view) => { a href="/sources" { "Sources" } " / " a href=(self.back()) { (text::line(&view.source.spec.name)) } }
                    None => { a href="/deploy" { "Deploy" } }
                }
            }
            h1 { (text::value(title)) }
            p.note {
                @if let Some(key) = &description.key { code { (text::line(key)) } " " }
                @if let Some(version) = &description.version { "version " (text::line(version)) " · " }
                code { (self.component.id) }
            }
            @if let Some(about) = &description.description { (markdown(about)) }
            @for warning in &warnings { p.note { (icon(Icon::Warning)) (text::sentence(warning)) } }
        }
    }

    fn verb(&self) -> &'static str {
        match self.source {
            Some(_) => "Update the source",
            None => "Deploy",
        }
    }

    /// The words for a deployment that failed.
    pub(super) fn undone(&self) -> &'static str {
        match self.source {
            Some(_) => "It was not updated",
            None => "It was not deployed",
        }
    }

    fn back(&self) -> String {
        match &self.source {
            Some(view) => format!("{}/config", view.source.id.address()),
            None => "/deploy".to_owned(),
        }
    }

    fn command(&self, props: &[PropDefinition], entered: &Entered) -> String {
        let own = &self.description().key;
        let id = self.component.id.as_str();
        let mut line = match &self.source {
            Some(view) => format!("headwater update {}", quoted(&view.source.name_slug)),
            None => format!("headwater deploy {}", quoted(own.as_deref().unwrap_or(id))),
        };
        let given = arguments(props, entered);
        if given.is_empty() {
            line.push_str(" --prop NAME=VALUE");
        }
        for argument in given {
            line.push_str(&format!(" --prop {}", quoted(&argument)));
        }
        if let Some(name) = entered.text("name").filter(|_| self.source.is_none()) {
            line.push_str(&format!(" --name {}", quoted(name)));
        }
        line
    }

    /// The props beyond the component's own, so that the next submission knows them.
    fn carried(&self, entered: &Entered, props: &[PropDefinition]) -> Markup {
        let own = &self.description().props;
        let is_additional = |prop: &&PropDefinition| !own.contains(prop);
        let additional: Vec<_> = props.iter().filter(is_additional).collect();
        let text = serde_json::to_string(&additional).unwrap_or_default();
        html! {
            @if self.description().has_additional_props && (!additional.is_empty() || entered.text(ADDITIONAL).is_some()) {
                input type="hidden" name=(ADDITIONAL) value=(text);
            }
        }
    }

    fn further(&self, entered: &Entered) -> Markup {
        let is_isolated = entered.text("isolated") == Some("true");
        html! {
            details.further open[self.source.is_some() || entered.text("name").is_some() || is_isolated] {
                summary { "Name and worker" }
                div.field {
                    label for="name" { "Name " span.note { "optional" } }
                    input #name name="name" value=(entered.text("name").unwrap_or_default()) placeholder=(slug(&self.description().name)) autocomplete="off";
                }
                div.field {
                    label.choice { input type="checkbox" name="isolated" value="true" checked[is_isolated]; "A worker of its own" }
                    p.hint { "It shares no process with other sources. It takes more memory." }
                }
            }
        }
    }

    /// The address of the form, to come back to: with the values of a link, or of code that was just saved.
    fn place(&self, visitor: &Visitor) -> String {
        let path = self.action.split('?').next();
        match path == Some(visitor.path()) {
            true => visitor.location.clone(),
            false => self.action.clone(),
        }
    }

    /// The things that the fields offer.
    async fn surroundings(
        &self,
        ui: &Ui,
        visitor: &Visitor,
        props: &[PropDefinition],
    ) -> Result<Surroundings, PlatformError> {
        let has = |kind| props.iter().any(|prop| prop.kind() == kind);
        let accounts = match has(PropKind::App) {
            true => accounts(ui, visitor, self.workspace.as_ref(), props).await?,
            false => Vec::new(),
        };
        let stores = match has(PropKind::DataStore) {
            true => {
                let page = PageRequest::first(OFFERED);
                let workspace = self.workspace.clone();
                let stores = ui
                    .platform
                    .data_stores(visitor.caller(), workspace, &page)
                    .await?;
                stores
                    .items
                    .iter()
                    .map(|store| store.name.to_string())
                    .collect()
            }
            false => Vec::new(),
        };
        let view = self.source.as_ref();
        let endpoint = |(name, value): (&String, &Value)| {
            let url = value.get("endpoint_url")?.as_str()?;
            Some((name.clone(), url.to_owned()))
        };
        let endpoints = view
            .into_iter()
            .flat_map(|view| view.configured_props.iter());
        let apps = props.iter().filter_map(PropDefinition::app);
        let apps = apps.map(|app| (app.to_owned(), ui.app_name(app).to_owned()));
        Ok(Surroundings {
            form: self.place(visitor),
            apps: apps.collect(),
            accounts,
            stores,
            endpoints: endpoints.filter_map(endpoint).collect(),
            kept: view.map(|view| view.secrets.clone()).unwrap_or_default(),
            now_ms: visitor.now_ms,
        })
    }
}

/// The values that were entered, as the command line takes them; those of secrets it asks for.
fn arguments(props: &[PropDefinition], entered: &Entered) -> Vec<String> {
    let given = read_all(props, entered).values;
    let shown = props.iter().filter(|prop| !prop.is_secret());
    let argument = |prop: &PropDefinition| {
        let value = prop.final_value(given.get(&prop.name)?);
        let account = value.get("authProvisionId").and_then(Value::as_str);
        let text = account.or(value.as_str()).map(str::to_owned);
        Some(format!(
            "{}={}",
            prop.name,
            text.unwrap_or_else(|| value.to_string())
        ))
    };
    shown.filter_map(argument).collect()
}

/// The accounts of the person, and those of the workspace.
async fn accounts(
    ui: &Ui,
    visitor: &Visitor,
    workspace: Option<&WorkspaceId>,
    props: &[PropDefinition],
) -> Result<Vec<AccountChoice>, PlatformError> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    let is_asked_for = |view: &AccountView| {
        let mut apps = props.iter().filter_map(PropDefinition::app);
        apps.any(|app| app == view.account.app)
    };
    let mut found: Vec<AccountChoice> = Vec::new();
    let places = [None, workspace.cloned()];
    let places = if workspace.is_some() {
        &places[..]
    } else {
        &places[..1]
    };
    for place in places {
        let page = PageRequest::first(OFFERED);
        let page = platform.accounts(caller, place.clone(), &page).await?;
        // Runs say more only of those that the node has not checked.
        let is_open =
            |view: &AccountView| view.health.status == HealthStatus::Unknown && is_asked_for(view);
        let has_open = page.items.iter().any(is_open);
        let users = match has_open {
            true => platform.account_users(caller, place.clone()).await?,
            false => AccountUsers::default(),
        };
        for view in page.items {
            let used = proof(&users, &view).map(|(_, at_ms)| at_ms);
            let id = view.account.id.to_string();
            let can_be_checked = can_be_checked(ui, &view);
            if !found.iter().any(|known| known.id == id) {
                let (app, name) = (view.account.app, view.account.name);
                found.push(AccountChoice {
                    id,
                    app,
                    name,
                    status: view.health.status,
                    can_be_checked,
                    used_at_ms: used,
                });
            }
        }
    }
    Ok(found)
}

fn failure(findings: &Findings) -> Markup {
    html! {
        @if let Some(Broken { undone, message, stack }) = &findings.failure {
            section.summary-of-errors role="alert" tabindex="-1" {
                h2 { (icon(Icon::Failed)) (undone) }
                p { (text::sentence(message)) }
                @if let Some(stack) = stack { (text::stack(stack)) }
                p.note { "Nothing was changed. The form below is as it was." }
            }
        }
    }
}

/// The workspace that new things are to live in, as the page's address says.
pub(crate) fn workspace_of(visitor: &Visitor) -> Option<WorkspaceId> {
    visitor.workspace.clone()
}
