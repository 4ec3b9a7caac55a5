//! The names of files and folders of builds.

/// The import map of a build folder.
pub(super) const CONFIG: &str = "deno.json";
/// Deno's lock file of a build folder.
pub(super) const LOCK: &str = "deno.lock";
/// A module that imports every package, so that one step resolves and locks them all.
pub(super) const PACKAGES: &str = "packages.mjs";
/// A module that imports the platform package and nothing else.
pub(super) const PLATFORM_MODULE: &str = "platform.mjs";
/// Another one, the component's place being taken by it.
pub(super) const PLATFORM_IMPORTER: &str = "component.mjs";
/// A module that stands for the platform package.
pub(super) const PLATFORM_STUB: &str = "platform.cjs";
/// The import map that leads to it.
pub(super) const STUB_CONFIG: &str = "stub.json";
/// The folder of what the bundler makes of a component and the platform package apart.
pub(super) const APART: &str = "apart";
/// The folder of builds, beside that of Deno's cache.
pub(super) const BUILDS: &str = "builds";
