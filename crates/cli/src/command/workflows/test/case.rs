//! The files of tests: the event that a run begins with, the mocks around it, and the expectations of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use headwater_model::outcome::ComponentError;
use headwater_model::time::EpochMs;
use headwater_workflow::moment::{moment, span};
use headwater_workflow::yaml;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::expectation::Expectation;
use super::network::HttpMock;
use super::reading::read;

/// The time that Pipedream's `$.flow.suspend` waits unless told otherwise.
const SUSPENDED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// The endings of files that are tests.
const ENDINGS: [&str; 2] = [".yaml", ".yml"];

/// A test.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// The name of its file, without the ending.
    #[serde(skip)]
    pub(super) name: String,
    /// `steps.trigger.event`; an empty object where the test names none.
    #[serde(default = "empty_event")]
    pub(super) event: Value,
    /// Fields of `steps.trigger.context` and `$.context` in place of the usual ones.
    #[serde(default)]
    pub(super) context: Map<String, Value>,
    #[serde(default, rename = "mocks")]
    given_mocks: BTreeMap<String, Value>,
    /// By namespace, one per attempt.
    #[serde(skip)]
    pub(super) mocks: BTreeMap<String, Vec<Mock>>,
    #[serde(default, rename = "http")]
    given_http: Option<Vec<Value>>,
    /// The network. Without it, actions of the registry do not run at all.
    #[serde(skip)]
    pub(super) http: Option<Vec<HttpMock>>,
    /// `process.env` of the steps.
    #[serde(default)]
    pub(super) variables: BTreeMap<String, String>,
    /// `$auth` by the account that props name.
    #[serde(default)]
    pub(super) accounts: BTreeMap<String, Map<String, Value>>,
    /// The time when the test begins.
    now: Option<Value>,
    #[serde(skip)]
    began_ms: Option<EpochMs>,
    #[serde(default)]
    pub(super) expect: Expectation,
}

fn empty_event() -> Value {
    Value::Object(Map::new())
}

/// The stand-in for one attempt of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Mock {
    pub(super) returns: Option<Value>,
    pub(super) exports: Map<String, Value>,
    pub(super) throws: Option<ComponentError>,
    /// The time after which it is given up.
    pub(super) suspended_for: Option<Duration>,
    pub(super) resume: Option<Resume>,
    /// Whether it stands in for the code, and not only for whoever answers its wait.
    pub(super) replaces_code: bool,
}

/// The answer to a wait.
#[derive(Debug, Clone)]
pub(super) struct Resume {
    pub(super) after: Duration,
    pub(super) data: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenMock {
    #[serde(default, deserialize_with = "present")]
    returns: Option<Value>,
    #[serde(default)]
    exports: Map<String, Value>,
    throws: Option<Value>,
    suspend: Option<Value>,
    resume_after: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    resume_data: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenError {
    #[serde(default)]
    name: Option<String>,
    message: String,
    #[serde(default)]
    code: Option<Value>,
}

/// A member that is there, `null` too.
fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl Case {
    /// Reads the tests of a folder by name, in the order of their names. A file that is not a test does not keep the
    /// others.
    pub(super) fn all(dir: &Path, only: Option<&str>) -> Result<Vec<(String, Result<Self>)>> {
        let only = only.map(|only| {
            let ending = ENDINGS.iter().find_map(|ending| only.strip_suffix(ending));
            ending.unwrap_or(only)
        });
        let folder = dir.join("tests");
        let shown = folder.display();
        let entries = std::fs::read_dir(&folder).with_context(|| {
            format!("cannot read {shown}; put tests there, such as {shown}/first.yaml")
        })?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry
                .with_context(|| format!("cannot read {shown}"))?
                .path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if matches!(ending, Some("yaml" | "yml")) {
                paths.push(path);
            }
        }
        paths.sort();
        let mut cases = Vec::new();
        for path in &paths {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if only.is_none_or(|only| only == name) {
                cases.push((name.to_string(), Self::read(&name, path)));
            }
        }
        match (cases.is_empty(), only) {
            (true, Some(only)) => bail!(
                "there is no test {shown}/{only}.yaml; `--only` takes the name of a file there"
            ),
            (true, None) => bail!("there are no tests in {shown}; a test is a YAML file"),
            (false, _) => Ok(cases),
        }
    }

    /// The moment at which each trial begins: `now` of the test, or else this one.
    pub(super) fn began_ms(&self) -> EpochMs {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        self.began_ms.unwrap_or(EpochMs::default() + since_epoch)
    }

    fn read(name: &str, path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        Self::parse(name, &text).with_context(|| format!("{shown} is not a test"))
    }

    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        let value = yaml::value(text)?;
        match &value {
            Value::Object(_) => {}
            Value::Null => bail!("it is empty; give it keys such as `event` and `expect`"),
            other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                bail!("expected keys such as `event` and `expect`, and there is {other}")
            }
        }
        let mut case: Self = read(&value)?;
        name.clone_into(&mut case.name);
        for (namespace, given) in &case.given_mocks {
            let read = mocks(given).with_context(|| format!("mocks.{namespace}"))?;
            case.mocks.insert(namespace.clone(), read);
        }
        if let Some(given) = &case.given_http {
            let http = given.iter().enumerate().map(|(index, given)| {
                HttpMock::read(given).with_context(|| format!("http[{index}]"))
            });
            case.http = Some(http.collect::<Result<_>>()?);
        }
        if let Some(now) = &case.now {
            let read = moment(now).with_context(|| {
                format!("now: {now} is not a time such as 2026-03-01T08:00:00Z")
            })?;
            case.began_ms = Some(read);
        }
        case.expect.check().context("expect")?;
        Ok(case)
    }

    /// The mocks of a namespace that stand in for its code: all of them, or none.
    pub(super) fn code_mocks(&self, namespace: &str) -> &[Mock] {
        let mocks = self.mocks.get(namespace).map_or(&[][..], Vec::as_slice);
        match mocks.iter().any(|mock| mock.replaces_code) {
            true => mocks,
            false => &[],
        }
    }
}

