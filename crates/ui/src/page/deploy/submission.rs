//! A form of props that was sent: options and further props are loaded, or the source is deployed or updated.

use std::sync::Arc;

use axum::response::IntoResponse as _;
use headwater_model::{
    error::Invalid,
    prop::{ConfiguredProps, PropDefinition, PropKind},
};
use headwater_platform::{
    CallTarget, ComponentInput, ComponentRef, DeploySource, OptionsQuery, PlatformError,
    SourceView, UpdateSource,
};
use serde_json::Value;

use super::{
    failure::Failure,
    wizard::{ADDITIONAL, Findings, Wizard},
};
use crate::{
    address::Address as _,
    form::{Choice, Entered, Given, Loaded, Part, Wrong, missing, read_all},
    problem::Problem,
    reply::{FormReply, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The request that a button of the form stands for.
#[derive(Debug, PartialEq, Eq)]
enum Action<'a> {
    /// The options of a prop, from the first page on.
    Load(&'a str),
    /// The next page of them.
    More(&'a str),
    /// The props that the present values lead to.
    Reload,
    /// The same form, with accounts that were connected meanwhile.
    Accounts,
    /// A run without deploying.
    Try,
    /// The end of it.
    Deploy,
}

impl<'a> Action<'a> {
    fn of(text: &'a str) -> Self {
        match text.split_once(':') {
            Some(("load", prop)) => Self::Load(prop),
            Some(("more", prop)) => Self::More(prop),
            _ if text == "reload" => Self::Reload,
            _ if text == "accounts" => Self::Accounts,
            _ if text == "try" => Self::Try,
            _ => Self::Deploy,
        }
    }
}

/// Answers a form that was sent.
pub(crate) async fn answer(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    mut entered: Entered,
) -> FormReply {
    let action = entered.text("action").unwrap_or_default().to_owned();
    let findings = match Action::of(&action) {
        Action::Load(prop) => {
            entered.forget(Part::Loaded, prop);
            load(ui, visitor, wizard, (&mut entered, prop)).await?
        }
        Action::More(prop) => load(ui, visitor, wizard, (&mut entered, prop)).await?,
        Action::Reload => reload(ui, visitor, wizard, &mut entered).await?,
        Action::Accounts => Findings::default(),
        Action::Try => attempt(ui, visitor, wizard, &mut entered).await?,
        Action::Deploy => match finish(ui, visitor, wizard, &mut entered).await? {
            Ok(view) => return Ok(done(visitor, wizard, &view)),
            Err(findings) => findings,
        },
    };
    let page = wizard.page(ui, visitor, &entered, &findings).await?;
    Ok(page.into_response())
}

fn done(visitor: &Visitor, wizard: &Wizard, view: &SourceView) -> axum::response::Response {
    let name = &view.source.spec.name;
    let mut said = match wizard.source {
        Some(_) => format!("{name} is updated"),
        None => format!("{name} is deployed"),
    };
    if let Some(warning) = view.warnings.first() {
        said = format!("{said}. {warning}");
    }
    see_other_saying(visitor, &view.source.id.address(), &said)
}

/// The values as far as they are known, for a call of the component's code.
fn target(wizard: &Wizard, entered: &Entered) -> CallTarget {
    let props = wizard.props(entered);
    CallTarget {
        component: ComponentRef::Id(wizard.component.id.clone()),
        workspace_id: wizard.workspace.clone(),
        source_id: wizard.source.as_ref().map(|view| view.source.id.clone()),
        configured_props: read_all(&props, entered).values,
    }
}

/// Loads a page of a prop's options into the form.
async fn load(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    (entered, prop): (&mut Entered, &str),
) -> Result<Findings, Problem> {
    let props = wizard.props(entered);
    let Some(definition) = props.iter().find(|one| one.name == prop) else {
        return Ok(Findings::wrong(prop, "the component has no such prop"));
    };
    let target = target(wizard, entered);
    let is_lacking = |one: &&PropDefinition| {
        one.kind() == PropKind::App
            && one.is_required()
            && !target.configured_props.contains_key(&one.name)
    };
    if let Some(app) = props.iter().find(is_lacking).and_then(PropDefinition::app) {
        let reason = format!("choose an account of {app} first: the options come from there");
        return Ok(Findings::wrong(prop, reason));
    }
    let before = Loaded::of(entered, prop);
    let query = match &before {
        Some(before) => before.query.clone(),
        None => entered.part(Part::Query, prop).map(str::to_owned),
    };
    let asked = OptionsQuery {
        prop: prop.to_owned(),
        page: before.as_ref().map_or(0, |before| before.page + 1),
        prev_context: before.as_ref().and_then(|before| before.context.clone()),
        query: query.clone(),
    };
    let page = asked.page;
    let found = ui
        .platform
        .prop_options(visitor.caller(), &target, asked)
        .await;
    let found = match found {
        Ok(found) => found,
        Err(error) => return unless_ours(error, prop),
    };
    let options = found.options.iter();
    let choices = options.map(|option| Choice::new(definition, &option.label, &option.value, true));
    let loaded = Loaded {
        page,
        query,
        ..before.unwrap_or_default()
    };
    loaded
        .with(choices.collect(), found.context)
        .keep(entered, prop);
    Ok(Findings::default())
}

/// Computes the component's props for the present values.
async fn reload(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
) -> Result<Findings, Problem> {
    let target = target(wizard, entered);
    let computed = ui.platform.component_props(visitor.caller(), &target).await;
    match computed {
        Ok(props) => {
            carry(wizard, &props, entered);
            Ok(Findings::default())
        }
        Err(error) => unless_ours(error, ""),
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
    let given = match whole(ui, visitor, wizard, entered).await? {
        Ok(given) => given,
        Err(findings) => return Ok(findings),
    };
    let target = CallTarget {
        configured_props: given.values,
        ..target(wizard, entered)
    };
    match ui
        .platform
        .try_source(visitor.caller(), &target, None)
        .await
    {
        Ok(report) => Ok(Findings {
            trial: Some(Box::new(report)),
            ..Findings::default()
        }),
        Err(error) => unless_ours(error, ""),
    }
}

/// Every value of the form, or what is wrong with them.
async fn whole(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
) -> Result<Result<Given, Findings>, Problem> {
    // The values may lead to other props than the form had.
    if wizard.component.description.has_additional_props {
        let findings = reload(ui, visitor, wizard, entered).await?;
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
    let lacking: Vec<_> = missing(&props, &given.values, is_kept)
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
    let given = match whole(ui, visitor, wizard, entered).await? {
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
        Err(error) => unless_ours(error, "").map(Err),
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

/// An error that the form can show: of a value, or of the component's code. `prop` is what was asked about.
fn unless_ours(error: PlatformError, prop: &str) -> Result<Findings, Problem> {
    Ok(match Failure::of(error)? {
        Failure::Value(invalid) => of_value(invalid),
        Failure::Code { message, stack } if prop.is_empty() => Findings {
            failure: Some((message, stack)),
            ..Findings::default()
        },
        Failure::Code { message, .. } => Findings::wrong(prop, message),
        Failure::Told(message) => Findings::wrong(prop, message),
    })
}

/// The prop of `PROP.part`.
fn of_value(invalid: Invalid) -> Findings {
    match invalid.field.split_once('.') {
        Some((prop, part)) => Findings::wrong(prop, format!("{part}: {}", invalid.reason)),
        None => Findings::wrong(&invalid.field, invalid.reason.as_str()),
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
            ("accounts", Action::Accounts),
            ("try", Action::Try),
            ("deploy", Action::Deploy),
            ("", Action::Deploy),
            ("other:x", Action::Deploy),
        ] {
            assert_eq!(Action::of(text), expected);
        }
    }

    #[test]
    fn an_error_of_a_value_is_told_at_its_field() {
        for (field, prop, reason) in [
            ("count", "count", "no"),
            ("timer.cron", "timer", "cron: no"),
        ] {
            let wrong = of_value(Invalid::new(field, "no")).wrong.pop().unwrap();
            assert_eq!((&*wrong.prop, &*wrong.reason), (prop, reason));
        }
    }
}
