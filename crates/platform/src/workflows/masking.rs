//! Masking of variables and of accounts' secrets: whatever a run keeps, shows or emits has a mark in place of such a
//! value. A mark cannot be guessed, so that the platform can put the value back where code of the same owner reads what
//! an earlier step returned.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::BTreeMap,
    ops::{Deref, Range},
    sync::Arc,
};

use aho_corasick::{AhoCorasick, Input, Match, MatchKind};
use serde_json::value::RawValue;

use super::{
    marks::{FENCE, unmarked},
    tokens::WaitKey,
};
use crate::{aside::Aside, error::PlatformError};

/// Bytes of a text, or of all values, that are looked through on the thread of whoever asks. More are left to a thread that
/// nobody else waits for.
pub(super) const AT_ONCE: usize = 256 * 1024;
/// Bytes of values whose masks are put together so. It takes longer than looking for them.
const BUILT_AT_ONCE: usize = 16 * 1024;
/// Shorter values are no secrets, and would be found everywhere.
const VALUE_CHARS_MIN: usize = 6;

/// Values that are masked, with their marks. Each text is read once: a mark is no place to look for other values.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    /// That of an owner's variables, which many executions share, and smaller ones of the accounts that an execution uses.
    sets: Vec<Arc<MaskSet>>,
}

/// Values with their marks, and finders of the values, of their form within JSON text, and of the marks.
#[derive(Debug)]
struct MaskSet {
    masks: Vec<Mask>,
    values: AhoCorasick,
    escaped: AhoCorasick,
    marks: AhoCorasick,
}

impl MaskSet {
    /// `None` if there are no masks.
    fn new(masks: Vec<Mask>) -> Option<Self> {
        if masks.is_empty() {
            return None;
        }
        let finder = |part: fn(&Mask) -> &String| {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest);
            let finder = builder.build(masks.iter().map(part));
            finder.expect("so few values can be looked for")
        };
        Some(Self {
            values: finder(|mask| &mask.value),
            escaped: finder(|mask| &mask.escaped),
            marks: finder(|mask| &mask.mark),
            masks,
        })
    }
}

/// A search of one text with the finders of several sets. Of the values that begin at a place, the longest is found, as if all
/// sets were one.
struct Search<'m, 't> {
    text: &'t str,
    /// The end of the part that is searched.
    end: usize,
    ahead: Vec<Ahead<'m>>,
}

/// The search with the finder of one set.
struct Ahead<'m> {
    set: &'m MaskSet,
    finder: &'m AhoCorasick,
    /// The next one that it finds, `None` if there is no more; not looked for yet, if that is not known.
    next: Option<Option<Match>>,
}

impl<'m, 't> Search<'m, 't> {
    /// A search of a whole text; `None` if nothing is in it.
    fn of(
        text: &'t str,
        sets: &'m [Arc<MaskSet>],
        finder: fn(&MaskSet) -> &AhoCorasick,
    ) -> Option<Self> {
        let sets = sets.iter().filter(|set| finder(set).is_match(text));
        let ahead = sets.map(|set| Ahead {
            set,
            finder: finder(set),
            next: None,
        });
        let ahead: Vec<_> = ahead.collect();
        (!ahead.is_empty()).then_some(Self {
            end: text.len(),
            text,
            ahead,
        })
    }

    /// Searches the part of the text up to there from now on.
    fn within(&mut self, end: usize) {
        self.end = end;
        for ahead in &mut self.ahead {
            ahead.next = None;
        }
    }

    /// The first value from a place on, which no later call lies before.
    fn find(&mut self, from: usize) -> Option<(Range<usize>, &'m Mask)> {
        let mut first: Option<(Match, &'m MaskSet)> = None;
        for ahead in &mut self.ahead {
            let is_known = |next: Option<Match>| next.is_none_or(|found| found.start() >= from);
            if !ahead.next.is_some_and(is_known) {
                let part = Input::new(self.text).range(from..self.end);
                ahead.next = Some(ahead.finder.find(part));
            }
            let Some(found) = ahead.next.flatten() else {
                continue;
            };
            let order = |found: &Match| (found.start(), Reverse(found.end()));
            if first.is_none_or(|(other, _)| order(&found) < order(&other)) {
                first = Some((found, ahead.set));
            }
        }
        let (found, set) = first?;
        Some((found.range(), &set.masks[found.pattern().as_usize()]))
    }

    /// All values, with others in their places.
    fn replaced(mut self, word: fn(&Mask) -> &String) -> String {
        let (text, mut from) = (self.text, 0);
        let found = std::iter::from_fn(|| {
            let (range, mask) = self.find(from)?;
            from = range.end;
            Some((range, word(mask).as_str()))
        });
        replaced(text, found)
    }
}

/// A value with its mark.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    value: String,
    /// The value as it is within JSON text.
    escaped: String,
    /// The same in plain text and in JSON.
    mark: String,
}

