//! The bundler's errors and arguments.

use std::path::Path;

use super::{Form, Inspected, arguments, can_be_named, ending, refused};

#[test]
fn errors_are_told_by_file() {
    let told = "\u{2718} [ERROR] Could not resolve import(\"../foo/**/*\")\n\n    a/t.mjs:7:25:\n      7 \u{2502} x\n\n\
                \u{2718} [ERROR] Expected identifier\n\n    bad.mjs:1:5:\n      1 \u{2502} x = {\n\n\
                \u{2718} [ERROR] Could not resolve require(\"./a/**/*\")\n\n    bad.mjs:2:5:\n";
    let names = ["a/t.mjs", "bad.mjs", "good.mjs"].map(str::to_owned);
    let found: Vec<_> = refused(&names, told).into_iter().collect();
    let reason = "Expected identifier at bad.mjs:1:5".to_owned();
    assert_eq!(
        found,
        [
            ("a/t.mjs".to_owned(), Inspected::Unresolved),
            ("bad.mjs".to_owned(), Inspected::Unreadable(reason)),
        ]
    );
}

#[test]
fn errors_that_name_no_file_are_about_none() {
    let names = ["a.mjs".to_owned()];
    for told in [
        "Killed",
        "\u{2718} [ERROR] Invalid loader value: \"c=js\"\n\n",
        "\u{2718} [ERROR] No loader is configured for \".foo\" files: .foo\n\n",
        "\u{2718} [ERROR] Expected identifier\n\n    other.mjs:1:5:\n",
    ] {
        assert!(refused(&names, told).is_empty(), "{told}");
    }
}

#[test]
fn names_that_the_bundler_would_misread_are_not_given_to_it() {
    for (name, expected) in [
        ("index.js", true),
        ("a=b/c d.JS", true),
        ("LICENSE", true),
        (".js", true),
        ("a.b/c", true),
        ("x.b=c", false),
        ("x.", false),
        ("a.js~", false),
        ("a*b.js", false),
        ("a\nb.js", false),
    ] {
        assert_eq!(can_be_named(name), expected, "{name}");
    }
}

#[test]
fn files_are_read_in_their_language() {
    let names = ["a.mts", "b.JS", "c.Tsx", "d.es6", ".ts", "e"].map(str::to_owned);
    let folder = Path::new("/out");
    let given = arguments(&names, Form::CommonJs, folder, &folder.join("m"));
    let loaders = given
        .iter()
        .filter_map(|one| one.to_str()?.strip_prefix("--loader:"));
    assert_eq!(
        Vec::from_iter(loaders),
        ["=js", ".JS=js", ".Tsx=tsx", ".es6=js"]
    );
    assert!(given.contains(&"--format=cjs".into()), "{given:?}");
    assert_eq!(ending("a.b/c"), None);
}
