//! The form that somebody left to connect an account in another tab: the way back to it goes along to the end.

use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use crate::{address::own_path, visit::Visit};

/// The parameter and the field that carry its address.
const FORM: &str = "form";

/// The address of the form, if one waits.
pub(super) struct Waiting(Option<String>);

impl Waiting {
    /// The form that the page's address names.
    pub(super) fn of(visit: &Visit) -> Self {
        Self::named(visit.parameter(FORM).as_deref())
    }

    /// The form that a field of the page's own form names.
    pub(super) fn sent(given: &[(String, String)]) -> Self {
        let found = given.iter().find(|(name, _)| name == FORM);
        Self::named(found.map(|(_, address)| address.as_str()))
    }

    /// Only forms that ask for accounts.
    pub(super) fn named(address: Option<&str>) -> Self {
        let is_form = |address: &&str| {
            let path = address.split('?').next().unwrap_or_default();
            path.starts_with("/deploy/") || path.starts_with("/sources/") && path.ends_with("/edit")
        };
        Self(address.map(own_path).filter(is_form).map(str::to_owned))
    }

    /// An address that leads on with it.
    pub(super) fn through(&self, path: &str) -> String {
        let Some(form) = &self.0 else {
            return path.to_owned();
        };
        let mark = if path.contains('?') { '&' } else { '?' };
        let mut query = Serializer::new(String::new());
        query.append_pair(FORM, form);
        format!("{path}{mark}{}", query.finish())
    }

    /// The field that carries it.
    pub(super) fn field(&self) -> Markup {
        html! { @if let Some(form) = &self.0 { input type="hidden" name=(FORM) value=(form); } }
    }

    /// The end of the way.
    pub(super) fn back(&self) -> Markup {
        html! {
            @if let Some(form) = &self.0 {
                section.card.returning {
                    p { b { "Go back to the tab that you came from." } " Its form finds the account by itself; without script, press “Look for new accounts” there." }
                    div.actions {
                        button.primary type="button" data-closes hidden { "Close this tab" }
                        a.button href=(form) { "Begin the form here anew" }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_forms_that_ask_for_accounts_are_led_back_to() {
        for (address, expected) in [
            ("/deploy/rss?prop.url=x", true),
            ("/sources/dc_1/edit", true),
            ("/sources/dc_1/delete", false),
            ("//example.com/deploy/", false),
            ("https://example.com/deploy/x", false),
            ("/signout", false),
        ] {
            assert_eq!(
                Waiting::named(Some(address)).0.is_some(),
                expected,
                "{address}"
            );
        }
        let waiting = Waiting::named(Some("/deploy/a?b=c"));
        assert_eq!(
            waiting.through("/accounts/new?app=x"),
            "/accounts/new?app=x&form=%2Fdeploy%2Fa%3Fb%3Dc"
        );
        assert_eq!(Waiting(None).through("/accounts/a"), "/accounts/a");
    }
}
