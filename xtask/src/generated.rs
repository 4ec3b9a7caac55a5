//! Documents that the product writes of itself: asked of the binary, and written down.

use anyhow::{Context as _, Result};

use crate::command::{cargo, output, root};

/// `docs/openapi.json`, from the handlers' annotations.
pub(crate) fn openapi() -> Result<()> {
    write("openapi", "docs/openapi.json")
}

/// `docs/guide/configuration.md`, from the options of `serve`.
pub(crate) fn configuration() -> Result<()> {
    write("configuration", "docs/guide/configuration.md")
}

fn write(command: &str, path: &str) -> Result<()> {
    // The binary embeds nothing of the files that counts here, so it can be built while they are out of date.
    let document =
        output(cargo().args(["run", "--quiet", "--package", "headwater", "--", command]))
            .with_context(|| format!("cannot get the document from `headwater {command}`"))?;
    let path = root().join(path);
    std::fs::write(&path, document).with_context(|| format!("cannot write {}", path.display()))
}
