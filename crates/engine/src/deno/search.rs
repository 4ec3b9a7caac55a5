//! The places in which programs are looked for: Deno, and the package clients that can fetch it.

use std::{ffi::OsString, path::PathBuf};

/// The places to look for Deno.
#[derive(Debug, Clone)]
pub struct DenoSearch {
    /// The user's choice (`HEADWATER_DENO`). Used as it is when it runs and its version fits; nothing else is tried.
    pub override_path: Option<PathBuf>,
    /// `PATH`, searched for `deno`, `npm` and `pip`, and given to the package client.
    pub path_var: Option<OsString>,
    /// The user's cache folder for Headwater; Deno is kept in `deno-VERSION/` below it.
    pub cache_dir: PathBuf,
    /// The other variables that a package client needs to honour the user's settings:
    /// home folder, mirrors, proxies, certificates.
    pub client_env: Vec<(OsString, OsString)>,
}

/// The files called `name` on the search path, in its order.
pub(super) fn candidates<'a>(
    search: &'a DenoSearch,
    name: &'a str,
) -> impl Iterator<Item = PathBuf> + 'a {
    let folders = search.path_var.iter().flat_map(std::env::split_paths);
    // An empty entry means the current folder, from which nothing should be run by accident.
    folders
        .filter(|folder| folder.is_absolute())
        .map(move |folder| folder.join(name))
        .filter(|path| path.is_file())
}
