//! All that a form of props is shown with besides the values entered: what is wrong with them, and what came of a request.

use axum::http::StatusCode;
use headwater_model::{
    error::Invalid,
    prop::{PropDefinition, PropKind},
};
use headwater_platform::{PlatformError, TrialReport};
use maud::Markup;

use super::failure::{Failure, is_of_account};
use crate::{
    form::{Entered, Part, Wrong, WrongKind},
    problem::{Problem, capital},
};

/// The results that a form is shown with, besides the values entered.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) wrong: Vec<Wrong>,
    /// The error of the component's code that kept the act from being done.
    pub(crate) failure: Option<Broken>,
    /// The end of a trial.
    pub(crate) trial: Option<Box<TrialReport>>,
    /// The reason why the code beside the form was not saved.
    pub(crate) unsaved: Option<Markup>,
}

/// An error of the component's code.
pub(crate) struct Broken {
    /// The act that was not done, in words.
    pub(super) undone: &'static str,
    pub(super) message: String,
    pub(super) stack: Option<String>,
}

impl Findings {
    pub(super) fn wrong(kind: WrongKind, prop: &str, reason: impl Into<String>) -> Self {
        let wrong = Wrong {
            prop: prop.to_owned(),
            reason: reason.into(),
            kind,
        };
        Self {
            wrong: vec![wrong],
            ..Self::default()
        }
    }

    /// Whether there is nothing to tell.
    pub(super) fn is_fine(&self) -> bool {
        self.wrong.is_empty() && self.failure.is_none() && self.unsaved.is_none()
    }

    pub(super) fn status(&self) -> StatusCode {
        match self.is_fine() {
            true => StatusCode::OK,
            false => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}

/// An error that the form can show: of a value, of an account, or of the component's code. `undone` are the words for the
/// act that it ended.
pub(super) fn unless_ours(
    props: &[PropDefinition],
    entered: &Entered,
    error: PlatformError,
    undone: &'static str,
) -> Result<Findings, Problem> {
    let kind = WrongKind::Undone(undone);
    Ok(match Failure::of(error)? {
        Failure::Value(invalid) => of_value(invalid),
        Failure::Code { message, stack } => match account_of(props, entered, &message) {
            Some(prop) => Findings::wrong(kind, &prop, message),
            None => Findings {
                failure: Some(Broken {
                    undone,
                    message,
                    stack,
                }),
                ..Findings::default()
            },
        },
        Failure::Told(message) => Findings::wrong(kind, "", capital(&message)),
    })
}

/// The same for options of a prop, which are told at its field.
pub(super) fn unless_ours_at(
    prop: &str,
    props: &[PropDefinition],
    entered: &Entered,
    error: PlatformError,
) -> Result<Findings, Problem> {
    let kind = WrongKind::Options;
    Ok(match Failure::of(error)? {
        Failure::Value(invalid) => of_value(invalid),
        Failure::Code { message, .. } => {
            let account = account_of(props, entered, &message);
            Findings::wrong(kind, account.as_deref().unwrap_or(prop), message)
        }
        Failure::Told(message) => Findings::wrong(kind, prop, message),
    })
}

/// The prop whose account has to be mended, if an error says so and only one comes into question.
fn account_of(props: &[PropDefinition], entered: &Entered, message: &str) -> Option<String> {
    let has_account = |prop: &&PropDefinition| {
        prop.kind() == PropKind::App && entered.part(Part::Value, &prop.name).is_some()
    };
    let mut chosen = props.iter().filter(has_account);
    match (is_of_account(message), chosen.next(), chosen.next()) {
        (true, Some(prop), None) => Some(prop.name.clone()),
        _ => None,
    }
}

/// The prop of `PROP.part`.
fn of_value(invalid: Invalid) -> Findings {
    let kind = WrongKind::Unfit;
    match invalid.field.split_once('.') {
        Some((prop, part)) => Findings::wrong(kind, prop, format!("{part}: {}", invalid.reason)),
        None => Findings::wrong(kind, &invalid.field, invalid.reason.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
