//! The fields of a form as they came: text under names, in order.
//!
//! A field belongs to a part of a prop: `prop.NAME` is its value, `cron.NAME` a timer's expression. The prop's name comes
//! last, because it may have any characters.

/// Characters of all fields together that a deep link may set.
const LINK_BYTES: usize = 64 * 1_024;

/// A part of a prop's value that has a field of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The value, or one item of a list.
    Value,
    /// A value that is none of the options; the lines of a list.
    Own,
    /// One item of a list that is none of the options.
    Item,
    /// The kind of a timer.
    Kind,
    /// The number of an interval.
    Every,
    /// The unit of an interval.
    Unit,
    /// A cron expression.
    Cron,
    /// Its time zone.
    Zone,
    /// The URL of a request.
    Url,
    /// The method of a request.
    Method,
    /// The options that were loaded, as JSON.
    Loaded,
    /// The mark of the values that the options depend on.
    Basis,
    /// Whether the options could not be loaded; never sent along.
    Failed,
    /// The search among options.
    Query,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Value => "prop",
            Self::Own => "own",
            Self::Item => "item",
            Self::Kind => "kind",
            Self::Every => "every",
            Self::Unit => "unit",
            Self::Cron => "cron",
            Self::Zone => "zone",
            Self::Url => "url",
            Self::Method => "method",
            Self::Loaded => "loaded",
            Self::Basis => "basis",
            Self::Failed => "failed",
            Self::Query => "query",
        }
    }

    /// Whether a link may set it.
    fn is_linkable(name: &str) -> bool {
        let parts = [
            Self::Value,
            Self::Own,
            Self::Item,
            Self::Kind,
            Self::Every,
            Self::Unit,
            Self::Cron,
            Self::Zone,
            Self::Url,
            Self::Method,
        ];
        let part = name.split_once('.').map(|(part, _)| part);
        name == "name" || parts.iter().any(|linkable| part == Some(linkable.name()))
    }
}

/// The name of a field.
pub(crate) fn field(part: Part, prop: &str) -> String {
    format!("{}.{prop}", part.name())
}

/// The fields of one form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entered(Vec<(String, String)>);

impl Entered {
    /// The fields of a form that was sent. Browsers end lines with two characters.
    pub(crate) fn new(fields: Vec<(String, String)>) -> Self {
        let fields = fields.into_iter();
        Self(
            fields
                .map(|(name, text)| (name, text.replace("\r\n", "\n")))
                .collect(),
        )
    }

    /// The fields that a link fills in; its other parameters are not of the form.
    pub(crate) fn linked(parameters: Vec<(String, String)>) -> Self {
        let mut left = LINK_BYTES;
        let fields = parameters.into_iter().filter(|(name, text)| {
            let size = name.len() + text.len();
            let fits = Part::is_linkable(name) && size <= left;
            left -= if fits { size } else { 0 };
            fits
        });
        Self::new(fields.collect())
    }

    /// The text of a field that belongs to no prop, if there is any in it.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let mut found = self.0.iter().filter(|(key, _)| key == name);
        found
            .next()
            .map(|(_, text)| text.as_str())
            .filter(|text| !text.is_empty())
    }

    /// The text of a part, if there is any in it.
    pub(crate) fn part(&self, part: Part, prop: &str) -> Option<&str> {
        self.parts(part, prop).next()
    }

    /// The texts of a part that occurs several times, without empty ones.
    pub(crate) fn parts<'a>(&'a self, part: Part, prop: &str) -> impl Iterator<Item = &'a str> {
        let name = field(part, prop);
        let found = self.0.iter().filter(move |(key, _)| *key == name);
        found
            .map(|(_, text)| text.as_str())
            .filter(|text| !text.is_empty())
    }

    /// Adds a field.
    pub(crate) fn add(&mut self, part: Part, prop: &str, text: impl Into<String>) {
        self.0.push((field(part, prop), text.into()));
    }

    /// The part has this text only.
    pub(crate) fn set(&mut self, part: Part, prop: &str, text: impl Into<String>) {
        self.forget(part, prop);
        self.add(part, prop, text);
    }

    /// The part has no text any more.
    pub(crate) fn forget(&mut self, part: Part, prop: &str) {
        let name = field(part, prop);
        self.0.retain(|(key, _)| *key != name);
    }

    /// A field of no prop has this text only.
    pub(crate) fn set_text(&mut self, name: &str, text: impl Into<String>) {
        self.0.retain(|(key, _)| key != name);
        self.0.push((name.to_owned(), text.into()));
    }

    /// Takes over the fields that the other has.
    pub(crate) fn overlay(&mut self, other: Self) {
        self.0
            .retain(|(name, _)| !other.0.iter().any(|(given, _)| given == name));
        self.0.extend(other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = fields
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        owned.collect()
    }

    #[test]
    fn a_props_name_may_have_any_characters() {
        let entered = Entered::new(pairs(&[
            ("prop.a.b", "1"),
            ("prop.a", "2"),
            ("cron.prop.a", "3"),
        ]));
        assert_eq!(entered.part(Part::Value, "a.b"), Some("1"));
        assert_eq!(entered.part(Part::Value, "a"), Some("2"));
        assert_eq!(entered.part(Part::Cron, "prop.a"), Some("3"));
        assert_eq!(entered.part(Part::Cron, "a"), None);
    }

    #[test]
    fn lines_end_with_one_character_and_empty_fields_count_as_absent() {
        let entered = Entered::new(pairs(&[("prop.a", "1\r\n2"), ("prop.b", "")]));
        assert_eq!(entered.part(Part::Value, "a"), Some("1\n2"));
        assert_eq!(entered.part(Part::Value, "b"), None);
    }

    #[test]
    fn a_link_sets_values_only() {
        let linked = Entered::linked(pairs(&[
            ("prop.url", "https://a.example"),
            ("name", "feed"),
            ("action", "deploy"),
            ("code", "x"),
            ("additional", "[]"),
            ("loaded.url", "{}"),
            ("workspace", "o_1"),
        ]));
        let expected = Entered::new(pairs(&[
            ("prop.url", "https://a.example"),
            ("name", "feed"),
        ]));
        assert_eq!(linked, expected);
        let long = "x".repeat(LINK_BYTES);
        assert_eq!(
            Entered::linked(pairs(&[("prop.a", &long)])),
            Entered::default()
        );
    }

    #[test]
    fn fields_of_another_form_come_before_the_own_ones() {
        let mut entered = Entered::new(pairs(&[("prop.a", "1"), ("prop.a", "2"), ("prop.b", "3")]));
        entered.overlay(Entered::new(pairs(&[("prop.a", "4")])));
        assert_eq!(entered.parts(Part::Value, "a").collect::<Vec<_>>(), ["4"]);
        assert_eq!(entered.part(Part::Value, "b"), Some("3"));
    }
}
