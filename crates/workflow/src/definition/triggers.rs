//! The triggers of a workflow.

use headwater_model::{id::TriggerId, schedule::Schedule, subscription::EmitterPattern};
use serde_json::{Map, Value};

use super::code::StepCode;
use crate::{template::Template, yaml::Position};

/// A trigger: any of them starts runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    /// Its id, if the file names one. Otherwise it is in `.workflow.state`, under [`Trigger::key`].
    pub id: Option<TriggerId>,
    /// Its name in `.workflow.state`: its type, and from the second of a type on its number (`http`, `http_2`).
    pub key: String,
    /// Its configuration.
    pub config: TriggerConfig,
    /// `idempotency_key`: a second event with the same value starts nothing.
    pub idempotency_key: Option<Template>,
    /// Its place in the file.
    pub position: Position,
}

/// The configuration of a trigger.
#[derive(Debug, Clone, PartialEq)]
pub enum TriggerConfig {
    /// `http`: requests at a URL.
    Http(HttpTrigger),
    /// `schedule`: ticks.
    Schedule(Schedule),
    /// `email`: mail to an address.
    Email,
    /// `source`: events of a source that the workflow deploys.
    Source(SourceTrigger),
    /// `events`: events of other emitters.
    Events(EventsTrigger),
    /// A synced trigger whose configuration Pipedream does not write into the file; the id tells its kind. A deployment
    /// refuses it and says which keys to add.
    NotInFile,
}

/// A trigger by requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HttpTrigger {
    /// `respond`: who answers. `None` if the file does not say, as synced ones do not: [`HttpResponse::Workflow`] then fits
    /// a workflow that calls `$.respond`, and [`HttpResponse::Default`] any other.
    pub respond: Option<HttpResponse>,
    /// `auth.bearer`: the token that requests have to bring.
    pub bearer: Option<Template>,
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpResponse {
    /// The platform's, at once.
    Default,
    /// That of `$.respond`.
    Workflow,
}

/// A trigger by a source of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTrigger {
    /// The source's code.
    pub uses: StepCode,
    /// Its configured props, as the file has them: expressions are not evaluated in them.
    pub props: Map<String, Value>,
}

/// A trigger by events of emitters that are there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventsTrigger {
    /// The emitters.
    pub emitter: EmitterPattern,
    /// The channel; `None` for the one without a name.
    pub channel: Option<String>,
}

impl TriggerConfig {
    /// Its `type` in files; `None` for one whose configuration is not in the file.
    pub fn as_str(&self) -> Option<&'static str> {
        match self {
            Self::Http(_) => Some("http"),
            Self::Schedule(_) => Some("schedule"),
            Self::Email => Some("email"),
            Self::Source(_) => Some("source"),
            Self::Events(_) => Some("events"),
            Self::NotInFile => None,
        }
    }
}
