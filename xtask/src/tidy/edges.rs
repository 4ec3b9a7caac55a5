//! Which crate may depend on which: the tables of what is allowed, held against `cargo metadata`.
//! Everything that is in no table is forbidden.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::violation::{Rule, Violation};
use crate::command::{cargo, output, root};

/// The crates that each crate may use. A crate exists to forbid the others.
const EDGES: &[(&str, &[&str])] = &[
    ("headwater-model", &[]),
    ("headwater-store", &["headwater-model"]),
    (
        "headwater-engine",
        &["headwater-javascript", "headwater-model"],
    ),
    ("headwater-javascript", &[]),
    ("headwater-mail", &[]),
    ("headwater-mcp", &["headwater-model"]),
    (
        "headwater-workflow",
        &["headwater-javascript", "headwater-model"],
    ),
    (
        "headwater-store-sqlite",
        &["headwater-store", "headwater-model"],
    ),
    (
        "headwater-store-postgres",
        &["headwater-store", "headwater-model"],
    ),
    (
        "headwater-platform",
        &[
            "headwater-store",
            "headwater-engine",
            "headwater-mail",
            "headwater-model",
            "headwater-workflow",
        ],
    ),
    (
        "headwater-api",
        &["headwater-mcp", "headwater-platform", "headwater-model"],
    ),
    ("headwater-ui", &["headwater-platform", "headwater-model"]),
    ("headwater", PRODUCT),
    ("headwater-integration", PRODUCT_AND_BINARY),
    ("xtask", &[]),
    // Starts the release binary as a user would; links nothing of it.
    ("headwater-benches", &[]),
];

/// The crates that only a crate's tests may use besides.
const TEST_EDGES: &[(&str, &[&str])] = &[
    // Use cases are tested on the real store in memory, which cannot drift from the real store.
    ("headwater-platform", &["headwater-store-sqlite"]),
];

const PRODUCT: &[&str] = &[
    "headwater-model",
    "headwater-store",
    "headwater-engine",
    "headwater-javascript",
    "headwater-mail",
    "headwater-mcp",
    "headwater-workflow",
    "headwater-store-sqlite",
    "headwater-store-postgres",
    "headwater-platform",
    "headwater-api",
    "headwater-ui",
];

const PRODUCT_AND_BINARY: &[&str] = &[
    "headwater",
    "headwater-model",
    "headwater-store",
    "headwater-engine",
    "headwater-mail",
    "headwater-mcp",
    "headwater-workflow",
    "headwater-store-sqlite",
    "headwater-store-postgres",
    "headwater-platform",
    "headwater-api",
    "headwater-ui",
];

/// Libraries that stand for a responsibility, and the crates that have it.
const OWNED_LIBRARIES: &[(&str, &[&str])] = &[
    // The engine settles Deno's cache, whose files are databases.
    ("rusqlite", &["headwater-store-sqlite", "headwater-engine"]),
    ("tokio-postgres", &["headwater-store-postgres"]),
    ("lettre", &["headwater-mail"]),
    ("mail-parser", &["headwater-mail"]),
    ("granit-parser", &["headwater-workflow"]),
    (
        "axum",
        &[
            "headwater-api",
            "headwater-ui",
            "headwater",
            "headwater-integration",
            "headwater-benches",
        ],
    ),
    (
        "http",
        &[
            "headwater-api",
            "headwater-mcp",
            "headwater-ui",
            "headwater",
            "headwater-integration",
        ],
    ),
    ("rmcp", &["headwater-mcp"]),
    ("hyper", &["headwater"]),
    ("hyper-util", &["headwater"]),
    ("clap", &["headwater"]),
    (
        "anyhow",
        &[
            "headwater",
            "headwater-integration",
            "headwater-benches",
            "xtask",
        ],
    ),
];

