//! The project's own tasks: `cargo xtask <task>`. Parses the task's name and nothing else.
//!
//! Deliberately independent of the product crates, so that `tidy` runs while they do not compile.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development tool reads the environment and talks to the terminal"
)]

mod ci;
mod command;
mod compat;
mod component_packages;
mod dist;
mod docs;
mod faults;
mod generated;
mod index;
mod node;
mod provision;
mod soak;
mod tidy;
mod vendor;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  test [ARGS…]  every test; installs what they need; ARGS go to the test runner
  ci            formatting, lints, tidy, the runtime's checks, then every test
  pictures      takes the pictures of the README anew, into docs/pictures
  configuration writes docs/guide/configuration.md from the options of `serve`
  dist [OPTIONS] [deb|wheel|npm …]  packages that carry the binary, into target/dist
  index [--binary FILE] [PACKAGE…]  the index of components that `headwater search` finds on npm, and
                its page of the guide
  docs          builds the guide as a site with mdBook, into target/guide
  openapi       writes docs/openapi.json from the handlers' annotations
  compat [PACKAGE…]  saves and loads every published component; writes target/compat/report.md
  soak [--minutes N] [--seed N]  hours of a node's clock with everything going wrong; 15 minutes by default
  faults [--faults N] [--seed N]  three nodes on one database with everything going wrong; 100 faults by default
  vendor-editor bundles the editor of code pages from npm into crates/ui/assets/vendor
  tidy          crate edges, circles of modules, file sizes, names, opening comments, stray paths,
                tests that documents name, their links, the bundled editor";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test", rest @ ..] => ci::test(rest),
        ["ci"] => ci::ci(),
        ["compat", rest @ ..] => compat::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["faults", rest @ ..] => faults::run(rest),
        ["pictures"] => ci::pictures(),
        ["dist", rest @ ..] => dist::run(rest),
        ["index", rest @ ..] => index::run(rest),
        ["docs"] => docs::build(),
        ["configuration"] => generated::configuration(),
        ["openapi"] => generated::openapi(),
        ["vendor-editor"] => vendor::editor(),
        ["tidy"] => tidy::run(&command::root()),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