impl Mask {
    /// The mask of a value; `None` if that is too short for a secret. `name` is the same in plain text and in JSON.
    pub(super) fn new(value: &str, name: &str) -> Option<Self> {
        (value.chars().count() >= VALUE_CHARS_MIN).then(|| Self {
            value: value.to_owned(),
            escaped: escaped(value),
            mark: format!("{FENCE}{name}{FENCE}"),
        })
    }
}

/// JSON that one or several have.
pub(crate) trait Json:
    Deref<Target = RawValue> + From<Box<RawValue>> + Send + 'static
{
}

impl<J: Deref<Target = RawValue> + From<Box<RawValue>> + Send + 'static> Json for J {}

impl Masks {
    /// The masks of these variables.
    pub(crate) fn of(key: &WaitKey, tenant: &str, variables: &BTreeMap<String, String>) -> Self {
        let masks = variables.iter().filter_map(|(name, value)| {
            let signed = key.mark(&format!("{tenant} {name}"));
            Mask::new(value, &format!("{name}:{signed}"))
        });
        Self::default().with(masks.collect())
    }

    /// These and others.
    fn with(&self, others: Vec<Mask>) -> Self {
        let mut sets = self.sets.clone();
        sets.extend(MaskSet::new(others).map(Arc::new));
        Self { sets }
    }

    /// These and those of accounts; other tasks go on while those of many or long values are put together.
    ///
    /// # Errors
    /// `Internal` when the work for it panics.
    pub(crate) async fn beside(
        self: &Arc<Self>,
        aside: &Aside,
        of_accounts: Vec<Mask>,
    ) -> Result<Arc<Self>, PlatformError> {
        if of_accounts.is_empty() {
            return Ok(Arc::clone(self));
        }
        let bytes: usize = of_accounts.iter().map(|mask| mask.value.len()).sum();
        if bytes <= BUILT_AT_ONCE {
            return Ok(Arc::new(self.with(of_accounts)));
        }
        let masks = Arc::clone(self);
        let both = aside.run(move || Arc::new(masks.with(of_accounts)));
        both.await
    }

    /// The masks of these variables; other tasks go on while those of many are put together.
    pub(super) async fn built(
        aside: &Aside,
        key: &Arc<WaitKey>,
        tenant: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, PlatformError> {
        if variables.values().map(String::len).sum::<usize>() <= BUILT_AT_ONCE {
            return Ok(Self::of(key, tenant, variables));
        }
        let (key, tenant, variables) = (Arc::clone(key), tenant.to_owned(), variables.clone());
        let built = aside.run(move || Self::of(&key, &tenant, &variables));
        built.await
    }

    /// JSON as [`Self::json`] has it; other tasks go on while a large one is looked through.
    ///
    /// # Errors
    /// `Internal` when the work for it panics.
    pub(crate) async fn hidden_value<J: Json>(
        self: Arc<Self>,
        aside: &Aside,
        json: J,
    ) -> Result<J, PlatformError> {
        self.value(aside, json, Self::json).await
    }

    /// The same as [`Self::marked`] has it.
    ///
    /// # Errors
    /// As above.
    pub(super) async fn marked_value<J: Json>(
        self: Arc<Self>,
        aside: &Aside,
        json: J,
    ) -> Result<J, PlatformError> {
        self.value(aside, json, Self::marked).await
    }

    async fn value<J: Json>(
        self: Arc<Self>,
        aside: &Aside,
        json: J,
        mask: fn(&Self, &RawValue) -> Option<Box<RawValue>>,
    ) -> Result<J, PlatformError> {
        let is_large = self.takes_long(json.get().len());
        let masked = move || mask(&self, &json).map_or(json, J::from);
        match is_large {
            true => aside.run(masked).await,
            false => Ok(masked()),
        }
    }

    /// Whether so many bytes are to be looked through aside. Without values there are marks to look for, which takes no time.
    pub(super) fn takes_long(&self, bytes: usize) -> bool {
        !self.sets.is_empty() && bytes > AT_ONCE
    }

    /// Plain text of code without the values, and without marks, as [`Self::json`] has it.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = unmarked(text).map_or(Cow::Borrowed(text), Cow::Owned);
        match Search::of(&text, &self.sets, |set| &set.values) {
            Some(search) => Cow::Owned(search.replaced(|mask| &mask.mark)),
            None => text,
        }
    }

