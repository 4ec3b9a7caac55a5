//! Alternatives to well-known packages that components cannot use.

const ALTERNATIVES: &[(&str, &str)] = &[
    ("@napi-rs/canvas", "`pureimage`"),
    ("@swc/core", "`sucrase`"),
    ("@tensorflow/tfjs-node", "`@tensorflow/tfjs`"),
    ("argon2", "`hash-wasm`"),
    ("bcrypt", "`bcryptjs`"),
    ("better-sqlite3", "`sql.js`"),
    ("canvas", "`pureimage`"),
    ("esbuild", "`sucrase`"),
    ("farmhash", "`farmhash-modern`"),
    ("grpc", "`@grpc/grpc-js`"),
    ("iconv", "`iconv-lite`"),
    ("libpq", "`pg`"),
    ("libxmljs", "`fast-xml-parser`"),
    ("libxmljs2", "`fast-xml-parser`"),
    ("lightningcss", "`lightningcss-wasm`"),
    ("node-expat", "`sax`"),
    ("node-sass", "`sass`"),
    ("onnxruntime-node", "`onnxruntime-web`"),
    ("pg-native", "`pg`"),
    (
        "puppeteer",
        "`puppeteer-core`, connected to a browser that runs elsewhere,",
    ),
    ("rollup", "`@rollup/wasm-node`"),
    ("sharp", "`jimp`"),
    ("snappy", "`snappyjs`"),
    ("sqlite3", "`sql.js`"),
    ("tree-sitter", "`web-tree-sitter`"),
    ("xxhash", "`xxhash-wasm`"),
];

/// A package of JavaScript or WebAssembly that does what `name` does.
pub(super) fn of(name: &str) -> Option<&'static str> {
    let known = ALTERNATIVES.iter().find(|(package, _)| *package == name);
    known.map(|(_, instead)| *instead)
}
