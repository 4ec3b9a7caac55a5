//! Props that ask nothing: text for people, and what the node provides.

use maud::{Markup, html};

use super::frame::{Field, attribute, title};
use crate::part::{
    code::copyable,
    icon::{Icon, icon},
    markdown::markdown,
    text,
};

/// An endpoint: its address, or when there will be one.
pub(super) fn http(field: &Field<'_>) -> Markup {
    let known = field
        .around
        .endpoints
        .iter()
        .find(|(prop, _)| *prop == field.prop.name);
    html! {
        div.field #(field.id) data-field=(field.prop.name) {
            p.label { (icon(Icon::Webhook)) (text::line(title(field.prop))) }
            @match known {
                Some((_, url)) => { p { (copyable(url)) } }
                None => { p.note { "It takes requests at an address of its own, which is shown once it is deployed." } }
            }
        }
    }
}

/// An alert, a folder, or events that reach no other node than Pipedream's.
pub(super) fn inert(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    match prop.type_name.as_str() {
        "alert" => alert(field),
        "dir" => html! {
            div.field #(field.id) data-field=(prop.name) {
                p.note { (text::line(title(prop))) ": the folder " code { "/tmp" } " is there for the component, and is not kept." }
            }
        },
        "$.interface.apphook" => html! {
            div.field #(field.id) data-field=(prop.name) {
                p.note {
                    (icon(Icon::Warning)) (text::line(title(prop))) ": events that the app sends to Pipedream's own servers do not \
                     reach this node. The source runs on its timers and endpoints, on events of other sources, and by hand."
                }
            }
        },
        other => html! {
            div.field #(field.id) data-field=(prop.name) {
                p.note { (icon(Icon::Warning)) (text::line(title(prop))) ": the node provides nothing for the type " code { (text::line(other)) } "." }
            }
        },
    }
}

fn alert(field: &Field<'_>) -> Markup {
    let content = attribute(field.prop, "content").unwrap_or_default();
    let (class, sign) = match attribute(field.prop, "alertType") {
        Some("error") => ("alert bad", Icon::Failed),
        Some("warning") => ("alert warning", Icon::Warning),
        Some("info") => ("alert", Icon::Event),
        _ => ("alert", Icon::Ok),
    };
    html! {
        div class=(class) #(field.id) data-field=(field.prop.name) role="note" { (icon(sign)) (markdown(content)) }
    }
}
