//! JSON values as trees that open and close without script. A page shows as much of a value as it has room for, of each
//! part of it at least the beginning, and links lead to the rest.

use maud::{Markup, html};
use serde_json::Value;

use super::{
    payload,
    text::{cut, grouped, value, visible},
};

/// Children of an array or object that are shown at once.
const CHILDREN: usize = 100;
/// Characters of a string that are shown at once.
const STRING_CHARS: usize = 2_048;
/// Levels that are open from the start.
const OPEN_LEVELS: usize = 2;
/// Markup of one tree: with its frame, a page stays below 100 KiB.
const TREE_BYTES: usize = 56 * 1_024;
/// Markup of a short line, for which each child of what is shown has room.
const LINE_BYTES: usize = 400;
/// Markup for which a value with parts is opened here; with less room, it is a link, of half a line.
const BRANCH_BYTES: usize = 3 * LINE_BYTES;
/// Characters of a string's beginning, which is shown whatever room there is.
const BEGINNING_CHARS: usize = 80;
/// Characters of a name.
const NAME_CHARS: usize = 160;
/// Characters of a path that can be copied: each line has its own, and they grow with the depth.
const PATH_CHARS: usize = 256;
/// Room for which a line has all its tools; with less, only its path and a short value are copied.
const TOOLS_BYTES: usize = 2 * LINE_BYTES;
/// Levels whose lines have all of them: pointers grow with the depth, and stand in several.
const TOOLS_LEVELS: usize = 8;
/// Bytes of a pointer in an address.
const POINTER_BYTES: usize = 2_048;

/// The bytes of markup that are left for a part of the tree.
struct Room(usize);

impl Room {
    fn take(&mut self, markup: &Markup) {
        self.0 = self.0.saturating_sub(markup.0.len());
    }

    /// The beginning of a string that has room, and whether there is more. It may be there twice, to be copied, and its
    /// characters as entities.
    fn part<'a>(&self, text: &'a str) -> (&'a str, bool) {
        cut(text, (self.0 / 4).clamp(BEGINNING_CHARS, STRING_CHARS))
    }
}

/// The tree of a value, and where its parts are found.
pub(crate) struct Tree<'a> {
    /// The address of a page that shows the part at a JSON pointer, which is appended encoded; none if there is no page of
    /// the parts.
    pub(crate) part: Option<&'a dyn Fn(&str) -> String>,
    /// The expression for the whole, such as `event`.
    pub(crate) name: &'a str,
    /// The pointer of the value that is shown.
    pub(crate) at: &'a str,
    /// The first child that is shown, where the pages of parts take that with `&from=`.
    pub(crate) from: Option<usize>,
    /// The address of the file with the JSON of the part at a JSON pointer, by which parts are copied that are not on the
    /// page whole; the text of a string itself with `&text=true`.
    pub(crate) raw: Option<&'a dyn Fn(&str) -> String>,
}

/// Where the walk is.
struct Place<'a> {
    pointer: String,
    path: String,
    name: Option<&'a str>,
    level: usize,
}

