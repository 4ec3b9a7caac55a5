//! The files that an import may refer to when its ending is missing, or is that of compiled TypeScript.
//! Only own modules are found in this way; packages declare their exports.

/// Endings that are not changed.
const MODULES: &[&str] = &[
    "mjs", "js", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "wasm",
];
/// The endings of what may have been compiled to a file of an ending.
const COMPILED: &[(&str, &[&str])] = &[
    (".js", &[".ts", ".tsx"]),
    (".jsx", &[".tsx"]),
    (".mjs", &[".mts"]),
    (".cjs", &[".cts"]),
];
/// The endings that are tried for an import without one.
const LEFT_OUT: &[&str] = &[".ts", ".js", ".mjs", ".tsx", "/index.ts", "/index.js"];
/// The endings that the bundler tries for a `require`.
const REQUIRED: &[&str] = &[".js"];

/// One way to write out a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    /// The end that is taken off the path.
    off: &'static str,
    /// The end that is put there instead.
    on: &'static str,
}

impl Ending {
    const AS_WRITTEN: Self = Self { off: "", on: "" };

    /// The path with this ending.
    pub(super) fn apply(self, path: &str) -> String {
        let stem = path.strip_suffix(self.off).unwrap_or(path);
        format!("{stem}{}", self.on)
    }
}

/// The endings to try for an imported path, in order.
pub(super) fn of_import(path: &str) -> Vec<Ending> {
    let compiled = COMPILED.iter().find(|(ending, _)| path.ends_with(ending));
    let (off, on) = match compiled {
        Some((off, on)) => (*off, *on),
        None if is_module(path) => ("", &[][..]),
        None => ("", LEFT_OUT),
    };
    let others = on.iter().map(|on| Ending { off, on });
    std::iter::once(Ending::AS_WRITTEN).chain(others).collect()
}

/// The endings to try for a required path, in order.
pub(super) fn of_require() -> Vec<Ending> {
    let others = REQUIRED.iter().map(|on| Ending { off: "", on });
    std::iter::once(Ending::AS_WRITTEN).chain(others).collect()
}

fn is_module(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| MODULES.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::{of_import, of_require};

    #[test]
    fn endings_are_tried_where_one_is_missing_or_compiled() {
        let tried = |path: &str| -> Vec<String> {
            of_import(path)
                .iter()
                .map(|ending| ending.apply(path))
                .collect()
        };
        assert_eq!(tried("/a/b.mjs"), ["/a/b.mjs", "/a/b.mts"]);
        assert_eq!(tried("/a/b.js"), ["/a/b.js", "/a/b.ts", "/a/b.tsx"]);
        assert_eq!(tried("/a/b.json"), ["/a/b.json"]);
        assert_eq!(tried("/a.js/b")[..2], ["/a.js/b", "/a.js/b.ts"]);
        assert_eq!(tried("/shop.app")[..2], ["/shop.app", "/shop.app.ts"]);
        let required: Vec<_> = of_require()
            .iter()
            .map(|ending| ending.apply("/a"))
            .collect();
        assert_eq!(required, ["/a", "/a.js"]);
    }
}
