//! Components to begin with: the examples of the repository.

/// A component to begin with.
pub(crate) struct Template {
    /// Its name in addresses.
    pub(crate) slug: &'static str,
    pub(crate) name: &'static str,
    /// The use of it, in a line.
    pub(crate) about: &'static str,
    pub(crate) code: &'static str,
}

macro_rules! example {
    ($file:literal) => {
        include_str!(concat!("../../../../../examples/", $file))
    };
}

/// All of them; the first is shown if none is chosen.
pub(crate) const TEMPLATES: [Template; 4] = [
    Template {
        slug: "timer",
        name: "Timer",
        about: "Runs again and again, and emits a number that it keeps.",
        code: example!("counter.mjs"),
    },
    Template {
        slug: "http",
        name: "HTTP requests",
        about: "Takes any request at an address of its own, and emits it.",
        code: example!("webhook-inbox.mjs"),
    },
    Template {
        slug: "rss",
        name: "RSS feed",
        about: "Looks into a feed, and emits each item once.",
        code: example!("rss-timer.mjs"),
    },
    Template {
        slug: "dedupe",
        name: "Each order once",
        about: "Answers requests itself, and emits each order once, however often it is sent.",
        code: example!("http-orders.mjs"),
    },
];

/// The template of that name.
pub(crate) fn template(slug: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|template| template.slug == slug)
}
