//! Module specifiers as components write them: `axios`, `axios@0.19.2`, `@scope/name@^1/path`,
//! `npm:…`, `node:…`, `fs`, `./file`, `https://…`.

/// The modules that Deno and Node have built in, by their bare names.
const BUILT_IN: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// The package that registry code imports without declaring it.
pub(super) const PLATFORM: &str = "@pipedream/platform";

/// The target of a specifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Specifier {
    /// A file beside the importing one.
    Relative,
    /// A module at a URL, or at an absolute path of the importing file's host.
    Address,
    /// A module of the runtime.
    BuiltIn,
    /// A package of the npm registry.
    Package(PackageImport),
    /// A target that components cannot import.
    Unsupported,
}

/// An import of a package, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PackageImport {
    /// The specifier as the component has it.
    pub(super) written: String,
    /// The package's name, with its scope.
    pub(super) name: String,
    /// The version range, when one is pinned.
    pub(super) range: Option<String>,
    /// The version range that holds when none is pinned, if not the latest.
    pub(super) declared: Option<String>,
    /// The module inside the package, with its leading `/`; empty for the main one.
    pub(super) path: String,
    /// Whether it was written with `npm:`.
    pub(super) prefixed: bool,
}

impl Specifier {
    /// The bare names of the modules of the runtime.
    pub(super) fn built_ins() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().copied()
    }

    pub(super) fn parse(written: &str) -> Self {
        if written.starts_with("./") || written.starts_with("../") || matches!(written, "." | "..")
        {
            return Self::Relative;
        }
        if written.starts_with("https://")
            || written.starts_with("http://")
            || written.starts_with('/')
        {
            return Self::Address;
        }
        if written.starts_with("node:") {
            return Self::BuiltIn;
        }
        if let Some(package) = written.strip_prefix("npm:") {
            let package = PackageImport::parse(written, package.trim_start_matches('/'), true);
            return package.map_or(Self::Unsupported, Self::Package);
        }
        let root = written.split('/').next().unwrap_or_default();
        if BUILT_IN.contains(&root) && !written.ends_with('/') {
            return Self::BuiltIn;
        }
        if written.contains(':') {
            return Self::Unsupported;
        }
        PackageImport::parse(written, written, false).map_or(Self::Unsupported, Self::Package)
    }
}

impl PackageImport {
    fn parse(written: &str, text: &str, prefixed: bool) -> Option<Self> {
        // A scope's slash belongs to the name; the range ends at the slash after it.
        let scope_end = if text.starts_with('@') {
            text.find('/')? + 1
        } else {
            0
        };
        let name_end = text[scope_end..]
            .find(['@', '/'])
            .map_or(text.len(), |at| scope_end + at);
        let (name, rest) = text.split_at(name_end);
        let (range, path) = match rest.strip_prefix('@') {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (
                    Some(rest[..end].to_owned()).filter(|range| !range.is_empty()),
                    &rest[end..],
                )
            }
            None => (None, rest),
        };
        let path = path.trim_end_matches('/').to_owned();
        let written = written.to_owned();
        (is_package_name(name) && stays_inside(&path)).then(|| Self {
            written,
            name: name.to_owned(),
            range,
            declared: None,
            path,
            prefixed,
        })
    }

    /// The range to resolve: for an unpinned import the declared one, or else the latest release.
    pub(super) fn range(&self) -> &str {
        let range = self.range.as_deref().or(self.declared.as_deref());
        range.unwrap_or("latest")
    }

    /// The package to install, for people: `axios@latest`.
    pub(super) fn requirement(&self) -> String {
        format!("{}@{}", self.name, self.range())
    }

    /// The same import with `npm:` and a range.
    pub(super) fn resolvable(&self) -> String {
        format!("npm:{}{}", self.requirement(), self.path)
    }
}

/// Tells whether a path names something in its package, also once it is decoded.
fn stays_inside(path: &str) -> bool {
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    let twice = percent_encoding::percent_decode_str(&decoded).decode_utf8_lossy();
    let mut parts = twice.split(['/', '\\']);
    parts.all(|part| !matches!(part.trim(), "." | "..")) && !twice.contains('\0')
}

fn is_package_name(name: &str) -> bool {
    let (scope, name) = match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .map_or((Some(""), scoped), |(scope, name)| (Some(scope), name)),
        None => (None, name),
    };
    let valid = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '_', '-'])
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~'))
    };
    scope.is_none_or(valid) && valid(name)
}

#[cfg(test)]
mod tests {
    use super::Specifier;

    #[test]
    fn specifiers_are_told_apart() {
        for (written, expected) in [
            ("./x.mjs", "Relative"),
            ("../x.mjs", "Relative"),
            ("https://example.com/x.mjs", "Address"),
            ("/x.mjs", "Address"),
            ("fs", "BuiltIn"),
            ("fs/promises", "BuiltIn"),
            ("node:test", "BuiltIn"),
            ("jsr:@std/path", "Unsupported"),
            ("data:text/javascript,1", "Unsupported"),
            ("#internal", "Unsupported"),
            ("@scope", "Unsupported"),
            ("npm:", "Unsupported"),
            ("npm:ms@2.1.3/../../x", "Unsupported"),
            ("ms/a/./b.js", "Unsupported"),
            ("ms/%2e%2e/x", "Unsupported"),
            ("ms/a%2f..%2fx", "Unsupported"),
            ("ms/%252e%252e/x", "Unsupported"),
            ("ms/..\\x", "Unsupported"),
            ("ms@../x/..", "Unsupported"),
        ] {
            let parsed = format!("{:?}", Specifier::parse(written));
            assert_eq!(parsed, expected, "{written}");
        }
    }

    #[test]
    fn package_imports_are_taken_apart() {
        for (written, resolvable) in [
            ("axios", "npm:axios@latest"),
            ("axios@0.19.2", "npm:axios@0.19.2"),
            ("axios@^0.20", "npm:axios@^0.20"),
            ("lodash@4/get", "npm:lodash@4/get"),
            ("lodash/get.js", "npm:lodash@latest/get.js"),
            ("@scope/name", "npm:@scope/name@latest"),
            ("@scope/name@^1.2/a/b.mjs", "npm:@scope/name@^1.2/a/b.mjs"),
            ("npm:pg", "npm:pg@latest"),
            ("npm:@scope/name@1/x.mjs", "npm:@scope/name@1/x.mjs"),
            ("string_decoder2", "npm:string_decoder2@latest"),
        ] {
            let Specifier::Package(package) = Specifier::parse(written) else {
                panic!("{written} is a package");
            };
            assert_eq!(package.resolvable(), resolvable);
            assert_eq!(package.written, written);
        }
    }
}