    /// JSON of code or from outside without the values, and without marks, which are nobody's to write but the platform's:
    /// whoever has seen one would be told the value in its place. `None` if it has neither.
    pub(crate) fn json(&self, json: &RawValue) -> Option<Box<RawValue>> {
        let Some(unmarked) = unmarked(json.get()) else {
            return self.marked(json);
        };
        let unmarked = RawValue::from_string(unmarked);
        let unmarked = unmarked.expect("a name in place of a mark leaves JSON what it is");
        Some(self.marked(&unmarked).unwrap_or(unmarked))
    }

    /// JSON that the platform may have marked before, without the values that it has still; `None` if it has none of them.
    /// Values are looked for in its texts and names: a number stays one.
    pub(super) fn marked(&self, json: &RawValue) -> Option<Box<RawValue>> {
        let text = json.get();
        let mut search = Search::of(text, &self.sets, |set| &set.escaped)?;
        let mut found = Vec::new();
        for string in strings(text) {
            search.within(string.end);
            let mut from = string.start;
            while let Some((range, mask)) = search.find(from) {
                match escape_around(&text[from..string.end], range.start - from) {
                    // The second half of an escape is no character.
                    Some(end) => from += end,
                    None => {
                        from = range.end;
                        found.push((range, mask.mark.as_str()));
                    }
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let masked = RawValue::from_string(replaced(text, found.into_iter()));
        Some(masked.expect("marks within strings leave JSON what it is"))
    }

    /// JSON text with the values back in place of their marks.
    pub(crate) fn opened<'a>(&self, json: &'a str) -> Cow<'a, str> {
        match Search::of(json, &self.sets, |set| &set.marks) {
            Some(search) => Cow::Owned(search.replaced(|mask| &mask.escaped)),
            None => Cow::Borrowed(json),
        }
    }

    /// JSON with the values back; other tasks go on while a large one is looked through.
    ///
    /// # Errors
    /// `Internal` when the work for it panics.
    pub(crate) async fn opened_value(
        self: Arc<Self>,
        aside: &Aside,
        json: Box<RawValue>,
    ) -> Result<Box<RawValue>, PlatformError> {
        let is_large = self.takes_long(json.get().len());
        let opened = move || match self.opened(json.get()) {
            Cow::Borrowed(_) => json,
            Cow::Owned(opened) => RawValue::from_string(opened).unwrap_or(json),
        };
        match is_large {
            true => aside.run(opened).await,
            false => Ok(opened()),
        }
    }
}

/// The text with other words at these places, which come in their order.
fn replaced<'a>(text: &str, found: impl Iterator<Item = (Range<usize>, &'a str)>) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for (range, word) in found {
        replaced.push_str(&text[end..range.start]);
        replaced.push_str(word);
        end = range.end;
    }
    replaced.push_str(&text[end..]);
    replaced
}

/// The ranges between the quotes of all strings of a JSON text.
fn strings(json: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|byte| *byte == b'"')? + 1;
        let mut end = start;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        at = (end + 1).min(bytes.len());
        Some(start..end.min(bytes.len()))
    })
}

/// The end of the escape that a place of a JSON string is within, if it is within one. The string is given from the
/// beginning of a character on.
fn escape_around(string: &str, place: usize) -> Option<usize> {
    let bytes = string.as_bytes();
    let mut at = 0;
    while at < place {
        let next = match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => at + 6,
            (b'\\', _) => at + 2,
            _ => at + 1,
        };
        if next > place {
            return Some(next.min(bytes.len()));
        }
        at = next;
    }
    None
}

