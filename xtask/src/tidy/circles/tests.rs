//! Small crates with a circle, and the same ones without.

use super::*;

/// The violations of a crate whose root declares these modules, each path relative to its `src`.
fn found(modules: &[(&str, &str)]) -> Vec<String> {
    let mut root = String::new();
    for (path, _) in modules.iter().filter(|(path, _)| !path.contains('/')) {
        let name = path.strip_suffix(".rs").unwrap();
        if name != "lib" {
            root += &format!("mod {name};\n");
        }
    }
    let file = |path: &str, text: String| TrackedFile {
        path: format!("crates/a/src/{path}"),
        text,
    };
    let mut files = Vec::new();
    for (path, text) in modules {
        let text = match *path {
            "lib.rs" => format!("{root}{text}"),
            _ => (*text).to_owned(),
        };
        files.push(file(path, text));
    }
    if !modules.iter().any(|(path, _)| *path == "lib.rs") {
        files.push(file("lib.rs", root));
    }
    check(&files).iter().map(ToString::to_string).collect()
}

/// The arrows of the only violation, without the folder.
fn arrows(modules: &[(&str, &str)]) -> Vec<String> {
    let found = found(modules);
    assert_eq!(found.len(), 1, "{found:?}");
    let lines = found[0].lines().skip(1);
    lines
        .map(|line| line.trim().replace("crates/a/src/", ""))
        .collect()
}

#[test]
fn two_modules_that_name_each_other_are_a_circle_with_its_arrows_and_advice() {
    let circle = [
        ("a.rs", "//! A.\nuse crate::b::{B, C};\npub struct A(B, C);"),
        ("b.rs", "pub struct C;\npub struct B(Box<super::a::A>);"),
    ];
    assert_eq!(
        found(&circle),
        [
            "crates/a/src/a.rs:2: 2 modules name each other in a circle; \
             move the shared name into a module of its own, below both:\n    \
             crates/a/src/a.rs:2 → crates/a/src/b.rs: `crate::b::B`, `crate::b::C`\n    \
             crates/a/src/b.rs:2 → crates/a/src/a.rs: `super::a::A`"
        ]
    );
}

#[test]
fn one_direction_is_no_circle() {
    let line = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", ""),
    ];
    assert_eq!(found(&line), [""; 0]);
}

#[test]
fn a_circle_may_be_long_and_does_not_name_those_beside_it() {
    let circle = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c::C; use crate::beside::D;"),
        ("c.rs", "use crate::a::A;"),
        ("beside.rs", "pub struct D;"),
    ];
    assert_eq!(arrows(&circle).len(), 3);
}

#[test]
fn circles_apart_are_told_apart() {
    let circles = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; use crate::c::C;"),
        ("c.rs", "use crate::d::D;"),
        ("d.rs", "use crate::c::C;"),
    ];
    assert_eq!(found(&circles).len(), 2);
}

#[test]
fn a_child_that_names_its_parent_closes_a_circle_only_if_the_parent_names_it() {
    let child = ("a/b.rs", "use super::A;\npub struct B(A);");
    assert_eq!(found(&[("a.rs", "mod b;\npub struct A;"), child]), [""; 0]);
    let parent = ("a.rs", "mod b;\npub struct A;\nfn f() { b::make(); }");
    assert_eq!(
        arrows(&[parent, child]),
        ["a.rs:3 → a/b.rs: `b::make`", "a/b.rs:1 → a.rs: `super::A`"]
    );
}

#[test]
fn a_re_export_is_no_arrow_until_its_own_module_needs_the_name() {
    let child = ("a/b.rs", "use super::A;\npub struct B(A);");
    let facade = "mod b;\npub use b::B;\npub struct A;\n";
    assert_eq!(found(&[("a.rs", facade), child]), [""; 0]);
    let user = format!("{facade}fn f() -> B {{ todo!() }}");
    assert_eq!(arrows(&[("a.rs", &user), child])[0], "a.rs:4 → a/b.rs: `B`");
}

