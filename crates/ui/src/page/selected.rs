//! Acts on rows that were selected in a list: `…/selected?act=&id=&id=`, whose page asks first and says how many they are.

use std::str::FromStr;

use axum::{http::StatusCode, response::Response};
use headwater_platform::PlatformError;
use maud::{Markup, html};
use serde::Deserialize;
use url::form_urlencoded::{self, Serializer};

use crate::{
    address::own_path,
    part::{
        confirm::{Question, confirm_busy},
        text::{counted, grouped},
    },
    path::Named,
    problem::Problem,
    reply::{Page, Section, see_other_saying},
    visit::Visitor,
};

/// Rows that one act may be for: two pages of a list.
const SELECTED_MAX: usize = 100;

/// Rows that were selected.
pub(crate) struct Selected<T> {
    pub(crate) act: String,
    pub(crate) ids: Vec<T>,
}

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Back {
    #[serde(default)]
    pub(crate) back: String,
}

impl<T: FromStr + Named + PartialEq> Selected<T> {
    /// The rows that the page's address names.
    ///
    /// # Errors
    /// Tells that nothing is selected, or too much, and of an id that names nothing.
    pub(crate) fn of(visitor: &Visitor) -> Result<Self, Problem> {
        let query = visitor.location.split_once('?');
        let query = query.map_or("", |(_, query)| query);
        let mut ids = Vec::new();
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            if name != "id" {
                continue;
            }
            let id = text
                .parse()
                .map_err(|_| Problem::not_found(T::KIND, &text))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let wrong = |title: &str, text: String| Problem::new(StatusCode::BAD_REQUEST, title, text);
        match ids.len() {
            0 => Err(wrong(
                "Nothing is selected",
                "Go back, and check the boxes of the rows that it is for.".to_owned(),
            )),
            1..=SELECTED_MAX => Ok(Self {
                act: visitor.parameter("act").unwrap_or_default(),
                ids,
            }),
            count => Err(wrong(
                "Too much is selected",
                format!(
                    "{} rows are selected; at most {SELECTED_MAX} can be changed at once.",
                    grouped(count as u64)
                ),
            )),
        }
    }
}

/// A problem for an act that there is not.
pub(crate) fn no_act(act: &str) -> Problem {
    let text = format!("The address asks for `{act}`, which cannot be done to what is selected.");
    Problem::new(StatusCode::BAD_REQUEST, "There is no such act", text)
}

/// The question before an act on rows.
pub(crate) struct Asked<'a> {
    pub(crate) section: Section,
    pub(crate) title: String,
    pub(crate) button: &'a str,
    /// The button's text while it is done.
    pub(crate) busy: &'a str,
    pub(crate) consequences: Markup,
    /// One line for each row.
    pub(crate) rows: Vec<Markup>,
    /// The list, if it is not known from where the person came.
    pub(crate) list: &'a str,
    pub(crate) command: String,
}

impl Asked<'_> {
    /// The page that asks. Its form is sent to the same address.
    pub(crate) fn page(self, visitor: &Visitor) -> Page {
        let from = visitor.came_from.as_deref();
        let from = from.filter(|from| !from.contains("/selected?"));
        let back = &with_nothing_selected(from.unwrap_or(self.list));
        let question = Question {
            title: &self.title,
            consequences: html! {
                (self.consequences)
                ul.rows { @for row in &self.rows { li { (row) } } }
            },
            action: &visitor.location,
            fields: &[("back", back)],
            button: self.button,
            back,
        };
        Page::of(
            self.section,
            self.title.clone(),
            confirm_busy(&question, self.busy),
        )
        .command(self.command)
    }
}

/// The address of a list without the rows that were selected by it.
fn with_nothing_selected(address: &str) -> String {
    let Some((path, query)) = address.split_once('?') else {
        return address.to_owned();
    };
    let mut kept = Serializer::new(String::new());
    kept.extend_pairs(
        form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "selected"),
    );
    match kept.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// The course of an act on several rows.
#[derive(Default)]
pub(crate) struct Tally {
    done: u64,
    gone: u64,
    left: u64,
    /// The reason why the first of those that were left was.
    reason: Option<String>,
    first_gone: Option<Problem>,
}

impl Tally {
    /// Counts a row. One that does not allow it is left as it is.
    ///
    /// # Errors
    /// Those of the node, with which no other row would do better.
    pub(crate) fn add<T>(&mut self, result: Result<T, PlatformError>) -> Result<(), Problem> {
        match result {
            Ok(_) => self.done += 1,
            Err(error @ (PlatformError::Unavailable(_) | PlatformError::Internal(_))) => {
                return Err(error.into());
            }
            Err(error @ PlatformError::NotFound { .. }) => {
                self.gone += 1;
                self.first_gone.get_or_insert_with(|| error.into());
            }
            Err(error) => {
                self.left += 1;
                self.reason.get_or_insert_with(|| error.to_string());
            }
        }
        Ok(())
    }

    /// Counts rows that were changed in one step, and those that did not allow it, with the reason.
    pub(crate) fn add_all(&mut self, done: u64, left: u64, reason: &str) {
        self.done += done;
        self.left += left;
        if left > 0 {
            self.reason.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// Goes back to the list, which says what was done: `one` and `many` are things with their verb.
    ///
    /// # Errors
    /// That nothing selected is there.
    pub(crate) fn back(
        self,
        visitor: &Visitor,
        (list, back): (&str, &str),
        (one, many, done): (&str, &str, &str),
    ) -> Result<Response, Problem> {
        let told = self.told((one, many, done));
        if let (Some(problem), 0, 0) = (self.first_gone, self.done, self.left) {
            return Err(problem);
        }
        let back = match own_path(back) {
            "/" => list,
            path => path,
        };
        Ok(see_other_saying(visitor, back, &told))
    }

    fn told(&self, (one, many, done): (&str, &str, &str)) -> String {
        let mut told = format!("{} {done}", counted(self.done, one, many));
        if self.gone > 0 {
            told += &format!("; {} not there any more", counted(self.gone, "was", "were"));
        }
        if self.left > 0 {
            told += &format!("; {} left as before", counted(self.left, "was", "were"));
        }
        if let Some(reason) = &self.reason {
            told += &format!(": {reason}");
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_come_back_to_with_nothing_selected() {
        for (address, expected) in [
            ("/sources", "/sources"),
            ("/sources?selected=all", "/sources"),
            (
                "/runs?status=any&selected=all&after=x",
                "/runs?status=any&after=x",
            ),
        ] {
            assert_eq!(with_nothing_selected(address), expected);
        }
    }

    #[test]
    fn a_tally_says_what_was_left_and_why() {
        let mut tally = Tally::default();
        let words = ("delivery is", "deliveries are", "discarded");
        tally.add(Ok(())).unwrap();
        assert_eq!(tally.told(words), "1 delivery is discarded");
        tally.add(Ok(())).unwrap();
        for reason in ["it has been delivered", "another reason"] {
            let error = PlatformError::Conflict(reason.to_owned());
            tally.add::<()>(Err(error)).unwrap();
        }
        let gone = PlatformError::NotFound {
            kind: "delivery",
            id: "dlv_1".to_owned(),
        };
        tally.add::<()>(Err(gone)).unwrap();
        assert_eq!(
            tally.told(words),
            "2 deliveries are discarded; 1 was not there any more; 2 were left as before: it has been delivered"
        );
        let error = PlatformError::Internal("the disk is full".to_owned());
        assert!(tally.add::<()>(Err(error)).is_err());
    }
}
