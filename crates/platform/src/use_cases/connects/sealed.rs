//! The data of a connect that must not be readable in the store.

use headwater_model::{hash::SecretHash, id::ConnectId};
use headwater_store::{Connect, Sealed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{error::PlatformError, platform::Platform};

/// The data of a connect in progress.
#[derive(Serialize, Deserialize)]
pub(super) struct ConnectData {
    /// The app's fields as far as they are known.
    pub(super) fields: Map<String, Value>,
    /// The proof key, once the browser was sent to the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) verifier: Option<String>,
    /// The hash of the token in the cookie of the browser that was sent to the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) browser_hash: Option<SecretHash>,
}

impl ConnectData {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self {
            fields,
            verifier: None,
            browser_hash: None,
        }
    }
}

impl Platform {
    pub(super) fn seal_data(
        &self,
        id: &ConnectId,
        data: &ConnectData,
    ) -> Result<Sealed, PlatformError> {
        let text = serde_json::to_vec(data).map_err(|error| {
            PlatformError::Internal(format!("a connect cannot be written: {error}"))
        })?;
        self.secret_keys.seal(&self.core.env, id.as_str(), &text)
    }

    pub(super) fn open_data(&self, connect: &Connect) -> Result<ConnectData, PlatformError> {
        let id = connect.id.as_str();
        let plain = self.secret_keys.open(id, &connect.sealed)?;
        serde_json::from_slice(&plain).map_err(|_| {
            PlatformError::Internal(format!("the data of connect `{id}` is malformed"))
        })
    }
}
