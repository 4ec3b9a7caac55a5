//! The files of tests: the event that a run begins with, the mocks around it, and the expectations of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use headwater_model::outcome::ComponentError;
use headwater_workflow::{moment::span, yaml};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::expectation::Expectation;
use super::network::HttpMock;

/// The time that Pipedream's `$.flow.suspend` waits unless told otherwise.
const SUSPENDED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// A test.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// The name of its file, without the ending.
    #[serde(skip)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) event: Value,
    /// Fields of `steps.trigger.context` and `$.context` in place of the usual ones.
    #[serde(default)]
    pub(super) context: Map<String, Value>,
    #[serde(default, rename = "mocks")]
    given_mocks: BTreeMap<String, Value>,
    /// By namespace, one per attempt.
    #[serde(skip)]
    pub(super) mocks: BTreeMap<String, Vec<Mock>>,
    /// The network. Without it, actions of the registry do not run at all.
    #[serde(default)]
    pub(super) http: Option<Vec<HttpMock>>,
    /// `process.env` of the steps.
    #[serde(default)]
    pub(super) variables: BTreeMap<String, String>,
    /// `$auth` by the account that props name.
    #[serde(default)]
    pub(super) accounts: BTreeMap<String, Map<String, Value>>,
    #[serde(default)]
    pub(super) expect: Expectation,
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
    throws: Option<Throws>,
    suspend: Option<Value>,
    resume_after: Option<Value>,
    #[serde(default)]
    resume_data: Value,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Throws {
    Text(String),
    Error(GivenError),
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
    /// Reads the tests of a folder, in the order of their names.
    pub(super) fn all(dir: &Path, only: Option<&str>) -> Result<Vec<Self>> {
        let folder = dir.join("tests");
        let shown = folder.display();
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot read {shown}; put tests there, such as {shown}/first.yaml"))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read {shown}"))?.path();
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
                cases.push(Self::read(&name, path)?);
            }
        }
        match (cases.is_empty(), only) {
            (true, Some(only)) => bail!("there is no test {shown}/{only}.yaml; `--only` takes the name of a file there"),
            (true, None) => bail!("there are no tests in {shown}; a test is a YAML file"),
            (false, _) => Ok(cases),
        }
    }

    fn read(name: &str, path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        Self::parse(name, &text).with_context(|| format!("{shown} is not a test"))
    }

    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        let mut case: Self = serde_json::from_value(yaml::value(text)?)?;
        name.clone_into(&mut case.name);
        for (namespace, given) in &case.given_mocks {
            let read = mocks(given).with_context(|| format!("mocks.{namespace}"))?;
            case.mocks.insert(namespace.clone(), read);
        }
        case.expect.check().context("expect")?;
        Ok(case)
    }

    /// The mocks of a namespace that stand in for its code.
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
        Value::Array(list) if list.is_empty() => bail!("the list is empty; name what each attempt does"),
        Value::Array(list) => list.iter().map(mock).collect(),
        one => Ok(vec![mock(one)?]),
    }
}

fn mock(given: &Value) -> Result<Mock> {
    let given = GivenMock::deserialize(given)?;
    if given.throws.is_some() && (given.returns.is_some() || given.suspend.is_some()) {
        bail!("an attempt that throws neither returns nor suspends; use a list for several attempts");
    }
    let suspended_for = match &given.suspend {
        None | Some(Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(SUSPENDED_FOR),
        Some(given) => Some(duration("suspend", given)?),
    };
    let resume = given.resume_after.as_ref().map(|after| {
        Ok::<_, anyhow::Error>(Resume {
            after: duration("resume_after", after)?,
            data: given.resume_data.clone(),
        })
    });
    Ok(Mock {
        replaces_code: given.returns.is_some()
            || !given.exports.is_empty()
            || given.throws.is_some()
            || suspended_for.is_some()
            || resume.is_none(),
        resume: resume.transpose()?,
        returns: given.returns,
        exports: given.exports,
        throws: given.throws.map(error),
        suspended_for,
    })
}

fn duration(field: &str, given: &Value) -> Result<Duration> {
    span(given).with_context(|| format!("{field}: {given} is not a time span such as 30s, 2h or 500"))
}

fn error(throws: Throws) -> ComponentError {
    let given = match throws {
        Throws::Text(message) => GivenError {
            name: None,
            message,
            code: None,
        },
        Throws::Error(given) => given,
    };
    ComponentError {
        name: given.name.unwrap_or_else(|| "Error".to_owned()),
        message: given.message,
        code: given.code,
        ..ComponentError::default()
    }
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
        assert_eq!(case.mocks["ask"][0].resume.as_ref().unwrap().data, json!({ "ok": true }));
    }

    #[test]
    fn mistakes_are_told_with_their_field() {
        for (text, told) in [
            ("evnt: {}", "evnt"),
            ("mocks: { a: { return: 1 } }", "mocks.a"),
            ("mocks: { a: [] }", "mocks.a"),
            ("mocks: { a: { throws: x, returns: 1 } }", "throws"),
            ("mocks: { a: { resume_after: soon } }", "resume_after"),
            ("expect: { status: done }", "status"),
        ] {
            let error = format!("{:#}", Case::parse("a", text).unwrap_err());
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