#[test]
fn a_re_exported_name_counts_for_the_module_that_declares_it() {
    let modules = [
        ("lib.rs", "pub use a::*;"),
        (
            "a.rs",
            "mod b;\npub use b::{B as Renamed};\npub fn f() { crate::c::g(); }",
        ),
        ("a/b.rs", "pub struct B;"),
        ("c.rs", "use crate::Renamed;\npub fn g() {}"),
    ];
    assert_eq!(found(&modules), [""; 0]);
    let [lib, a, _, c] = modules;
    let declares = ("a/b.rs", "pub struct B(crate::c::C);");
    assert_eq!(
        arrows(&[lib, a, declares, c]),
        [
            "a/b.rs:1 → c.rs: `crate::c::C`",
            "c.rs:1 → a/b.rs: `crate::Renamed`"
        ]
    );
}

#[test]
fn names_are_found_wherever_code_can_have_them() {
    for names_b in [
        "fn f() { crate::b::g(); }",
        "use crate::b;\nfn f() { b::g(); }",
        "use crate::b as other;\nfn f() { other::g(); }",
        "use crate::{b::{self, deep::X}};",
        "use super::b::*;\nfn f(_: B) {}",
        "fn f() { println!(\"{}\", crate::b::g()); }",
        "#[path(params(crate::b::B))]\nfn f() {}",
        "struct S { #[serde(default, with = \"crate::b::form\")] field: u8 }",
        "impl crate::b::Trait for u8 {}",
        "fn f() { use crate::b::B; }",
        "mod inner { use super::super::b::B; }",
        "use crate::b::Declared;",
        "use crate::b::Trait as _;",
        "pub(in crate::b) fn f() -> crate::b::B { crate::b::B }",
    ] {
        let b =
            "make! { Declared }\npub mod deep { pub struct X; }\npub struct B;\nuse crate::a::A;";
        assert_eq!(
            arrows(&[("a.rs", names_b), ("b.rs", b)]).len(),
            2,
            "{names_b}"
        );
    }
}

#[test]
fn names_that_are_none_of_another_module_are_no_arrow() {
    for names_no_b in [
        "",
        "use crate::b;",
        "use b::B;",
        "use ::b::B;",
        "use std::b;",
        "fn f(b: u8) -> u8 { b }",
        "mod b { pub fn g() {} }\nfn f() { b::g(); }",
        "pub(in crate::b) fn f() {}",
        "// crate::b::g()\nconst S: &str = \"crate::b::g\";",
    ] {
        let modules = [
            ("a.rs", names_no_b),
            ("b.rs", "pub fn g() {}\nuse crate::a::A;"),
        ];
        assert_eq!(found(&modules), [""; 0], "{names_no_b}");
    }
}

#[test]
fn tests_do_not_count() {
    for tests in [
        "#[cfg(test)]\nmod tests { use crate::b::B; }",
        "#[cfg(test)]\nmod tests;",
        "#[cfg(test)]\nuse crate::b::B;",
        "#[cfg(test)]\nfn f() { crate::b::g(); }",
        "struct A;\nimpl A { #[cfg(test)]\nfn f() { crate::b::g(); } }",
        "struct A;\n#[cfg(test)]\nimpl A { fn f() { crate::b::g(); } }",
    ] {
        let modules = [
            ("a.rs", tests),
            ("a/tests.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&modules), [""; 0], "{tests}");
    }
}

#[test]
fn libraries_and_binaries_are_crates_of_their_own() {
    let file = |path: &str, text: &str| TrackedFile {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file("crates/a/src/lib.rs", "mod x;"),
        file("crates/a/src/x.rs", "use crate::y::Y;"),
        file("crates/a/src/main.rs", "mod y;"),
        file("crates/a/src/y.rs", "use crate::x::X;"),
        file("crates/b/src/lib.rs", "mod x;\nmod y;"),
        file("crates/b/src/x.rs", ""),
        file("crates/b/src/y.rs", ""),
    ];
    assert!(check(&files).is_empty());
}

#[test]
fn a_file_that_cannot_be_parsed_is_named() {
    let found = found(&[("a.rs", "//! A.\nfn f( {}")]);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("crates/a/src/a.rs:2: the file cannot be parsed"),
        "{found:?}"
    );
}