/// The workspace's packages with their declared dependencies.
pub(super) fn metadata() -> Result<Value> {
    let json = output(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    serde_json::from_str(&json).context("`cargo metadata` printed no JSON")
}

pub(super) fn check(metadata: &Value) -> Result<Vec<Violation>> {
    let packages = metadata["packages"]
        .as_array()
        .context("no `packages` in the metadata")?;
    let names: Vec<_> = packages
        .iter()
        .map(|package| text(package, "name"))
        .collect();
    let mut found = Vec::new();
    for package in packages {
        let name = text(package, "name");
        if !EDGES.iter().any(|(known, _)| *known == name) {
            let advice = "is no crate of the design; add it to EDGES in xtask/src/tidy/edges.rs";
            found.push(violation(package, format!("`{name}` {advice}")));
            continue;
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            found.extend(forbidden(name, dependency, &names).map(|text| violation(package, text)));
        }
    }
    Ok(found)
}

fn forbidden(from: &str, dependency: &Value, members: &[&str]) -> Option<String> {
    let to = text(dependency, "name");
    let is_dev = text(dependency, "kind") == "dev";
    if members.contains(&to) {
        let is_allowed = allows(EDGES, from, to) || (is_dev && allows(TEST_EDGES, from, to));
        let allowed = EDGES
            .iter()
            .find(|(name, _)| *name == from)
            .map(|(_, to)| to.join(", "));
        return (!is_allowed).then(|| {
            let allowed = allowed
                .filter(|list| !list.is_empty())
                .unwrap_or("no other crate".to_owned());
            format!("`{from}` may not depend on `{to}`; it may use {allowed}")
        });
    }
    let (library, owners) = OWNED_LIBRARIES.iter().find(|(library, _)| *library == to)?;
    (!is_dev && !owners.contains(&from)).then(|| {
        format!(
            "`{from}` may not use `{library}`; that is the business of {}",
            owners.join(", ")
        )
    })
}

fn allows(table: &[(&str, &[&str])], from: &str, to: &str) -> bool {
    table
        .iter()
        .any(|(name, allowed)| *name == from && allowed.contains(&to))
}

fn violation(package: &Value, text_: String) -> Violation {
    let manifest = text(package, "manifest_path");
    let root = root();
    let path = manifest
        .strip_prefix(&*root.to_string_lossy())
        .unwrap_or(manifest);
    Violation {
        rule: Rule::Edge,
        path: path.trim_start_matches('/').to_owned(),
        line: 1,
        text: text_,
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The violations that `check` finds in one package with these dependencies, among all known ones.
    fn found(from: &str, dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let dependencies: Vec<_> = dependencies
            .iter()
            .map(|(name, kind)| json!({"name": name, "kind": kind}))
            .collect();
        let others = EDGES.iter().filter(|(name, _)| *name != from);
        let mut packages: Vec<_> = others
            .map(|(name, _)| json!({"name": name, "dependencies": []}))
            .collect();
        let manifest = root().join("crates/x/Cargo.toml");
        packages
            .push(json!({"name": from, "manifest_path": manifest, "dependencies": dependencies}));
        let violations = check(&json!({ "packages": packages })).unwrap();
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_designs_edges_are_allowed() {
        for (from, allowed) in EDGES {
            let edges: Vec<_> = allowed.iter().map(|to| (*to, None)).collect();
            assert_eq!(found(from, &edges), [""; 0]);
        }
    }

    #[test]
    fn any_other_edge_is_refused_with_what_is_allowed() {
        for (from, to) in [
            ("headwater-model", "headwater-store"),
            ("headwater-engine", "headwater-store"),
            ("headwater-platform", "headwater-store-sqlite"),
            ("headwater-api", "headwater-store"),
            ("headwater-store-sqlite", "headwater-platform"),
            ("headwater", "headwater-integration"),
            ("xtask", "headwater-model"),
        ] {
            assert_eq!(found(from, &[(to, None)]).len(), 1, "{from} → {to}");
        }
        assert_eq!(
            found("headwater-api", &[("headwater-store", None)]),
            [
                "crates/x/Cargo.toml:1: `headwater-api` may not depend on `headwater-store`; \
                 it may use headwater-mcp, headwater-platform, headwater-model"
            ]
        );
    }

    #[test]
    fn some_edges_are_for_tests_only() {
        let to = "headwater-store-sqlite";
        assert_eq!(found("headwater-platform", &[(to, Some("dev"))]), [""; 0]);
        assert_eq!(found("headwater-platform", &[(to, Some("build"))]).len(), 1);
        assert_eq!(found("headwater-model", &[(to, Some("dev"))]).len(), 1);
    }

    #[test]
    fn a_library_that_stands_for_a_responsibility_stays_with_its_owner() {
        assert_eq!(
            found("headwater-store-sqlite", &[("rusqlite", None)]),
            [""; 0]
        );
        assert_eq!(found("headwater-platform", &[("rusqlite", None)]).len(), 1);
        assert_eq!(found("headwater-platform", &[("http", None)]).len(), 1);
        assert_eq!(found("headwater-platform", &[("anyhow", None)]).len(), 1);
    }

    #[test]
    fn an_unknown_crate_is_a_question() {
        assert!(found("headwater-extra", &[])[0].contains("is no crate of the design"));
    }
}
