//! Options that the component computes: pages of them are loaded into the form, and those that were loaded for other values
//! are loaded anew.

use std::sync::Arc;

use headwater_model::prop::{PropDefinition, PropKind};
use headwater_platform::OptionsQuery;

use super::{
    findings::{Findings, unless_ours_at},
    wizard::Wizard,
};
use crate::{
    form::{
        Choice, Entered, Loaded, Part, Wrong, WrongKind, basis, has_computed_options, is_chosen,
    },
    problem::Problem,
    state::Ui,
    visit::Visitor,
};

/// Pages of options that a choice is looked for on.
const PAGES: usize = 10;

/// The fields whose options were loaded for other values.
#[derive(Default)]
pub(super) struct Renewed {
    props: Vec<String>,
    /// Choices that were dropped, and options that did not come.
    pub(super) wrong: Vec<Wrong>,
}

impl Renewed {
    /// Whether the options of the prop are those of now.
    pub(super) fn has(&self, prop: &str) -> bool {
        self.props.iter().any(|renewed| renewed == prop)
    }
}

/// Brings options up to date that depend on values which were changed since the form was shown. A choice that is not among
/// them any more is dropped.
pub(super) async fn renew(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
) -> Result<Renewed, Problem> {
    let props = wizard.props(entered);
    let mut renewed = Renewed::default();
    for (at, prop) in props.iter().enumerate() {
        let shown_for = entered.part(Part::Basis, &prop.name);
        let is_old = shown_for.is_some_and(|mark| mark != basis(&props[..at], entered));
        entered.forget(Part::Basis, &prop.name);
        if !is_old || !has_computed_options(prop) {
            continue;
        }
        let had_options = entered.part(Part::Loaded, &prop.name).is_some();
        entered.forget(Part::Loaded, &prop.name);
        // A value that somebody writes there is no choice.
        if !prop.is_list() && entered.part(Part::Own, &prop.name).is_some() {
            entered.forget(Part::Value, &prop.name);
        }
        if entered.part(Part::Value, &prop.name).is_some() {
            let told = choose_again(ui, visitor, wizard, entered, (prop, had_options)).await?;
            renewed.props.push(prop.name.clone());
            renewed.wrong.extend(told);
        }
    }
    Ok(renewed)
}

/// Loads the options of a prop until what was chosen is among them, and drops what is not.
async fn choose_again(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    entered: &mut Entered,
    (prop, had_options): (&PropDefinition, bool),
) -> Result<Vec<Wrong>, Problem> {
    let name = prop.name.as_str();
    let chosen: Vec<String> = entered
        .parts(Part::Value, name)
        .map(str::to_owned)
        .collect();
    let is_there = |loaded: &Loaded, text: &str| {
        let mut choices = loaded.choices.iter();
        choices.any(|choice| is_chosen(prop, choice, text))
    };
    let mut loaded = Loaded::default();
    for _ in 0..PAGES {
        let found = load(ui, visitor, wizard, (entered, name)).await?;
        if !found.is_fine() {
            let mut wrong = found.wrong;
            // One that was written without options is perhaps right.
            if had_options {
                entered.forget(Part::Value, name);
                wrong.push(Wrong {
                    prop: name.to_owned(),
                    reason: "was chosen among the options of other values: choose again".to_owned(),
                    kind: WrongKind::Unfit,
                });
                wrong.dedup_by(|later, first| later.prop == first.prop);
            }
            return Ok(wrong);
        }
        loaded = Loaded::of(entered, name).unwrap_or_default();
        if !loaded.has_more || chosen.iter().all(|text| is_there(&loaded, text)) {
            break;
        }
    }
    let (kept, dropped): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|text| is_there(&loaded, text));
    entered.forget(Part::Value, name);
    for text in kept {
        entered.add(Part::Value, name, text);
    }
    let told = dropped.iter().map(|text| Wrong {
        prop: name.to_owned(),
        reason: format!(
            "“{}” is not among the options of the values above: choose again",
            Choice::of_text(text).label
        ),
        kind: WrongKind::Unfit,
    });
    Ok(told.collect())
}

/// Loads a page of a prop's options into the form.
pub(super) async fn load(
    ui: &Arc<Ui>,
    visitor: &Visitor,
    wizard: &Wizard,
    (entered, prop): (&mut Entered, &str),
) -> Result<Findings, Problem> {
    let props = wizard.props(entered);
    let Some(definition) = props.iter().find(|one| one.name == prop) else {
        let reason = "the component has no such prop";
        return Ok(Findings::wrong(WrongKind::Options, prop, reason));
    };
    let target = wizard.target(entered);
    let is_lacking = |one: &&PropDefinition| {
        one.kind() == PropKind::App
            && one.is_required()
            && !target.configured_props.contains_key(&one.name)
    };
    if let Some(app) = props.iter().find(is_lacking).and_then(PropDefinition::app) {
        let app = ui.app_name(app);
        let reason = format!("choose an account of {app} first: the options come from there");
        return Ok(Findings::wrong(WrongKind::Options, prop, reason));
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
        Err(error) => {
            entered.set(Part::Failed, prop, "true");
            return unless_ours_at(prop, &props, entered, error);
        }
    };
    let options = found.options.iter();
    let choices = options.map(|option| Choice::new(definition, &option.label, &option.value, true));
    let loaded = Loaded {
        page,
        query,
        ..before.unwrap_or_default()
    };
    loaded
        .with(choices.collect(), found.context, found.is_whole)
        .keep(entered, prop);
    Ok(Findings::default())
}