fn mocks(given: &Value) -> Result<Vec<Mock>> {
    match given {
        Value::Array(list) if list.is_empty() => {
            bail!("the list is empty; name what each attempt does")
        }
        Value::Array(list) => {
            let mocks = list.iter().enumerate();
            let mocks = mocks
                .map(|(index, given)| mock(given).with_context(|| format!("[{index}]")))
                .collect::<Result<Vec<_>>>()?;
            if mocks
                .iter()
                .any(|mock| mock.replaces_code != mocks[0].replaces_code)
            {
                bail!(
                    "some of the list stand in for the step's code, and others only answer the waits of its code; either all do the one, or all the other"
                );
            }
            Ok(mocks)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Ok(vec![mock(given)?])
        }
    }
}

fn mock(given: &Value) -> Result<Mock> {
    if !given.is_object() {
        bail!("{given} is not an object such as {{ returns: {given} }}");
    }
    let given: GivenMock = read(given)?;
    check(&given)?;
    let throws = given.throws.as_ref().map(error).transpose()?;
    let suspended_for = match &given.suspend {
        None | Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(SUSPENDED_FOR),
        Some(given) => Some(duration("suspend", given)?),
    };
    let resume = given.resume_after.as_ref().map(|after| {
        Ok::<_, anyhow::Error>(Resume {
            after: duration("resume_after", after)?,
            data: given.resume_data.clone().unwrap_or_default(),
        })
    });
    Ok(Mock {
        replaces_code: given.returns.is_some()
            || !given.exports.is_empty()
            || throws.is_some()
            || suspended_for.is_some()
            || resume.is_none(),
        resume: resume.transpose()?,
        returns: given.returns,
        exports: given.exports,
        throws,
        suspended_for,
    })
}

/// Refuses fields of which one has no effect beside the other.
fn check(given: &GivenMock) -> Result<()> {
    let suspends = !matches!(given.suspend, None | Some(Value::Bool(false)));
    if given.throws.is_some() && (given.returns.is_some() || suspends) {
        bail!(
            "throws: an attempt that throws neither returns nor suspends; use a list for several attempts"
        );
    }
    if given.throws.is_some() && given.resume_after.is_some() {
        bail!("resume_after: an attempt that throws does not wait for an answer");
    }
    let ends = given.returns.is_some() || !given.exports.is_empty();
    if given.resume_after.is_some() && ends && !suspends {
        bail!("resume_after: the mock does not wait for an answer; give it `suspend: true`");
    }
    if given.resume_after.is_none() && given.resume_data.is_some() {
        bail!("resume_data: name the time of the answer, too: resume_after: 1h");
    }
    Ok(())
}

