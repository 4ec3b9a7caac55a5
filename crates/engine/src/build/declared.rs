//! Versions that the nearest `package.json` of a component's files requires, applied to imports without a version. A
//! range that an import can have stays one; any other (`>=1 <2`, `1 || 2`) is resolved here, as `package.json` means
//! it, and the import gets the version. Not responsible for finding the file.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use serde_json::json;

use super::{
    command::{DenoTool, Purpose},
    failure::{BuildResult, disk, not_resolved},
    layout::LOCK,
    specifier::PackageImport,
};

/// Parts of a range that an import cannot have.
const SEVERAL: &[char] = &[' ', '|', '<', '>', '=', ','];

#[derive(Deserialize, Default)]
#[serde(default)]
struct Lock {
    specifiers: BTreeMap<String, String>,
}

/// Adds the versions in `ranges` to imports without one.
pub(super) async fn apply(
    tool: &DenoTool,
    folder: &Path,
    ranges: &BTreeMap<String, String>,
    packages: &mut [PackageImport],
) -> BuildResult<()> {
    let mut several = BTreeMap::new();
    for package in packages
        .iter_mut()
        .filter(|package| package.range.is_none())
    {
        let Some(range) = ranges.get(&package.name).map(|range| range.trim()) else {
            continue;
        };
        if range.contains(SEVERAL) {
            several.insert(package.name.clone(), range.to_owned());
        } else if !range.is_empty() {
            package.declared = Some(range.to_owned());
        }
    }
    if several.is_empty() {
        return Ok(());
    }
    let versions = versions(tool, folder, &several).await?;
    for package in packages
        .iter_mut()
        .filter(|package| package.range.is_none())
    {
        if let Some(range) = several.get(&package.name) {
            let version = versions.get(&package.name).ok_or_else(|| {
                not_resolved(format!(
                    "`{}`: no release matches `{range}`, which the nearest package.json asks for",
                    package.written
                ))
            })?;
            package.declared = Some(version.clone());
        }
    }
    Ok(())
}

/// The versions that these ranges resolve to, as far as they do.
async fn versions(
    tool: &DenoTool,
    folder: &Path,
    ranges: &BTreeMap<String, String>,
) -> BuildResult<BTreeMap<String, String>> {
    let scratch = folder.join("declared");
    let failed = |error: std::io::Error| disk(&scratch, &error);
    tokio::fs::create_dir_all(&scratch).await.map_err(failed)?;
    let imports: Vec<String> = ranges
        .keys()
        .map(|name| format!("import {};", json!(name)))
        .collect();
    for (name, text) in [
        (
            "package.json",
            json!({ "dependencies": ranges }).to_string(),
        ),
        ("deno.json", json!({ "nodeModulesDir": "none" }).to_string()),
        ("main.mjs", imports.join("\n")),
    ] {
        tokio::fs::write(scratch.join(name), text)
            .await
            .map_err(failed)?;
    }
    let arguments = [
        "info",
        "--json",
        "--no-remote",
        "--config",
        "deno.json",
        "--lock",
        LOCK,
        "main.mjs",
    ];
    // It reads only our own list, and the registry may require a token.
    let step = tool.run(Purpose::Registry, &scratch, arguments).await?;
    step.unavailable().map_or(Ok(()), Err)?;
    let lock = tokio::fs::read(scratch.join(LOCK))
        .await
        .unwrap_or_default();
    let lock: Lock = serde_json::from_slice(&lock).unwrap_or_default();
    let known = lock
        .specifiers
        .into_iter()
        .filter_map(|(specifier, version)| {
            let package = specifier.strip_prefix("npm:")?;
            let name = ranges.keys().find(|name| {
                package
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with('@'))
            })?;
            // Releases that it was installed beside are in parts after its version.
            let version = version.split('_').next().unwrap_or_default();
            Some((name.clone(), version.to_owned()))
        });
    Ok(known.collect())
}
