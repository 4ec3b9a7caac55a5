//! `openapi`: the document that nodes serve at `/openapi.json`, of no node in particular. For
//! `cargo xtask openapi`, which commits it.

use anyhow::Result;

use crate::exit::Exit;
use crate::output;

pub(crate) fn run() -> Result<Exit> {
    output::data(headwater_api::openapi_json().trim_end())?;
    Ok(Exit::Success)
}
