//! The corpus: texts that would do harm on a page that takes them for something else than text.

/// Each of them sets `window.__xss` wherever it is taken for markup or code, hides something, or is a name that
/// JavaScript has a meaning for.
pub(crate) const TEXTS: [&str; 16] = [
    "<script>window.__xss=1</script>",
    "\"><img src=x onerror=\"window.__xss=1\">",
    "' autofocus onfocus='window.__xss=1",
    "</script></textarea></title></style><svg onload=window.__xss=1>",
    "<!--<iframe srcdoc=\"<script>parent.__xss=1</script>\">",
    "javascript:window.__xss=1",
    "[a link](javascript:window.__xss=1) ![x](https://example.com/x.png)",
    "${window.__xss=1} {{constructor.constructor('window.__xss=1')()}}",
    "&lt;b&gt; &amp;amp; &#x202e;",
    "bidi \u{202e}gnp.exe\u{2066}x\u{2069} and \u{200b}zero\u{feff}width\u{ad}",
    "\u{1b}[31mred\u{1b}[0m and \u{1b}]0;title\u{7}bell",
    "__proto__",
    "constructor",
    "مرحبا بالعالم, שלום עולם",
    "=cmd|' /C calc'!A0",
    "🎉 e\u{301} 中文",
];

/// A name of nothing but the worst, short enough for whatever has a name.
pub(crate) const NAME: &str = "<b onclick=window.__xss=1>\"'</script>\u{202e}gnp\u{200b} مرحبا";

/// A name without any place to break it.
pub(crate) fn long() -> String {
    "wide".repeat(60)
}

/// The texts as one, each on a line.
pub(crate) fn all() -> String {
    TEXTS.join("\n")
}

/// The text as a page shows it: nothing hidden, no colours of terminals.
pub(crate) fn seen(text: &str) -> String {
    let without_colours = text.replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
    let chars = without_colours.chars().map(|char| match char {
        '\u{202e}' | '\u{2066}' | '\u{2069}' | '\u{200b}' | '\u{feff}' | '\u{ad}' | '\u{1b}'
        | '\u{7}' => char.escape_unicode().to_string(),
        char => char.to_string(),
    });
    chars.collect()
}
