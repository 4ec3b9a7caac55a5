//! The page of the guide: packages with the numbers of their components, and then each component.

use super::file::{Component, Index, Package};

pub(super) fn text(index: &Index) -> String {
    let packages: Vec<&Package> = index.packages().collect();
    let sum = |kind| {
        packages
            .iter()
            .map(|package| count(package, kind))
            .sum::<usize>()
    };
    let rows: Vec<String> = packages.iter().map(|package| row(package)).collect();
    let lists: Vec<String> = packages.iter().map(|package| list(package)).collect();
    format!(
        "\
# Components on npm

<!-- `cargo xtask index` writes this page. -->

`headwater search` finds these components, besides those that are published on the node and the actions
that it brings along, and shows the words to deploy or run each: its key is enough. Every node carries the index; searching asks no registry.

```console
$ headwater search gitlab issue
$ headwater search spreadsheet --type action
```

{} packages with {} sources and {} actions. The index has a package as it was on the day in the table;
what you deploy is the newest version, unless you name another (`npm:PACKAGE@VERSION/path`). A later
component is not found by `search` until the node is a newer one, and is deployed all the same by its
path; `headwater publish npm:PACKAGE` finds all that a package has now. `cargo xtask index` looks at
the packages again. [Published components](compatibility.md) tells what does not work.

| package | sources | actions | version | as of |
|---|---|---|---|---|
{}

{}",
        packages.len(),
        sum("source"),
        sum("action"),
        rows.join("\n"),
        lists.join("\n")
    )
}

fn row(package: &Package) -> String {
    format!(
        "| `{}` | {} | {} | {} | {} |",
        package.name,
        count(package, "source"),
        count(package, "action"),
        package.version,
        package.seen_on
    )
}

/// The components of a package, sources first.
fn list(package: &Package) -> String {
    let of_kind = |kind| {
        package
            .components
            .iter()
            .filter(move |one| one.kind == kind)
    };
    let lines: String = of_kind("source")
        .chain(of_kind("action"))
        .map(line)
        .collect();
    format!(
        "\
## {}

| key | type | name |
|---|---|---|
{lines}",
        package.name
    )
}

fn line(component: &Component) -> String {
    let Component {
        key, kind, name, ..
    } = component;
    format!("| `{key}` | {kind} | {} |\n", name.replace('|', "\\|"))
}

fn count(package: &Package, kind: &str) -> usize {
    let components = package.components.iter();
    components
        .filter(|component| component.kind == kind)
        .count()
}
