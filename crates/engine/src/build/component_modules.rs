//! The modules of a downloaded package that look like components, each in the form that can be run.

use std::path::Path;

use super::{
    component_files::component_files,
    failure::{BuildResult, disk},
    resolved::Downloaded,
};

/// The folders in which registry packages have their components.
const FOLDERS: &[&str] = &["sources", "actions"];
/// The folder in which packages written in TypeScript have the modules that can be run.
const COMPILED: &str = "dist/";

/// The modules of a package that look like components.
pub(super) async fn of_package(package: &Downloaded) -> BuildResult<Vec<String>> {
    let folder = package.local_path.clone();
    let found = tokio::task::spawn_blocking(move || component_files(&folder)).await;
    let files = found
        .map_err(std::io::Error::other)
        .and_then(|files| files)
        .map_err(|error| disk(&package.local_path, &error))?;
    let paths = files.iter().filter(|path| is_filed(path));
    let paths: Vec<_> = paths.filter_map(|path| path.to_str()).collect();
    let original = |path: &&&str| !is_compiled(path, &paths);
    Ok(paths
        .iter()
        .filter(original)
        .map(|path| (*path).to_owned())
        .collect())
}

/// Whether a file is in one of the folders that registry packages use.
fn is_filed(path: &Path) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|folder| FOLDERS.iter().any(|known| folder.as_os_str() == *known))
}

/// Whether a TypeScript file exists as JavaScript, too.
fn is_compiled(path: &str, paths: &[&str]) -> bool {
    let Some((stem, "ts" | "mts")) = path.rsplit_once('.') else {
        return false;
    };
    ["mjs", "js"]
        .iter()
        .any(|ending| paths.contains(&&*format!("{COMPILED}{stem}.{ending}")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_compiled, is_filed};

    #[test]
    fn components_are_in_the_folders_of_sources_and_actions() {
        for (path, expected) in [
            ("sources/new-row/new-row.mjs", true),
            ("actions/send.mjs", true),
            ("dist/sources/a/a.mjs", true),
            ("lib/a.mjs", false),
            ("sources.mjs", false),
        ] {
            assert_eq!(is_filed(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn what_was_compiled_stands_for_its_source() {
        let paths = ["actions/a/a.ts", "actions/b/b.ts", "dist/actions/a/a.mjs"];
        let kept = paths.iter().filter(|path| !is_compiled(path, &paths));
        assert_eq!(
            kept.collect::<Vec<_>>(),
            [&"actions/b/b.ts", &"dist/actions/a/a.mjs"]
        );
    }
}