/// Text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::signing_key::SigningKey;

    pub(in crate::workflows) fn masks(variables: &[(&str, &str)]) -> Masks {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Masks::of(&WaitKey(SigningKey([7; 64])), "u_1", &variables.collect())
    }

    #[test]
    fn values_are_marked_and_put_back() {
        let masks = masks(&[
            ("A", "hunter2\"x"),
            ("B", "hunter2\"x and more"),
            ("SHORT", "true"),
        ]);
        let value = json!({ "a": "Bearer hunter2\"x", "b": "hunter2\"x and more", "c": true });
        let masked = masks.json(&to_raw_value(&value).unwrap()).unwrap();
        assert!(!masked.get().contains("hunter2"), "{masked}");
        assert!(
            masked.get().contains("***A:") && masked.get().contains("***B:"),
            "{masked}"
        );
        let opened: serde_json::Value = serde_json::from_str(&masks.opened(masked.get())).unwrap();
        assert_eq!(opened, value);
        assert_eq!(masks.text("log hunter2\"x").matches("hunter2").count(), 0);
    }

    #[track_caller]
    fn comes_back(masks: &Masks, value: &serde_json::Value) -> String {
        let masked = masks.json(&to_raw_value(value).unwrap()).unwrap();
        let masked = masked.get().to_owned();
        let opened: serde_json::Value = serde_json::from_str(&masks.opened(&masked)).unwrap();
        assert_eq!(opened, *value, "{masked}");
        masked
    }

    #[test]
    fn a_value_in_another_ones_name_leaves_its_mark_alone() {
        let masks = masks(&[
            ("PRODUCTION_DB_PASSWORD", "hunter2-hunter2"),
            ("ENV_NAME", "PRODUCTION"),
        ]);
        let value = json!({ "p": "hunter2-hunter2", "e": "PRODUCTION" });
        assert!(!comes_back(&masks, &value).contains("hunter2"));
    }

    #[test]
    fn numbers_and_escapes_stay_what_they_are_and_switch_nothing_off() {
        let masks = masks(&[
            ("CHAT", "123456789"),
            ("TOKEN", "hunter2-hunter2"),
            ("LINE", "nnormal"),
            ("HEX", "u001fx"),
        ]);
        let value = json!({
            "chat": 123_456_789, "as text": "123456789", "bearer": "Bearer hunter2-hunter2",
            "line": "\nnormal nnormal", "hex": "\u{1f}x", "hunter2-hunter2": ["\\"],
        });
        let masked = comes_back(&masks, &value);
        assert!(!masked.contains("hunter2"), "{masked}");
        let masked: serde_json::Value = serde_json::from_str(&masked).unwrap();
        assert_eq!(masked["chat"], 123_456_789);
        assert_eq!(masked["hex"], "\u{1f}x");
        let line = masked["line"].as_str().unwrap();
        assert!(line.starts_with("\nnormal ***LINE:"), "{line}");
    }

    /// Other requests are served meanwhile: the first look at the work does not wait for its end.
    #[tokio::test]
    async fn a_large_event_and_many_values_are_masked_beside_the_tasks() {
        let aside = Aside::default();
        let few = Arc::new(masks(&[("TOKEN", "hunter2-hunter2")]));
        let of = |bytes: usize| -> Arc<RawValue> {
            let event = json!({ "token": "hunter2-hunter2", "rest": "x".repeat(bytes) });
            Arc::from(to_raw_value(&event).unwrap())
        };
        let small = std::pin::pin!(Arc::clone(&few).hidden_value(&aside, of(10)));
        assert!(futures::poll!(small).is_ready());
        let large = of(AT_ONCE);
        let mut masking = std::pin::pin!(Arc::clone(&few).hidden_value(&aside, Arc::clone(&large)));
        assert!(futures::poll!(&mut masking).is_pending());
        let masked = masking.await.unwrap();
        assert_eq!(masked.get(), few.json(&large).unwrap().get());

        let key = Arc::new(WaitKey(SigningKey([7; 64])));
        let many = |count: usize| -> BTreeMap<String, String> {
            let values = (0..count).map(|number| (format!("V{number}"), format!("{number:01024}")));
            values.collect()
        };
        let some = many(16);
        let building = std::pin::pin!(Masks::built(&aside, &key, "u_1", &some));
        assert!(futures::poll!(building).is_ready());
        let all = many(17);
        let mut building = std::pin::pin!(Masks::built(&aside, &key, "u_1", &all));
        assert!(futures::poll!(&mut building).is_pending());
        let built = building.await.unwrap();
        assert!(!built.text(&format!("a {:01024}", 16)).contains("0016"));
    }

    fn mask(value: &str, name: &str) -> Mask {
        Mask::new(value, name).unwrap()
    }

    /// Whichever set a value is in, and in whichever order they are looked through.
    #[test]
    fn masks_of_accounts_beside_those_of_variables_are_as_one_set() {
        let parts = [
            "secret",
            "secret-a",
            "a-token",
            "\"quoted\"",
            "\\nnine",
            "hunter2\"x",
        ];
        let all = (0..)
            .zip(parts)
            .map(|(number, part)| mask(part, &format!("M{number}")));
        let all: Vec<Mask> = all.collect();
        let one = Masks::default().with(all.clone());
        let value = json!({
            "secret-a-token": ["secret secret-a", "a-token\"quoted\"", "\\nnine \nine"],
            "last": "xhunter2\"xsecret-", "none": "\n",
        });
        let (raw, text) = (to_raw_value(&value).unwrap(), value.to_string());
        let expected = one.json(&raw).unwrap();
        assert_eq!(
            expected.get().matches("***").count(),
            2 * 8,
            "{}",
            expected.get()
        );
        for split in 0..1 << all.len() {
            let of = |wanted: usize| {
                let masks = all.iter().enumerate();
                let masks = masks.filter(|(number, _)| split >> number & 1 == wanted);
                masks.map(|(_, mask)| mask.clone()).collect()
            };
            let both = Masks::default().with(of(0)).with(of(1));
            assert_eq!(both.json(&raw).unwrap().get(), expected.get(), "{split:b}");
            assert_eq!(both.text(&text), one.text(&text), "{split:b}");
            assert_eq!(both.opened(expected.get()), text, "{split:b}");
        }
    }

    /// The large set of the variables is shared, and not put together for each step with an account.
    #[tokio::test]
    async fn masks_of_accounts_leave_those_of_variables_as_they_are() {
        let aside = Aside::default();
        let variables = Arc::new(masks(&[("TOKEN", "hunter2-hunter2")]));
        let none = variables.beside(&aside, Vec::new()).await.unwrap();
        assert!(Arc::ptr_eq(&none, &variables));
        let small = vec![mask("hunter3-hunter3", "key")];
        let mut building = std::pin::pin!(variables.beside(&aside, small));
        let std::task::Poll::Ready(both) = futures::poll!(&mut building) else {
            panic!("so little is done at once");
        };
        let both = both.unwrap();
        assert!(Arc::ptr_eq(&both.sets[0], &variables.sets[0]));
        let text = both.text("hunter2-hunter2 hunter3-hunter3").into_owned();
        assert!(!text.contains("hunter"), "{text}");
        let long = vec![mask(&"x".repeat(BUILT_AT_ONCE + 1), "key")];
        let mut building = std::pin::pin!(variables.beside(&aside, long));
        assert!(futures::poll!(&mut building).is_pending());
        assert_eq!(building.await.unwrap().sets.len(), 2);
    }

    #[test]
    fn text_without_values_stays_and_marks_of_others_open_nothing() {
        let masks = masks(&[("A", "hunter2")]);
        assert!(
            masks
                .json(&to_raw_value(&json!("plain")).unwrap())
                .is_none()
        );
        let foreign = Masks::of(
            &WaitKey(SigningKey([8; 64])),
            "u_1",
            &BTreeMap::from([("A".to_owned(), "hunter2".to_owned())]),
        );
        let mark = foreign.text("hunter2").into_owned();
        assert_eq!(masks.opened(&format!("\"{mark}\"")), format!("\"{mark}\""));
        assert_eq!(masks.opened("\"***A:***\""), "\"***A:***\"");
    }
}
