//! JSON values as trees that open and close without script. What is large is cut, and a link shows the rest.

use maud::{Markup, html};
use serde_json::Value;

use super::{
    payload,
    text::{cut, grouped, visible},
};

/// Children of an array or object that are shown at once.
const CHILDREN: usize = 100;
/// Characters of a string that are shown at once.
const STRING_CHARS: usize = 2_048;
/// Levels that are open from the start.
const OPEN_LEVELS: usize = 2;
/// Nodes of one page: behind them, values that have parts of their own are links.
const NODES: usize = 300;
/// Characters of the strings of one page: behind them, only the beginnings of strings are there.
const TEXT_CHARS: usize = 24_000;
/// Characters of such a beginning.
const BEGINNING_CHARS: usize = 80;

/// The room that is left on the page.
struct Room {
    nodes: usize,
    chars: usize,
}

impl Room {
    /// Takes the room of a string: its part that is shown, and whether there is more.
    fn take<'a>(&mut self, text: &'a str) -> (&'a str, bool) {
        let (shown, is_cut) = cut(text, STRING_CHARS.min(self.chars.max(BEGINNING_CHARS)));
        self.chars = self.chars.saturating_sub(shown.len());
        (shown, is_cut)
    }
}

/// The tree of a value, and where its parts are found.
pub(crate) struct Tree<'a> {
    /// The address of a page that shows the part at a JSON pointer, which is appended encoded.
    pub(crate) part: &'a dyn Fn(&str) -> String,
    /// The expression for the whole, such as `event`.
    pub(crate) name: &'a str,
    /// The pointer of the value that is shown.
    pub(crate) at: &'a str,
}

/// Where the walk is.
struct Place<'a> {
    pointer: String,
    path: String,
    name: Option<&'a str>,
    level: usize,
}

impl Tree<'_> {
    /// The value as a tree.
    pub(crate) fn markup(&self, value: &Value) -> Markup {
        let mut room = Room {
            nodes: NODES,
            chars: TEXT_CHARS,
        };
        let place = Place {
            pointer: self.at.to_owned(),
            path: path_of(self.name, self.at),
            name: None,
            level: 0,
        };
        payload::block(html! { div.tree { (self.node(value, &place, &mut room)) } })
    }

    fn node(&self, value: &Value, place: &Place<'_>, room: &mut Room) -> Markup {
        room.nodes = room.nodes.saturating_sub(1);
        match value {
            Value::Array(items) => {
                let children = items.iter().take(CHILDREN).enumerate();
                let children = children.map(|(at, item)| (at.to_string(), item));
                self.branch(("[", "]"), items.len(), children, place, room)
            }
            Value::Object(fields) => {
                let children = fields.iter().take(CHILDREN);
                let children = children.map(|(name, item)| (name.clone(), item));
                self.branch(("{", "}"), fields.len(), children, place, room)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let (shown, is_whole) = self.scalar(value, place, room);
                html! {
                    div.leaf {
                        (label(place)) (shown)
                        (copying(value, place, is_whole))
                    }
                }
            }
        }
    }

    fn branch<'v>(
        &self,
        (open, close): (&str, &str),
        count: usize,
        children: impl Iterator<Item = (String, &'v Value)>,
        place: &Place<'_>,
        room: &mut Room,
    ) -> Markup {
        if count == 0 {
            return html! { div.leaf { (label(place)) span.null { (open) (close) } } };
        }
        // A value that is too large for one page goes on at another.
        if room.nodes == 0 {
            return html! {
                div.leaf { (label(place)) a href=((self.part)(&place.pointer)) { (open) "…" (close) " " (grouped(count as u64)) } }
            };
        }
        let rows: Vec<Markup> = children
            .map(|(name, value)| {
                let child = Place {
                    pointer: format!("{}/{}", place.pointer, escaped(&name)),
                    path: format!("{}{}", place.path, step(&name, open == "[")),
                    name: Some(&name),
                    level: place.level + 1,
                };
                self.node(value, &child, room)
            })
            .collect();
        html! {
            details open[place.level < OPEN_LEVELS] {
                summary {
                    (label(place)) (open) span.size { " " (grouped(count as u64)) " " } (close)
                }
                @if place.level > 0 { div.leaf.tools { (copying(&Value::Null, place, true)) } }
                @for row in &rows { (row) }
                @if count > rows.len() {
                    div.leaf {
                        span.size { (grouped((count - rows.len()) as u64)) " more, in the raw value" }
                    }
                }
            }
        }
    }

    /// A value without parts, and whether it is there whole.
    fn scalar(&self, value: &Value, place: &Place<'_>, room: &mut Room) -> (Markup, bool) {
        let shown = match value {
            Value::String(text) => {
                let (shown, is_cut) = room.take(text);
                let shown = html! {
                    span.string { bdi { "\"" (visible(shown)) @if !is_cut { "\"" } } }
                    @if is_cut { " " a href=((self.part)(&place.pointer)) { "… show all" } }
                };
                return (shown, !is_cut);
            }
            Value::Number(number) => html! { span.number { (number) } },
            Value::Bool(is_true) => html! { span.boolean { (is_true) } },
            Value::Null => html! { span.null { "null" } },
            Value::Array(_) | Value::Object(_) => html! {},
        };
        (shown, true)
    }
}

