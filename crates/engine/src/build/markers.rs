//! Signs that a package's code cannot live in a bundle: it looks for files beside itself, or decides
//! at run time what to load.

/// The sign in a bundle's text that it will not work, if there is one.
pub(super) fn unbundlable(bundle: &str) -> Option<String> {
    let mut module = "";
    for line in bundle.lines() {
        if let Some(path) = line.strip_prefix("// ") {
            if !path.contains(' ') && path.contains('.') {
                module = path;
            }
            continue;
        }
        // Long lines are data and minified code, in which any word may occur; they are searched all the same.
        if let Some(sign) = sign(line, module.contains("/npm/")) {
            return Some(format!("{sign} in {module}"));
        }
    }
    None
}

fn sign(line: &str, in_package: bool) -> Option<&'static str> {
    // Own code is alone in its module in every form, so another form would not help it.
    let beside = ["__dirname", "__filename"]
        .into_iter()
        .find(|word| in_package && has_word(line, word));
    let addressed = [
        "import.meta.url",
        "import.meta.dirname",
        "import.meta.filename",
    ];
    let addressed = addressed
        .into_iter()
        .find(|expression| in_package && line.contains(expression));
    let native = [".node\"", ".node'", ".node`"]
        .iter()
        .any(|ending| line.contains(ending) && line.contains("equire"));
    beside
        .or(addressed)
        .or(native.then_some("a native addon"))
        .or(computed_require(line).then_some("a computed require"))
}

/// A `require` whose argument is not a literal: the bundler leaves it to run time.
fn computed_require(line: &str) -> bool {
    line.match_indices("__require(").any(|(at, call)| {
        let argument = &line[at + call.len()..];
        !line[..at].ends_with("function ") && !argument.starts_with(['"', '\'', ')'])
            || argument.starts_with(['"', '\'']) && concatenated(argument)
    })
}

/// Whether the literal at the beginning of `argument` is part of a concatenation.
fn concatenated(argument: &str) -> bool {
    let quote = argument.chars().next().unwrap_or('"');
    argument[1..]
        .split_once(quote)
        .is_some_and(|(_, after)| after.trim_start().starts_with('+'))
}

/// Whether `word` occurs in `line` as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (
            line[..at].chars().next_back(),
            line[at + word.len()..].chars().next(),
        );
        !before.is_some_and(|c| is_word(c) || c == '.') && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::unbundlable;

    #[test]
    fn code_that_looks_beside_itself_or_loads_at_run_time_is_noticed() {
        for (line, found) in [
            ("var map = __require(__dirname + \"/reserved.js\");", true),
            ("const here = import.meta.url;", true),
            ("__require(`cardinal${X}`)", true),
            ("__require(name)", true),
            ("__require(\"./lang/\" + name)", true),
            (
                "sharp = require2(\"@img/sharp-linux-x64/sharp.node\");",
                true,
            ),
            ("var util = __require(\"node:util\");", false),
            ("try { color = __require(\"supports-color\"); }", false),
            (
                "var __commonJS = (cb, mod) => function __require() {",
                false,
            ),
            ("let my__dirname2 = 1; x.__dirname", false),
        ] {
            let bundle = format!("// ../../deno-dir/npm/host/pkg/1.0.0/index.js\n{line}\n");
            assert_eq!(unbundlable(&bundle).is_some(), found, "{line}");
        }
        for own in [
            "import.meta.url",
            "typeof __filename",
            "join(__dirname, name)",
        ] {
            let bundle =
                format!("var r = createRequire(import.meta.url);\n// code/component.mjs\n{own}");
            assert_eq!(unbundlable(&bundle), None, "{own}");
        }
    }
}
