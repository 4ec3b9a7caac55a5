//! Advice for authors about packages that cannot be resolved. Not responsible for detecting that.

use super::specifier::PackageImport;

/// Advice for the author about a package that cannot be resolved; nothing when it is not their fault.
pub(super) fn explain(packages: &[PackageImport], specifier: &str, error: &str) -> Option<String> {
    let import = packages.iter().find(|package| {
        specifier
            .trim_start_matches("npm:")
            .starts_with(&package.requirement())
    });
    let written = import.map_or(specifier, |import| import.written.as_str());
    if error.contains("does not exist") {
        let name = import.map_or(specifier, |import| import.name.as_str());
        if let Some(app) = name.strip_prefix("@pipedream/") {
            return Some(format!(
                "`{written}`: the package registry has no package `{name}`: Pipedream has not published its app `{app}` \
                 on npm, or calls it otherwise — take the component from a checkout of its repository, \
                 github.com/PipedreamHQ/pipedream, below components/{app}"
            ));
        }
        return Some(format!(
            "`{written}`: the package registry has no package `{name}` ({error}) — check its spelling, \
             or the registry in your npm settings if it is a private one"
        ));
    }
    if error.contains("Invalid package specifier") {
        return Some(format!(
            "`{written}`: the text after the @ is not a version that an import can request — write an \
             exact version (`7.5.4`), a range (`^7.5`, `~7.5`, `7.x`), a tag (`latest`), or nothing \
             for the latest release"
        ));
    }
    let no_release = [
        "Could not find npm package",
        "Could not find constraint",
        "Could not find dist-tag",
    ];
    if no_release.iter().any(|sign| error.contains(sign)) {
        return Some(format!(
            "`{written}`: no release matches ({error}) — import a version that exists, or none for the latest"
        ));
    }
    None
}
