//! `/guide`: the guide of this version, for anybody, with a search over it.

mod book;
mod search;
mod text;

use std::sync::Arc;

use axum::{
    extract::{Path, Query},
    http::StatusCode,
};
use maud::{Markup, html};
use serde::Deserialize;

use self::book::{CHAPTERS, Chapter};
use crate::{
    problem::Problem,
    reply::{Page, PageReply},
    visit::{AnyVisitor, Visit},
};

/// The words to look for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    q: String,
}

/// Shows the list of chapters, or those in which the words are.
pub(crate) async fn index(AnyVisitor(visit): AnyVisitor, Query(asked): Query<Asked>) -> Page {
    let words = asked.q.trim();
    let body = html! {
        (head(&visit, "Guide"))
        (search_field(words))
        @if words.is_empty() { (contents(None)) } @else { (found(words)) }
    };
    Page::new("Guide", body)
}

/// Shows a chapter.
pub(crate) async fn show(AnyVisitor(visit): AnyVisitor, Path(name): Path<String>) -> PageReply {
    let chapter = book::chapter(&name).ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "The guide has no such chapter",
            "Its list of chapters is at /guide, which finds words in them, too.",
        )
    })?;
    let title = chapter.title();
    let body = html! {
        (head(&visit, title))
        div.guide {
            nav aria-label="Guide" { (search_field("")) (contents(Some(chapter))) }
            article.markdown { (text::shown(chapter.text)) (next(chapter)) }
        }
    };
    Ok(Page::new(title, body))
}

fn head(visit: &Arc<Visit>, title: &str) -> Markup {
    html! {
        @if visit.signed_in.is_none() { p.note { a href="/" { "Headwater" } " · " a href="/guide" { "Guide" } } }
        h1 { (title) }
    }
}

fn search_field(words: &str) -> Markup {
    html! {
        form.filters role="search" action="/guide" {
            label { "Find in the guide " input type="search" name="q" value=(words); }
            button { "Find" }
        }
    }
}

fn contents(current: Option<&Chapter>) -> Markup {
    html! {
        @for (group, chapters) in CHAPTERS {
            section.chapters {
                h2 { (group) }
                ul {
                    @for chapter in *chapters {
                        li {
                            a href=(chapter.path())
                                aria-current=[current.filter(|current| current.name == chapter.name).map(|_| "page")] {
                                (chapter.title())
                            }
                        }
                    }
                }
            }
        }
    }
}

fn next(chapter: &Chapter) -> Markup {
    let mut rest = book::all().skip_while(|other| other.name != chapter.name);
    html! {
        @if let Some(next) = rest.nth(1) {
            p.note { "Next: " a href=(next.path()) { (next.title()) } }
        }
    }
}

fn found(words: &str) -> Markup {
    let places = search::places(words);
    html! {
        @if places.is_empty() {
            p { "The guide has nothing with all of these words. Fewer words, or a part of one, find more." }
        }
        ul.places {
            @for place in &places {
                li {
                    a href=(place.address()) { (place.chapter) @if !place.heading.is_empty() { ": " (place.heading) } }
                    p.note { (place.excerpt) }
                }
            }
        }
    }
}
