//! `/docs`: the OpenAPI document as a page for people. Complete as the node sends it: no script,
//! nothing from elsewhere. The operations themselves are the document's business.

mod document;
mod example;
mod operation;
mod schema;
mod text;

use serde_json::Value;

use self::document::{Operation, fields, items, text_of};
pub(crate) use self::text::escape;
use self::text::prose;

const STYLE: &str = include_str!("docs/style.css");

/// The page of a document.
pub(crate) fn html(document: &Value) -> String {
    let title = escape(text_of(&document["info"]["title"]));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} API</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    let groups = groups(document);
    page.push_str(&navigation(&title, &groups));
    page.push_str("<main>\n");
    page.push_str(&introduction(&title, document));
    for group in &groups {
        page.push_str(&section(document, group));
    }
    page.push_str(&schema::section(document));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// The operations of a tag.
struct Group<'a> {
    name: &'a str,
    description: &'a str,
    operations: Vec<Operation<'a>>,
}

fn groups(document: &Value) -> Vec<Group<'_>> {
    let operations = || {
        let paths = fields(&document["paths"]);
        paths.flat_map(|(path, item)| {
            fields(item).map(move |(method, said)| Operation { method, path, said })
        })
    };
    let tags = items(&document["tags"]);
    let groups = tags.map(|tag| Group {
        name: text_of(&tag["name"]),
        description: text_of(&tag["description"]),
        operations: operations()
            .filter(|operation| operation.said["tags"][0] == tag["name"])
            .collect(),
    });
    groups.collect()
}

fn navigation(title: &str, groups: &[Group<'_>]) -> String {
    let mut list = format!("<nav>\n<p class=\"brand\"><a href=\"#top\">{title}</a> API</p>\n");
    for group in groups {
        let name = escape(group.name);
        list.push_str(&format!(
            "<p><a href=\"#{}\">{name}</a></p>\n<ul>\n",
            anchor(group.name)
        ));
        for operation in &group.operations {
            list.push_str(&format!(
                "<li><a href=\"#{}\">{}<span>{}</span></a></li>\n",
                operation.id(),
                operation::badge(operation.method),
                escape(operation.summary()),
            ));
        }
        list.push_str("</ul>\n");
    }
    list.push_str("<p><a href=\"#schemas\">Schemas</a></p>\n</nav>\n");
    list
}

fn introduction(title: &str, document: &Value) -> String {
    let server = escape(text_of(&document["servers"][0]["url"]));
    let info = &document["info"];
    format!(
        "<header id=\"top\">\n<h1>{title} API <small>{}</small></h1>\n{}\
         <dl class=\"facts\"><dt>Server</dt><dd><code>{server}</code></dd>\
         <dt>For programs</dt><dd><a href=\"{server}/openapi.json\">openapi.json</a>, \
         OpenAPI {}</dd></dl>\n</header>\n",
        escape(text_of(&info["version"])),
        prose(text_of(&info["description"])),
        escape(text_of(&document["openapi"])),
    )
}

fn section(document: &Value, group: &Group<'_>) -> String {
    let articles = group.operations.iter();
    let articles: String = articles
        .map(|operation| operation::article(document, operation))
        .collect();
    format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n{}{articles}</section>\n",
        anchor(group.name),
        escape(group.name),
        prose(group.description),
    )
}

fn anchor(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::document;

    #[test]
    fn every_operation_and_schema_is_on_the_page_and_every_link_leads_somewhere() {
        let document = document("http://node:3000");
        let page = html(&document);
        for (path, item) in fields(&document["paths"]) {
            for (method, said) in fields(item) {
                let id = format!("<article id=\"{}\">", text_of(&said["operationId"]));
                assert!(page.contains(&id), "{method} {path}");
            }
        }
        for target in page.split("href=\"#").skip(1) {
            let (target, _) = target.split_once('"').unwrap();
            assert!(page.contains(&format!("id=\"{target}\"")), "#{target}");
        }
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        let page = html(&document("http://node:3000"));
        for forbidden in ["<script", "src=", "@import", "url(", "https://"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
