//! A form of props that was sent: options and further props are loaded, or the source is deployed or updated.

use std::sync::Arc;

use axum::response::IntoResponse as _;
use headwater_model::prop::{ConfiguredProps, PropDefinition};
use headwater_platform::{
    CallTarget, ComponentInput, DeploySource, PlatformError, SourceView, UpdateSource,
};
use serde_json::Value;

use super::{
    event::Sent,
    failure::NOT_TRIED,
    findings::{Findings, unless_ours},
    options::{Renewed, load, renew},
    wizard::{ADDITIONAL, Wizard},
};
use crate::{
    address::Address as _,
    form::{Entered, Given, Part, Wrong, missing, read_all},
    problem::Problem,
    reply::{FormReply, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The words for further props that did not come.
const NO_FIELDS: &str = "Further fields could not be loaded";

/// The request that a button of the form stands for.
#[derive(Debug, PartialEq, Eq)]
enum Action<'a> {
    /// The options of a prop, from the first page on.
    Load(&'a str),
    /// The next page of them.
    More(&'a str),
    /// The props that the present values lead to.
    Reload,
    /// The options that depend on a value that was changed.
    Renew,
    /// The same form, with accounts that were connected meanwhile, and the times that follow from its timers.
    Show,
    /// A run without deploying.
    Try,
    /// The end of it.
    Deploy,
    /// The end of it, with a run next.
    DeployAndRun,
}

impl<'a> Action<'a> {
    fn of(text: &'a str) -> Self {
        match text.split_once(':') {
            Some(("load", prop)) => Self::Load(prop),
            Some(("more", prop)) => Self::More(prop),
            _ if text == "reload" => Self::Reload,
            _ if text == "renew" => Self::Renew,
            _ if text == "show" => Self::Show,
            _ if text == "try" => Self::Try,
            _ if text == "run" => Self::DeployAndRun,
            _ => Self::Deploy,
        }
    }
}

/// Answers a form that was sent.
pub(crate) async fn answer(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    mut wizard: Wizard,
    mut entered: Entered,
) -> FormReply {
    let unsaved = wizard.take_code(ui, visitor, &entered).await?;
    let wizard = &wizard;
    if unsaved.is_some() {
        let findings = Findings {
            unsaved,
            ..Findings::default()
        };
        let page = wizard.page(ui, visitor, &entered, &findings).await?;
        return Ok(page.into_response());
    }
    let action = entered.text("action").unwrap_or_default().to_owned();
    let action = Action::of(&action);
    let renewed = if action == Action::Show {
        Renewed::default()
    } else {
        renew(ui, visitor, wizard, &mut entered).await?
    };
    let mut findings = match action {
        Action::Load(prop) | Action::More(prop) if renewed.has(prop) => Findings::default(),
        Action::Load(prop) => {
            entered.forget(Part::Loaded, prop);
            load(ui, visitor, wizard, (&mut entered, prop)).await?
        }
        Action::More(prop) => load(ui, visitor, wizard, (&mut entered, prop)).await?,
        Action::Reload => reload(ui, visitor, wizard, &mut entered, NO_FIELDS).await?,
        Action::Renew | Action::Show => Findings::default(),
        // A choice that was dropped is chosen anew first.
        Action::Try | Action::Deploy | Action::DeployAndRun if !renewed.wrong.is_empty() => {
            Findings::default()
        }
        Action::Try => attempt(ui, visitor, wizard, &mut entered).await?,
        Action::Deploy | Action::DeployAndRun => {
            match finish(ui, visitor, wizard, &mut entered).await? {
                Ok(view) => return Ok(done(visitor, wizard, &view, &action)),
                Err(findings) => findings,
            }
        }
    };
    let mut wrong = renewed.wrong;
    wrong.append(&mut findings.wrong);
    findings.wrong = wrong;
    let page = wizard.page(ui, visitor, &entered, &findings).await?;
    Ok(page.into_response())
}

fn done(
    visitor: &Visitor,
    wizard: &Wizard,
    view: &SourceView,
    action: &Action<'_>,
) -> axum::response::Response {
    let name = &view.source.spec.name;
    let mut said = match wizard.source {
        Some(_) => format!("{name} is updated"),
        None => format!("{name} is deployed"),
    };
    if let Some(warning) = view.warnings.first() {
        said = format!("{said}. {warning}");
    }
    let base = view.source.id.address();
    let target = if *action == Action::DeployAndRun {
        format!("{base}/run")
    } else {
        base
    };
    see_other_saying(visitor, &target, &said)
}

/// Computes the component's props for the present values.
async fn reload(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
    undone: &'static str,
) -> Result<Findings, Problem> {
    let target = wizard.target(entered);
    let computed = ui.platform.component_props(visitor.caller(), &target).await;
    match computed {
        Ok(props) => {
            carry(wizard, &props, entered);
            Ok(Findings::default())
        }
        Err(error) => unless_ours(&wizard.props(entered), entered, error, undone),
    }
}

/// Keeps the props beyond the component's own in the form.
fn carry(wizard: &Wizard, props: &[PropDefinition], entered: &mut Entered) {
    let own = &wizard.component.description.props;
    let additional: Vec<_> = props.iter().filter(|prop| !own.contains(prop)).collect();
    entered.set_text(
        ADDITIONAL,
        serde_json::to_string(&additional).unwrap_or_default(),
    );
}

/// Runs the code once with the values, and deploys nothing.
async fn attempt(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
) -> Result<Findings, Problem> {
    let given = match whole(ui, visitor, wizard, entered, NOT_TRIED).await? {
        Ok(given) => given,
        Err(findings) => return Ok(findings),
    };
    let target = CallTarget {
        configured_props: given.values,
        ..wizard.target(entered)
    };
    let sent = Sent::of(entered);
    let tried = match sent.value(ui, visitor, target.source_id.as_ref()).await {
        Ok(event) => {
            let tried = ui.platform.try_source(visitor.caller(), &target, event);
            tried.await
        }
        Err(error) => Err(error),
    };
    match tried {
        Ok(report) => Ok(Findings {
            trial: Some(Box::new(report)),
            ..Findings::default()
        }),
        Err(error) => unless_ours(&wizard.props(entered), entered, error, NOT_TRIED),
    }
}

/// Every value of the form, or what is wrong with them.
async fn whole(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
    undone: &'static str,
) -> Result<Result<Given, Findings>, Problem> {
    // The values may lead to other props than the form had.
    if wizard.component.description.has_additional_props {
        let findings = reload(ui, visitor, wizard, entered, undone).await?;
        if !findings.is_fine() {
            return Ok(Err(findings));
        }
    }
    let props = wizard.props(entered);
    let mut given = read_all(&props, entered);
    let is_kept = |name: &str| {
        let view = wizard.source.as_ref();
        view.is_some_and(|view| view.secrets.iter().any(|secret| secret == name))
    };
    let is_told = |wrong: &Wrong| given.wrong.iter().any(|told| told.prop == wrong.prop);
    let lacking: Vec<_> = missing(&props, &given.values, is_kept, |app| {
        ui.app_name(app).to_owned()
    })
    .into_iter()
    .filter(|wrong| !is_told(wrong))
    .collect();
    given.wrong.extend(lacking);
    given
        .wrong
        .sort_by_key(|wrong| props.iter().position(|prop| prop.name == wrong.prop));
    if !given.wrong.is_empty() {
        return Ok(Err(Findings {
            wrong: given.wrong,
            ..Findings::default()
        }));
    }
    Ok(Ok(given))
}

/// Deploys or updates, or tells why not.
async fn finish(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
) -> Result<Result<SourceView, Findings>, Problem> {
    let undone = wizard.undone();
    let given = match whole(ui, visitor, wizard, entered, undone).await? {
        Ok(given) => given,
        Err(findings) => return Ok(Err(findings)),
    };
    let props = wizard.props(entered);
    let sent = match &wizard.source {
        Some(view) => update(ui, visitor, wizard, (view, &props, given.values, entered)).await,
        None => deploy(ui, visitor, wizard, given.values, entered).await,
    };
    match sent {
        Ok(view) => Ok(Ok(view)),
        Err(error) => unless_ours(&wizard.props(entered), entered, error, undone).map(Err),
    }
}

async fn deploy(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    values: ConfiguredProps,
    entered: &Entered,
) -> Result<SourceView, PlatformError> {
    let request = DeploySource {
        component: component(wizard),
        name: entered.text("name").map(|name| name.trim().to_owned()),
        configured_props: values,
        is_isolated: entered.text("isolated") == Some("true"),
        workspace_id: wizard.workspace.clone(),
    };
    ui.platform.deploy_source(visitor.caller(), request).await
}

async fn update(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    (view, props, mut values, entered): (&SourceView, &[PropDefinition], ConfiguredProps, &Entered),
) -> Result<SourceView, PlatformError> {
    // A value that was taken out of the form is taken away; the node keeps secrets nevertheless.
    for prop in props
        .iter()
        .filter(|prop| !prop.flag("hidden") && !prop.flag("disabled"))
    {
        if !values.contains_key(&prop.name) && view.configured_props.contains_key(&prop.name) {
            values.insert(prop.name.clone(), Value::Null);
        }
    }
    let is_other = wizard.component.id != view.source.spec.component_id;
    let request = UpdateSource {
        component: if is_other {
            component(wizard)
        } else {
            ComponentInput::default()
        },
        name: entered.text("name").map(|name| name.trim().to_owned()),
        active: None,
        configured_props: Some(values),
        is_isolated: Some(entered.text("isolated") == Some("true")),
        refresh_deps: false,
    };
    ui.platform
        .update_source(visitor.caller(), &view.source.id, request)
        .await
}

fn component(wizard: &Wizard) -> ComponentInput {
    ComponentInput {
        component_id: Some(wizard.component.id.to_string()),
        ..ComponentInput::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_name_what_they_ask_for() {
        for (text, expected) in [
            ("load:board", Action::Load("board")),
            ("load:a:b", Action::Load("a:b")),
            ("more:board", Action::More("board")),
            ("reload", Action::Reload),
            ("renew", Action::Renew),
            ("show", Action::Show),
            ("try", Action::Try),
            ("run", Action::DeployAndRun),
            ("deploy", Action::Deploy),
            ("", Action::Deploy),
            ("other:x", Action::Deploy),
        ] {
            assert_eq!(Action::of(text), expected);
        }
    }
}