fn duration(field: &str, given: &Value) -> Result<Duration> {
    span(given)
        .with_context(|| format!("{field}: {given} is not a time span such as 30s, 2h or 500"))
}

/// A text, or an error with its fields.
fn error(throws: &Value) -> Result<ComponentError> {
    let given = match throws {
        Value::String(message) => GivenError {
            name: None,
            message: message.clone(),
            code: None,
        },
        Value::Object(_) => read(throws).context("throws")?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            bail!("throws: {throws} is neither a text nor an object with `message`")
        }
    };
    Ok(ComponentError {
        name: given.name.unwrap_or_else(|| "Error".to_owned()),
        message: given.message,
        code: given.code,
        ..ComponentError::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mocks_are_one_or_a_list_of_attempts() {
        let case = Case::parse(
            "a",
            "mocks:\n  approve: { suspend: true, resume_after: 2h, returns: { ts: 1 } }\n  reserve: [{ returns: null }, { throws: gone }]\n  \
             ask: { resume_after: 5m, resume_data: { ok: true } }\n",
        )
        .unwrap();
        let approve = &case.code_mocks("approve")[0];
        assert_eq!(approve.suspended_for, Some(SUSPENDED_FOR));
        assert_eq!(approve.resume.as_ref().unwrap().after.as_secs(), 7200);
        let [first, second] = case.code_mocks("reserve") else {
            panic!("two attempts");
        };
        assert_eq!(first.returns, Some(Value::Null));
        assert_eq!(second.throws.as_ref().unwrap().message, "gone");
        assert!(case.code_mocks("ask").is_empty(), "its code runs");
        assert_eq!(
            case.mocks["ask"][0].resume.as_ref().unwrap().data,
            json!({ "ok": true })
        );
    }

    #[test]
    fn mistakes_are_told_with_their_field() {
        for (text, told) in [
            ("", "it is empty; give it keys"),
            ("# nothing yet\n", "it is empty; give it keys"),
            ("- event", "expected keys such as `event`"),
            ("evnt: {}", "evnt"),
            ("mocks: { a: { return: 1 } }", "mocks.a"),
            ("mocks: { a: [] }", "mocks.a"),
            ("mocks: { a: 7 }", "mocks.a: 7"),
            ("mocks: { a: { throws: x, returns: 1 } }", "throws"),
            ("mocks: { a: { throws: 7 } }", "mocks.a: throws: 7"),
            ("mocks: { a: { throws: { nme: x } } }", "mocks.a: throws: "),
            (
                "mocks: { a: [{ returns: 1 }, { throws: x, resume_after: 1h }] }",
                "mocks.a: [1]: resume_after",
            ),
            (
                "mocks: { a: { returns: 1, resume_after: 1h } }",
                "suspend: true",
            ),
            ("mocks: { a: { resume_data: 1 } }", "resume_after: 1h"),
            (
                "mocks: { a: [{ returns: 1 }, { resume_after: 1h }] }",
                "either all",
            ),
            ("variables: { PORT: 80 }", "variables.PORT: "),
            ("accounts: { apn_1: 7 }", "accounts.apn_1: "),
            ("expect: { calls: { a: x } }", "expect.calls.a: "),
            (
                "http: [{ match: { methd: GET, url: a }, reply: {} }]",
                "http[0]: match: ",
            ),
            ("http: [{ match: 7, reply: {} }]", "http[0]: match: 7"),
            ("http: [{ match: \"ftp://a\", reply: {} }]", "match: url: "),
            (
                "http: [{ match: \"G=T /a\", reply: {} }]",
                "match: method: ",
            ),
            ("http: [{ match: \"a/?b=*\", reply: {} }]", "match: url: "),
            ("http: [{ match: a, reply: [] }]", "http[0]: reply: "),
            ("http: [{ match: a, reply: 7 }]", "reply: 7"),
            (
                "http: [{ match: a, reply: [{}, { status: 99 }] }]",
                "reply: [1]: status: 99",
            ),
            (
                "http: [{ match: a, reply: { status: 600 } }]",
                "status: 600",
            ),
            (
                "http: [{ match: a, reply: { headers: { \"a b\": x } } }]",
                "headers.a b",
            ),
            ("mocks: { a: { resume_after: soon } }", "resume_after"),
            ("expect: { status: done }", "status"),
        ] {
            let error = format!("{:#}", Case::parse("a", text).unwrap_err());
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