impl Tree<'_> {
    /// The whole value as a tree, or the part of it at the pointer, with the way to the whole, which is at this address.
    pub(crate) fn part_of(&self, whole: &Value, address: &str) -> Markup {
        html! {
            @if !self.at.is_empty() { p { a href=(address) { "The whole value" } } }
            @match whole.pointer(self.at) {
                // A long text is shown whole at its own address.
                Some(Value::String(text)) if !self.at.is_empty() => { (payload::block(html! { pre tabindex="0" { (value(text)) } })) }
                Some(shown) => { (self.markup(shown)) }
                None => { p.note { "There is nothing at " code { (visible(self.at)) } "." } }
            }
        }
    }

    /// The value as a tree.
    pub(crate) fn markup(&self, value: &Value) -> Markup {
        let place = Place {
            pointer: self.at.to_owned(),
            path: path_of(self.name, self.at),
            name: None,
            level: 0,
        };
        let node = self.node(value, &place, &mut Room(TREE_BYTES));
        payload::block(html! { div.tree { (node) } })
    }

    fn node(&self, value: &Value, place: &Place<'_>, room: &mut Room) -> Markup {
        match value {
            Value::Array(items) => {
                let children = items.iter().enumerate();
                let children = children.map(|(at, item)| (at.to_string(), item));
                self.branch(("[", "]"), (value, items.len()), children, place, room)
            }
            Value::Object(fields) => {
                let children = fields.iter().map(|(name, item)| (name.clone(), item));
                self.branch(("{", "}"), (value, fields.len()), children, place, room)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let (shown, is_whole) = self.scalar(value, place, room);
                let leaf = html! {
                    div.leaf {
                        (label(place)) (shown)
                        (self.tools(value, place, is_whole, room))
                    }
                };
                room.take(&leaf);
                leaf
            }
        }
    }

    fn branch<'v>(
        &self,
        (open, close): (&str, &str),
        (value, count): (&Value, usize),
        children: impl Iterator<Item = (String, &'v Value)>,
        place: &Place<'_>,
        room: &mut Room,
    ) -> Markup {
        let size = grouped(count as u64);
        // A value that is too large for one page goes on at another.
        if count == 0 || room.0 < BRANCH_BYTES {
            let leaf = html! {
                div.leaf {
                    (label(place))
                    @if count == 0 { span.null { (open) (close) } }
                    @else { (self.link(place, &format!("{open}…{close} {size}"), None)) }
                }
            };
            room.take(&leaf);
            return leaf;
        }
        let summary = html! { (label(place)) (open) span.size { " " (size) " " } (close) };
        let tools = self.tools(value, place, false, room);
        room.take(&summary);
        room.take(&tools);
        let from = match place.level {
            0 => self.from.unwrap_or_default().min(count),
            _ => 0,
        };
        let is_list = open == "[";
        let children = children.skip(from).take(CHILDREN);
        let rows = self.rows(children, (count - from).min(CHILDREN), is_list, place, room);
        let behind = from + rows.len();
        html! {
            details open[place.level < OPEN_LEVELS] {
                summary { (summary) }
                @if !tools.0.is_empty() { div.leaf.tools { (tools) } }
                @if from > 0 { div.leaf { (self.link(place, &format!("{} before", grouped(from as u64)), Some(from.saturating_sub(CHILDREN)))) } }
                @for row in &rows { (row) }
                @if count > behind { div.leaf { (self.link(place, &format!("{} more", grouped((count - behind) as u64)), Some(behind))) } }
            }
        }
    }

    /// The children that have room; the first has, and each leaves room for a line of those behind it.
    fn rows<'v>(
        &self,
        children: impl Iterator<Item = (String, &'v Value)>,
        count: usize,
        is_list: bool,
        place: &Place<'_>,
        room: &mut Room,
    ) -> Vec<Markup> {
        let mut rows = Vec::new();
        for (at, (name, value)) in children.enumerate() {
            let behind = (count - at - 1) * LINE_BYTES;
            let own = room.0.saturating_sub(behind);
            if at > 0 && room.0 < LINE_BYTES / 2 {
                break;
            }
            let child = Place {
                pointer: format!("{}/{}", place.pointer, escaped(&name)),
                path: format!("{}{}", place.path, step(&name, is_list)),
                name: Some(&name),
                level: place.level + 1,
            };
            let mut left = Room(own);
            rows.push(self.node(value, &child, &mut left));
            let taken = rows.last().map_or(0, |row| row.0.len());
            room.0 = room.0.saturating_sub(taken);
        }
        rows
    }

    /// The buttons that copy the path and the pointer, if they are not too long, and the value, if it is there whole or can
    /// be fetched; and the link to the part alone.
    fn tools(&self, value: &Value, place: &Place<'_>, is_whole: bool, room: &Room) -> Markup {
        let text = match value {
            Value::String(text) => is_whole.then(|| text.clone()),
            Value::Null | Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            Value::Array(_) | Value::Object(_) => None,
        };
        let is_near = place.level <= TOOLS_LEVELS;
        let is_roomy = is_near && room.0 >= TOOLS_BYTES;
        let is_part = place.level > 0;
        let is_short = place.pointer.len() <= POINTER_BYTES;
        let part = self.part.filter(|_| is_part && is_roomy && is_short);
        let raw = self.raw.filter(|_| is_roomy && is_short && text.is_none());
        let (_, is_long) = cut(&place.path, PATH_CHARS);
        html! {
            @if (is_part || text.is_some()) && !is_long {
                (button(&place.path, "copy path"))
                @if is_part && is_roomy { (button(&place.pointer, "copy pointer")) }
            }
            @if let Some(text) = text { (button(&text, "copy value")) }
            @if let Some(raw) = raw {
                button.quiet type="button" data-copy data-copy-from={ (raw(&place.pointer)) @if value.is_string() { "&text=true" } } hidden { "copy value" }
            }
            @if let Some(part) = part { a.at href=(part(&place.pointer)) { "link" } }
        }
    }

    /// The way to the part at this place, from one of its children on.
    fn link(&self, place: &Place<'_>, text: &str, from: Option<usize>) -> Markup {
        let is_there =
            place.pointer.len() <= POINTER_BYTES && (from.is_none() || self.from.is_some());
        html! {
            @match (self.part, from) {
                (None, _) => { span.size { (text) ", left out here" } }
                (Some(_), None) if place.pointer.is_empty() => { span.size { (text) ", in the raw value" } }
                (Some(_), _) if !is_there => { span.size { (text) ", in the raw value" } }
                (Some(part), Some(from)) => { a href={ (part(&place.pointer)) "&from=" (from) } { (text) } }
                (Some(part), None) => { a href=(part(&place.pointer)) { (text) } }
            }
        }
    }

    /// A value without parts, and whether it is there whole.
    fn scalar(&self, value: &Value, place: &Place<'_>, room: &Room) -> (Markup, bool) {
        let shown = match value {
            Value::String(text) => {
                let (shown, is_cut) = room.part(text);
                let shown = html! {
                    span.string { bdi { "\"" (visible(shown)) @if !is_cut { "\"" } } }
                    @if is_cut { " " (self.link(place, if self.part.is_some() { "… show all" } else { "…" }, None)) }
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
    html! {
        @if let Some(name) = place.name {
            @let (shown, is_cut) = cut(name, NAME_CHARS);
            span.name { bdi { (visible(shown)) @if is_cut { "…" } } } ": "
        }
    }
}

fn button(text: &str, label: &str) -> Markup {
    html! { button.quiet type="button" data-copy=(text) hidden { (label) } }
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
        shown_from(value, 0)
    }

    fn shown_from(value: &Value, from: usize) -> String {
        let part = |pointer: &str| format!("?at={pointer}");
        let raw = |pointer: &str| format!("raw?at={pointer}");
        let tree = Tree {
            part: Some(&part),
            name: "event",
            at: "",
            from: Some(from),
            raw: Some(&raw),
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
        for part in [
            "data-copy=\"/a/0/b c\"",
            "href=\"?at=/__proto__/x~1y\">link<",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn every_value_can_be_copied_whole() {
        let html = shown(&json!({"none": null, "list": [1], "long": "x".repeat(10_000)}));
        for part in [
            "data-copy=\"null\"",
            "data-copy-from=\"raw?at=\"",
            "data-copy-from=\"raw?at=/list\"",
            "data-copy-from=\"raw?at=/long&amp;text=true\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_part_is_shown_alone_and_leads_to_the_whole() {
        let part = |pointer: &str| format!("?at={pointer}");
        let whole = json!({"a": ["one", {"b": 2}]});
        let of = |at: &str| {
            let tree = Tree {
                part: Some(&part),
                name: "event",
                at,
                from: None,
                raw: None,
            };
            tree.part_of(&whole, "/whole").into_string()
        };
        let text = of("/a/0");
        assert!(text.contains("<bdi>one</bdi></pre>"), "{text}");
        let object = of("/a/1");
        assert!(
            object.contains("event.a[1].b") && object.contains("href=\"/whole\""),
            "{object}"
        );
        assert!(of("/a/7").contains("There is nothing at"));
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
    fn large_values_are_cut_and_every_part_is_led_to() {
        let html = shown(&json!({"long": "x".repeat(10_000), "many": vec![1; 10_000]}));
        assert!(
            html.contains("?at=/long") && html.contains("?at=/many&amp;from=100"),
            "{html}"
        );
        let hundred = |value: Value| Value::from(vec![value; 100]);
        let rows = json!({"rows": vec![json!({"n": 1, "text": "x".repeat(1_000)}); 1_000]});
        for large in [
            rows.clone(),
            // A hundred arrays of a hundred arrays of a hundred numbers.
            hundred(hundred(hundred(json!(7)))),
            // As many strings as there may be, each of them long, and of characters that are many in markup.
            hundred(hundred(json!("x".repeat(2_000)))),
            hundred(hundred(json!("\"".repeat(2_000)))),
            // Names that are long.
            Value::from_iter((0..100).map(|at| (format!("{at}{}", "y".repeat(20_000)), json!(1)))),
        ] {
            let html = shown(&large);
            assert!(html.len() < 80 * 1_024, "{}", html.len());
        }
        let html = shown(&rows);
        assert!(
            html.contains("?at=/rows/99\"") && html.contains(">900 more<"),
            "{html}"
        );
    }

    #[test]
    fn the_children_behind_those_on_a_page_have_pages_of_their_own() {
        let many = Value::from_iter(0..250);
        let html = shown_from(&many, 200);
        assert!(html.contains(">249<") && !html.contains(">199<"), "{html}");
        assert!(
            html.contains("event[200]") && html.contains("&amp;from=100\">200 before"),
            "{html}"
        );
        assert!(!html.contains("more<"), "{html}");
        let html = shown_from(&many, 1_000);
        assert!(html.contains(">250 before<"), "{html}");
    }

    #[test]
    fn deep_values_are_shown() {
        let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
        assert!(shown(&deep).contains("number\">1<"));
    }
}