fn label(place: &Place<'_>) -> Markup {
    html! { @if let Some(name) = place.name { span.name { bdi { (visible(name)) } } ": " } }
}

/// The path and, of a value that is there whole, the value.
fn copying(value: &Value, place: &Place<'_>, is_whole: bool) -> Markup {
    let text = match value {
        Value::String(text) if is_whole => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    html! {
        button.quiet type="button" data-copy=(place.path) hidden { "copy path" }
        @if let Some(text) = text { button.quiet type="button" data-copy=(text) hidden { "copy value" } }
    }
}

/// A step of a path as JavaScript writes it.
pub(super) fn step(name: &str, is_index: bool) -> String {
    if is_index {
        return format!("[{name}]");
    }
    let mut chars = name.chars();
    let is_word = chars
        .next()
        .is_some_and(|char| char.is_ascii_alphabetic() || "_$".contains(char))
        && chars.all(|char| char.is_ascii_alphanumeric() || "_$".contains(char));
    match is_word {
        true => format!(".{name}"),
        false => format!("[{}]", Value::from(name)),
    }
}

/// The path of the value at a pointer. Steps that are numbers count as indexes.
fn path_of(name: &str, pointer: &str) -> String {
    let steps = pointer.split('/').skip(1).map(|part| {
        let part = part.replace("~1", "/").replace("~0", "~");
        let is_index = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        step(&part, is_index)
    });
    std::iter::once(name.to_owned()).chain(steps).collect()
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: &Value) -> String {
        let part = |pointer: &str| format!("?at={pointer}");
        let tree = Tree {
            part: &part,
            name: "event",
            at: "",
        };
        tree.markup(value).into_string()
    }

    #[test]
    fn paths_are_javascript_and_pointers() {
        let html = shown(&json!({"a": [{"b c": 1}], "__proto__": {"x/y": true}}));
        assert!(
            html.contains("data-copy=\"event.a[0][&quot;b c&quot;]\""),
            "{html}"
        );
        assert!(
            html.contains("data-copy=\"event.__proto__[&quot;x/y&quot;]\""),
            "{html}"
        );
        assert_eq!(path_of("event", "/a/0/x~1y"), "event.a[0][\"x/y\"]");
    }

    #[test]
    fn markup_in_names_and_values_is_text() {
        let html = shown(&json!({"<b>": "</script><script>alert(1)</script>"}));
        assert!(
            !html.contains("<script>") && !html.contains("<b>"),
            "{html}"
        );
    }

    #[test]
    fn large_values_are_cut() {
        let html = shown(&json!({"long": "x".repeat(10_000), "many": vec![1; 10_000]}));
        assert!(html.len() < 60_000, "{}", html.len());
        assert!(
            html.contains("?at=/long") && html.contains("9,900 more"),
            "{html}"
        );
        // A hundred arrays of a hundred arrays of a hundred numbers.
        let wide = json!(vec![vec![vec![7; 100]; 100]; 100]);
        let html = shown(&wide);
        assert!(html.len() < 100 * 1_024, "{}", html.len());
        assert!(html.contains("?at=/"), "the rest is linked");
        // As many strings as there may be, each of them long.
        let texts = json!(vec![vec!["x".repeat(2_000); 100]; 50]);
        let html = shown(&texts);
        assert!(html.len() < 150 * 1_024, "{}", html.len());
        assert!(html.contains("?at=/0/99"), "each is linked");
    }

    #[test]
    fn deep_values_are_shown() {
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        assert!(shown(&deep).contains("number\">1<"));
    }
}
