//! `cargo xtask docs`: the guide as a site of pages with a search, built by mdBook.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{
    command::{cargo, root, run},
    provision::target_dir,
};

const MDBOOK_VERSION: &str = "0.5.4";
/// The first chapter.
const FIRST: &str = "guide/concepts.html";
const LINK: &str = "<a ";
const HREF: &str = "href=\"";

/// Builds the site, and says where it is.
pub(crate) fn build() -> Result<()> {
    let site = std::path::absolute(target_dir().join("guide"))?;
    run(Command::new(mdbook()?)
        .arg("build")
        .arg(root().join("docs"))
        .arg("--dest-dir")
        .arg(&site))?;
    // mdBook copies the first chapter there, whose links start from another folder.
    let lead = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={FIRST}\">\n");
    fs::write(site.join("index.html"), lead)?;
    keep_links_inside(&site)?;
    println!("the guide is in {}", site.join("index.html").display());
    Ok(())
}

/// Takes links to files that are of the repository and not of the site, and leaves their texts.
fn keep_links_inside(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            keep_links_inside(&path)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let page = fs::read_to_string(&path)?;
            let kept = with_links(&page, |file| folder.join(file).is_file());
            if kept != page {
                fs::write(&path, kept)?;
            }
        }
    }
    Ok(())
}

/// The page with those links that lead somewhere, and the texts of the others.
fn with_links(page: &str, is_there: impl Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, link)) = rest.split_once(LINK) {
        kept += before;
        let (tag, after) = link.split_once('>').unwrap_or((link, ""));
        rest = match after.split_once("</a>") {
            Some((text, after)) if !leads_somewhere(tag, &is_there) => {
                kept += text;
                after
            }
            Some(_) | None => {
                kept += LINK;
                kept += tag;
                kept.push('>');
                after
            }
        };
    }
    kept + rest
}

/// Whether the tag of a link names a page elsewhere, a place in its own page or a file that is there. One that names
/// nothing is no link.
fn leads_somewhere(tag: &str, is_there: impl Fn(&str) -> bool) -> bool {
    let address = tag
        .split_once(HREF)
        .and_then(|(_, rest)| rest.split('"').next());
    let Some(address) = address else { return true };
    let file = address.split('#').next().unwrap_or_default();
    file.is_empty() || file.contains(':') || file.starts_with('/') || is_there(file)
}

/// The program, built once from the Rust registry.
fn mdbook() -> Result<PathBuf> {
    let tools = target_dir().join("tools");
    let program = tools.join("bin/mdbook");
    let is_wanted = |output: std::process::Output| {
        String::from_utf8_lossy(&output.stdout).contains(MDBOOK_VERSION)
    };
    if Command::new(&program)
        .arg("--version")
        .output()
        .is_ok_and(is_wanted)
    {
        return Ok(program);
    }
    run(cargo()
        .args(["install", "mdbook", "--locked", "--no-default-features"])
        .args([
            "--features",
            "search",
            "--version",
            MDBOOK_VERSION,
            "--root",
        ])
        .arg(&tools))
    .context("cannot install mdBook; install it and run `mdbook build docs`")?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_site_become_text() {
        let page = r##"<p><a href="there.html#x">1</a> <a class="a" href="gone/a.md"><code>2</code></a>. <a href="#y">3</a><a href="https://a.example/">4</a><a id="z"></a></p>"##;
        let kept = with_links(page, |file| file == "there.html");
        assert_eq!(
            kept,
            r##"<p><a href="there.html#x">1</a> <code>2</code>. <a href="#y">3</a><a href="https://a.example/">4</a><a id="z"></a></p>"##
        );
    }
}
