//! The bearer token of an HTTP trigger: a text, or a variable of the owner.

use headwater_workflow::definition::Template;
use serde_json::Value;

use crate::error::PlatformError;

/// The expression of a variable, before its name.
const VARIABLE: &str = "process.env.";

/// The token that requests have to bring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// The token itself.
    Token(String),
    /// The name of the variable that has it.
    Variable(String),
}

impl Bearer {
    /// The token of a trigger; `None` if its value is of another form.
    pub(crate) fn of(template: &Template) -> Option<Self> {
        let Value::String(text) = template.to_source() else {
            return None;
        };
        let Some(expression) = text.trim().strip_prefix("{{") else {
            let is_plain = !text.is_empty() && !text.contains("{{");
            return is_plain.then_some(Self::Token(text));
        };
        let name = expression
            .strip_suffix("}}")?
            .trim()
            .strip_prefix(VARIABLE)?;
        let is_name =
            name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty();
        is_name.then(|| Self::Variable(name.to_owned()))
    }
}

/// Checks that the token of a trigger can be known when a request comes.
///
/// # Errors
/// `Invalid` for other expressions than a variable.
pub(crate) fn check(template: Option<&Template>) -> Result<(), PlatformError> {
    match template.map(Bearer::of) {
        None | Some(Some(_)) => Ok(()),
        Some(None) => Err(PlatformError::invalid(
            "auth.bearer",
            "is neither a text nor `{{process.env.NAME}}`; set a variable (`headwater variables set NAME`) and name it",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_is_a_text_or_a_variable() {
        let bearer = |text: &str| Bearer::of(&Template::compile(&json!(text)));
        assert_eq!(bearer("abc"), Some(Bearer::Token("abc".to_owned())));
        assert_eq!(
            bearer("{{process.env.TOKEN}}"),
            Some(Bearer::Variable("TOKEN".to_owned()))
        );
        assert_eq!(
            bearer("{{ process.env.TOKEN }}"),
            Some(Bearer::Variable("TOKEN".to_owned()))
        );
        for text in [
            "",
            "a {{process.env.A}}",
            "{{process.env.A + 1}}",
            "{{steps.trigger.event}}",
            "{{process.env.}}",
        ] {
            assert_eq!(bearer(text), None, "{text}");
        }
    }
}
