//! The things that one who starts a server, or names its URL, may choose.

use http::request::Parts;
use percent_encoding::percent_decode_str;

/// The workspace of a server, and the actions that it offers by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// The workspace to work in; the person's own things without one.
    pub workspace_id: Option<String>,
    /// Keys of actions that are tools of their own, with typed inputs.
    pub actions: Vec<String>,
}

impl Settings {
    /// Those that the URL of a request asks for: `?workspace_id=o_…&actions=KEY,KEY`.
    pub(crate) fn of(parts: &Parts) -> Self {
        let mut settings = Self::default();
        let query = parts.uri.query().unwrap_or_default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = percent_decode_str(value).decode_utf8_lossy();
            match name {
                "workspace_id" => settings.workspace_id = Some(value.into_owned()),
                "actions" => {
                    let keys = value.split(',').filter(|key| !key.is_empty());
                    settings.actions.extend(keys.map(str::to_owned));
                }
                _ => {}
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_the_workspace_and_actions() {
        for (url, workspace, actions) in [
            ("/mcp", None, &[][..]),
            (
                "/mcp?actions=a,b%2Dc,&actions=d&other=1",
                None,
                &["a", "b-c", "d"],
            ),
            ("/mcp?workspace_id=o_1", Some("o_1"), &[]),
        ] {
            let (parts, ()) = http::Request::get(url).body(()).unwrap().into_parts();
            let settings = Settings::of(&parts);
            assert_eq!(settings.workspace_id.as_deref(), workspace, "{url}");
            assert_eq!(settings.actions, actions, "{url}");
        }
    }
}
