//! `docs/openapi.json`: the product's own document, asked of the binary and written down.

use anyhow::{Context as _, Result};

use crate::command::{cargo, output, root};

pub(crate) fn write() -> Result<()> {
    // The binary embeds nothing of the file, so it can be built while the file is out of date.
    let document =
        output(cargo().args(["run", "--quiet", "--package", "headwater", "--", "openapi"]))
            .context("cannot get the document from `headwater openapi`")?;
    let path = root().join("docs/openapi.json");
    std::fs::write(&path, document).with_context(|| format!("cannot write {}", path.display()))
}
