//! The tokens in the URLs of waits: they name run, place and generation, and are signed, so that a URL is good before
//! anything about its step is stored, and nobody can guess another.

use headwater_model::id::InvocationId;
use headwater_store::WaitId;
use serde::Serialize;

use crate::signing_key::SigningKey;

/// The three URLs of a wait, as a step's input has them.
#[derive(Debug, Clone, Serialize)]
pub struct WaitUrls {
    /// Lets the run go on.
    pub resume: String,
    /// Ends the run.
    pub cancel: String,
    /// Lets the step run again at once.
    pub rerun: String,
    /// The token in all of them.
    #[serde(skip)]
    pub(crate) token: String,
}

impl WaitUrls {
    /// The URLs of a wait on the node's public address.
    pub(crate) fn of(public_url: &str, token: &str) -> Self {
        let url = |action: &str| format!("{public_url}/w/{token}/{action}");
        Self {
            resume: url("resume"),
            cancel: url("cancel"),
            rerun: url("rerun"),
            token: token.to_owned(),
        }
    }
}

/// The means to state the URLs of a run's waits.
pub(super) struct Urls<'a> {
    pub(super) key: &'a WaitKey,
    pub(super) public_url: &'a str,
}

impl Urls<'_> {
    /// The URLs of a wait.
    pub(super) fn of(&self, wait: &WaitId) -> WaitUrls {
        WaitUrls::of(self.public_url, &self.key.token(wait))
    }
}

/// The key that signs them.
pub(crate) struct WaitKey(pub(crate) SigningKey);

impl WaitKey {
    /// The token of a wait, which names it as `<run id> <generation> <path>`.
    pub(crate) fn token(&self, wait: &WaitId) -> String {
        self.0.token(&format!(
            "{} {} {}",
            wait.run_id, wait.generation, wait.path
        ))
    }

    /// The wait that a token names; `None` for one that this installation did not create.
    pub(crate) fn wait(&self, token: &str) -> Option<WaitId> {
        let name = self.0.name(token)?;
        let mut parts = name.splitn(3, ' ');
        let run_id: InvocationId = parts.next()?.parse().ok()?;
        let generation = parts.next()?.parse().ok()?;
        let path = parts.next()?.to_owned();
        Some(WaitId {
            run_id,
            path,
            generation,
        })
    }

    /// A mark that nobody else can state, for a name.
    pub(crate) fn mark(&self, name: &str) -> String {
        self.0.mark(name)
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    fn wait() -> WaitId {
        WaitId {
            run_id: InvocationId::new(EpochMs(1), 7),
            path: "route.large.each[3].approve".to_owned(),
            generation: 2,
        }
    }

    #[test]
    fn a_token_names_its_wait() {
        let key = WaitKey(SigningKey([7; 64]));
        assert_eq!(key.wait(&key.token(&wait())), Some(wait()));
        assert_eq!(WaitKey(SigningKey([8; 64])).wait(&key.token(&wait())), None);
        for name in ["", "run_1", "run_1 2", "1 2 path"] {
            assert_eq!(key.wait(&key.0.token(name)), None, "{name}");
        }
    }
}
