//! The pages of `/connect`: the result in a sentence, and the next step. No script, nothing from
//! elsewhere.

use headwater_model::app::{AppField, AuthType};
use headwater_platform::{Connected, FieldsForm};
use serde_json::Value;

use crate::{docs::escape, page::html};

/// The fields to enter. They are sent to the address that the form came from, which has the token.
pub(super) fn form(form: &FieldsForm) -> String {
    let app = escape(&form.app.name);
    let mut content = format!(
        "<h1>Connect {app}</h1>\n<p>As account <b>{}</b>.</p>\n",
        escape(&form.account)
    );
    if let Some(problem) = &form.problem {
        content.push_str(&format!(
            "<p class=\"problem\" role=\"alert\">{}</p>\n",
            escape(problem)
        ));
    }
    content.push_str("<form method=\"post\">\n");
    for field in &form.app.fields {
        let is_kept = form.kept.contains(&field.name);
        content.push_str(&input(field, form.known.get(&field.name), is_kept));
    }
    let (button, note) = match form.app.auth {
        AuthType::Oauth2 => (
            format!("Continue to {app}"),
            "The app will ask whether to give this node access.",
        ),
        AuthType::Fields | AuthType::None => (
            "Connect".to_owned(),
            "This node stores it encrypted, and passes it to the components that you configure with this account.",
        ),
    };
    content.push_str(&format!(
        "<button>{button}</button>\n</form>\n<p class=\"note\">{note}</p>\n"
    ));
    html(&format!("Connect {app}"), &content)
}

fn input(field: &AppField, known: Option<&Value>, is_kept: bool) -> String {
    let (name, label) = (escape(&field.name), escape(&field.label));
    let kind = match (field.secret, field.port) {
        (true, _) => "password",
        (false, true) => "number\" min=\"1\" max=\"65535",
        (false, false) => "text",
    };
    let (note, required) = match (is_kept, field.optional) {
        (true, _) => (" <span class=\"note\">(kept if left empty)</span>", ""),
        (false, true) => (" <span class=\"note\">(optional)</span>", ""),
        (false, false) => ("", " required"),
    };
    let value = match known {
        Some(Value::String(text)) => escape(text),
        Some(Value::Number(number)) => number.to_string(),
        _ if field.secret => String::new(),
        _ => escape(&field.default),
    };
    let hint = match field.hint.as_str() {
        "" => String::new(),
        hint => format!("<span class=\"note\">{}</span>\n", escape(hint)),
    };
    if !field.options.is_empty() {
        let options = field.options.iter().map(|option| {
            let chosen = if escape(&option.value) == value {
                " selected"
            } else {
                ""
            };
            let (value, label) = (escape(&option.value), escape(&option.label));
            format!("<option value=\"{value}\"{chosen}>{label}</option>\n")
        });
        let options: String = options.collect();
        return format!(
            "<label>{label}{note}\n<select name=\"{name}\"{required}>\n<option value=\"\">—</option>\n{options}</select></label>\n{hint}"
        );
    }
    if field.multiline {
        // A line break right behind the tag is not part of the text.
        return format!(
            "<label>{label}{note}\n<textarea name=\"{name}\" rows=\"6\" autocomplete=\"off\" \
             spellcheck=\"false\"{required}>\n{value}</textarea></label>\n{hint}"
        );
    }
    format!(
        "<label>{label}{note}\n<input name=\"{name}\" type=\"{kind}\" value=\"{value}\" \
         autocomplete=\"off\" spellcheck=\"false\"{required}></label>\n{hint}"
    )
}

/// There is an account.
pub(super) fn connected(connected: &Connected) -> String {
    let (app, account) = (escape(&connected.app), escape(&connected.account));
    let content = match &connected.warning {
        None => format!(
            "<h1>{app} is connected</h1>\n<p>As account <b>{account}</b>. Go back to the tab that you came from; you can close this one.</p>\n"
        ),
        Some(warning) => format!(
            "<h1>{app} is connected, but may not work</h1>\n<p>As account <b>{account}</b>. The test of its credentials did \
             not succeed: {}. You can close this page, and go back to the tab that you came from.</p>\n",
            escape(warning)
        ),
    };
    html(&format!("{app} is connected"), &content)
}

/// There is none.
pub(super) fn failed(reason: &str) -> String {
    let content = format!(
        "<h1>Nothing was connected</h1>\n<p>{}</p>\n",
        escape(reason)
    );
    html("Nothing was connected", &content)
}
