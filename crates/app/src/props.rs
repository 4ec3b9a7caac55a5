//! The final values of props: what a component's code finds on `this`.
//!
//! Responsible for secrets opened, defaults filled in, and credentials in place of accounts. Not for whether
//! values fit (`model::prop`), nor for what only a source has, its endpoints and timers.

use headwater_model::prop::{ConfiguredProps, PropDefinition, PropKind};
use serde_json::{Map, Value, json};

use crate::{app::App, error::AppError};

/// Values by prop, and whether a run with them can succeed.
pub(crate) struct FinalProps {
    pub(crate) values: Map<String, Value>,
    /// Why no run can succeed, if an account is gone.
    pub(crate) broken: Option<String>,
}

impl App {
    /// The final values of these props.
    ///
    /// # Errors
    /// `Internal` when a secret cannot be opened. A missing account breaks the runs, not the reading.
    pub(crate) async fn final_props(
        &self,
        definitions: &[PropDefinition],
        configured: &ConfiguredProps,
    ) -> Result<FinalProps, AppError> {
        let mut values = self.opened_props(configured)?;
        let mut broken = None;
        for prop in definitions {
            let value = match (prop.kind(), values.get(&prop.name)) {
                (PropKind::App, Some(configured)) => {
                    match self.auth(&prop.name, configured).await {
                        Ok(auth) => Some(json!({ "$auth": auth })),
                        Err(AppError::Conflict(reason)) => {
                            broken = Some(reason);
                            None
                        }
                        Err(error) => return Err(error),
                    }
                }
                (PropKind::Input, Some(configured)) => Some(prop.final_value(configured)),
                (PropKind::Input, None) => prop.default_value().cloned(),
                _ => None,
            };
            if let Some(value) = value {
                values.insert(prop.name.clone(), value);
            }
        }
        Ok(FinalProps { values, broken })
    }

    /// A source's configured values with secrets opened.
    pub(crate) fn opened_props(
        &self,
        configured: &ConfiguredProps,
    ) -> Result<ConfiguredProps, AppError> {
        let open = |(name, value): (&String, &Value)| {
            self.secret_key
                .open_prop(name, value)
                .map(|value| (name.clone(), value))
        };
        configured.iter().map(open).collect()
    }
}
