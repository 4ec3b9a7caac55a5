//! The search that the address of `/events` has.

use headwater_model::{event_search::EventPlace, id::EmitterId, time::EpochMs};
use headwater_platform::{EventTimes, EventView, EventsSearch, PlatformError};
use serde_json::{Map, Value};
use url::form_urlencoded::{self, Serializer};

use crate::{
    query::{TIME, read, since, until},
    visit::Visitor,
};

/// The parameters; empty ones do not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(super) words: String,
    /// Values at places, such as `user.tags[0]=new`.
    pub(super) paths: Vec<String>,
    pub(super) emitter: String,
    pub(super) channel: String,
    /// The earliest and the latest time, as people write them.
    pub(super) since: String,
    pub(super) until: String,
    /// The place behind which the page begins.
    pub(super) after: String,
}

impl Wanted {
    /// The search of a query, in which `path` may stand several times.
    pub(super) fn parse(query: &str) -> Self {
        let mut wanted = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if value.trim().is_empty() {
                continue;
            }
            let value = value.into_owned();
            match name.as_ref() {
                "q" => wanted.words = value,
                "path" => wanted.paths.push(value),
                "emitter" => wanted.emitter = value,
                "channel" => wanted.channel = value,
                "since" => wanted.since = value,
                "until" => wanted.until = value,
                "after" => wanted.after = value,
                _ => {}
            }
        }
        wanted
    }

    /// The search of a view.
    pub(super) fn of_view(view: &EventView) -> Self {
        let emitter = view.emitter.as_ref().map(ToString::to_string);
        Self {
            words: view.words.clone(),
            paths: view.paths.clone(),
            emitter: emitter.unwrap_or_default(),
            channel: view.channel.clone().unwrap_or_default(),
            since: view.times.since.clone().unwrap_or_default(),
            until: view.times.until.clone().unwrap_or_default(),
            after: String::new(),
        }
    }

    /// Whether anything is left out.
    pub(super) fn filters(&self) -> bool {
        !self.query().is_empty()
    }

    /// The same in an address, from the first page on.
    pub(super) fn query(&self) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(self.fields());
        query.finish()
    }

    /// The parameters that filter.
    pub(super) fn fields(&self) -> Vec<(&'static str, &str)> {
        let one = [("q", self.words.as_str())].into_iter();
        let paths = self.paths.iter().map(|path| ("path", path.as_str()));
        let all = one.chain(paths).chain([
            ("emitter", self.emitter.as_str()),
            ("channel", &self.channel),
            ("since", &self.since),
            ("until", &self.until),
        ]);
        all.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The same up to now, with spans of time as moments: the question before an act and the act mean the same events.
    pub(super) fn at(mut self, now_ms: EpochMs) -> Self {
        if let Some(since) = since(&self.since, now_ms) {
            self.since = since.to_string();
        }
        if self.until.is_empty() {
            self.until = now_ms.to_string();
        } else if let Some(until) = until(&self.until, now_ms) {
            self.until = until.to_string();
        }
        self
    }

    /// Its times as they are written.
    pub(super) fn times(&self) -> EventTimes {
        let [since, until] = [&self.since, &self.until].map(|text| Some(text.clone()));
        EventTimes { since, until }
    }

    /// Whether it is of all events, or of all of one emitter.
    pub(super) fn is_of_everything(&self) -> bool {
        let rest = Self {
            emitter: String::new(),
            after: String::new(),
            ..self.clone()
        };
        rest == Self::default()
    }

    /// The words and the values that a row marks, in lower case. A single character would be marked everywhere.
    pub(super) fn marked_words(&self) -> Vec<String> {
        let words = self.words.split_whitespace();
        let values = self.paths.iter().filter_map(|path| path.split_once('='));
        let values = values.map(|(_, value)| value.trim().trim_matches('"'));
        let values = values.filter(|value| value.chars().nth(1).is_some());
        words.chain(values).map(str::to_lowercase).collect()
    }

    /// The same search as the query of a request to the API.
    pub(super) fn request(&self, visitor: &Visitor) -> String {
        let mut query = Serializer::new(String::new());
        query.extend_pairs(self.paths.iter().map(|path| ("path", path)));
        query.extend_pairs(self.asked(visitor));
        for (name, moment) in self.moments(visitor.now_ms) {
            query.append_pair(name, &moment.to_string());
        }
        query.finish()
    }

    /// The same as the filter of a request, with the place behind which it begins.
    pub(super) fn filter(&self, visitor: &Visitor) -> Value {
        let texts = self.asked(visitor).into_iter();
        let texts = texts.map(|(name, value)| (name.to_owned(), Value::from(value)));
        let moments = self.moments(visitor.now_ms).into_iter();
        let moments = moments.map(|(name, moment)| (name.to_owned(), Value::from(moment.0)));
        let mut filter: Map<_, _> = texts.chain(moments).collect();
        if !self.paths.is_empty() {
            filter.insert("path".to_owned(), self.paths.clone().into());
        }
        if !self.after.is_empty() {
            filter.insert("after".to_owned(), self.after.clone().into());
        }
        Value::Object(filter)
    }

    /// The texts of the search, as the API calls them.
    fn asked(&self, visitor: &Visitor) -> Vec<(&'static str, String)> {
        let emitter = match self.emitter.parse::<EmitterId>() {
            Ok(EmitterId::Workflow(id)) => ("workflow_id", id.to_string()),
            Ok(EmitterId::Source(id)) => ("source_id", id.to_string()),
            Err(_) => ("source_id", String::new()),
        };
        let workspace = visitor.workspace.as_ref().map(ToString::to_string);
        let all = [
            ("q", self.words.clone()),
            emitter,
            ("channel", self.channel.clone()),
            ("workspace_id", workspace.unwrap_or_default()),
        ];
        let all = all.into_iter();
        all.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The times of the search.
    fn moments(&self, now_ms: EpochMs) -> Vec<(&'static str, EpochMs)> {
        let times = [
            ("since", since(&self.since, now_ms)),
            ("until", until(&self.until, now_ms)),
        ];
        let times = times.into_iter();
        times
            .filter_map(|(name, moment)| Some((name, moment?)))
            .collect()
    }

    /// The search, within the workspace whose things are shown.
    ///
    /// # Errors
    /// `Invalid` names the time that cannot be read.
    pub(super) fn search(&self, visitor: &Visitor) -> Result<EventsSearch, PlatformError> {
        let now_ms = visitor.now_ms;
        Ok(EventsSearch {
            since_ms: read(("since", &self.since), TIME, |text| since(text, now_ms))?,
            until_ms: read(("until", &self.until), TIME, |text| until(text, now_ms))?,
            emitter: self.emitter.parse::<EmitterId>().ok(),
            workspace_id: visitor.workspace.clone(),
            channel: Some(self.channel.clone()).filter(|channel| !channel.is_empty()),
            words: self.words.clone(),
            paths: self.paths.clone(),
            after: self.after.parse::<EventPlace>().ok(),
            ..EventsSearch::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_survives_its_address() {
        let wanted = Wanted::parse(
            "q=two+words&path=a%3D1&path=b%5B0%5D%3D2&channel=&emitter=p_x&since=24h&until=2026-01-31&x=y",
        );
        assert_eq!(wanted.words, "two words");
        assert_eq!(wanted.paths, ["a=1", "b[0]=2"]);
        assert_eq!(Wanted::parse(&wanted.query()), wanted);
        assert_eq!((&*wanted.since, &*wanted.until), ("24h", "2026-01-31"));
        assert!(wanted.filters() && !wanted.is_of_everything());
        let of_source = Wanted::parse("emitter=p_x&after=place");
        assert!(of_source.is_of_everything() && Wanted::default().is_of_everything());
        let marked = Wanted::parse("q=Paid+x&path=user.plan%3DPro&path=n%3D1&path=s%3D%22ab%22");
        assert_eq!(marked.marked_words(), ["paid", "x", "pro", "ab"]);
        let now = EpochMs(1_800_000_000_000);
        let fixed = Wanted::parse("q=x&since=1s&after=place").at(now);
        assert_eq!(
            (&*fixed.since, &*fixed.until, &*fixed.after),
            ("1799999999000", "1800000000000", "place")
        );
        assert_eq!(fixed.clone().at(EpochMs(1)), fixed);
        let second = Wanted::parse("after=place&path=");
        assert!(!second.filters());
        assert_eq!(second.after, "place");
    }
}
