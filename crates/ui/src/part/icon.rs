//! Icons: a few strokes on a grid of 16, in the colour of the text beside them.

use maud::{Markup, html};

/// An icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Icon {
    Hidden,
    Home,
    Source,
    Event,
    Webhook,
    Delivery,
    Workflow,
    Account,
    Data,
    Settings,
    Search,
    Ok,
    Failed,
    Warning,
    Paused,
    Play,
    Clock,
    Open,
    Copy,
    Plus,
    Menu,
    Next,
    Previous,
    External,
}

impl Icon {
    fn path(self) -> &'static str {
        match self {
            Self::Hidden => {
                "M1.500 8c1.500-2.700 3.700-4 6.500-4s5 1.300 6.500 4c-1.500 2.700-3.700 4-6.500 4s-5-1.300-6.500-4zM2.500 13.500l11-11"
            }
            Self::Home => "M2 7.5 8 2.5l6 5M3.5 6.5v7h9v-7M6.5 13.5v-4h3v4",
            Self::Source => "M8 1.5c3 3.6 4.5 6 4.5 8a4.5 4.5 0 0 1-9 0c0-2 1.500-4.400 4.500-8z",
            Self::Event => "M9 1.500 3 9h4.500L7 14.500 13 7H8.500z",
            Self::Webhook => {
                "M8 5.500a2 2 0 1 0-2-2M8 5.500l2.500 5M6 3.500 3.500 9M3.500 9a2 2 0 1 0 2 2.500h5a2 2 0 1 0 0-1"
            }
            Self::Delivery => "M1.500 8 14.500 2l-4 12-3-4.500zM7.500 9.500 14.500 2",
            Self::Workflow => {
                "M2 2.500h4v4H2zM10 9.500h4v4h-4zM6 4.500h4.500a1.500 1.500 0 0 1 1.500 1.500v3.500"
            }
            Self::Account => {
                "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.500 14c.5-3 2.500-4.500 5.500-4.500s5 1.500 5.500 4.500"
            }
            Self::Data => {
                "M2.500 4c0-1.300 2.500-2 5.500-2s5.500.7 5.500 2-2.500 2-5.500 2-5.500-.7-5.500-2zM2.500 4v8c0 1.300 2.500 2 5.500 2s5.500-.7 5.500-2V4M2.500 8c0 1.300 2.500 2 5.500 2s5.500-.7 5.500-2"
            }
            Self::Settings => "M2 4.500h7M12 4.500h2M2 11.500h2M7 11.500h7M9 3h3v3H9zM4 10h3v3H4z",
            Self::Search => "M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM10.600 10.600 14.500 14.500",
            Self::Ok => "M3 8.500 6.500 12 13 4.500",
            Self::Failed => "M4 4l8 8M12 4l-8 8",
            Self::Warning => "M8 2 1.500 13.500h13zM8 6.500V10M8 11.800v.2",
            Self::Paused => "M5.500 3.500v9M10.500 3.500v9",
            Self::Play => "M4.500 2.500 13 8l-8.500 5.500z",
            Self::Clock => {
                "M8 14.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM8 4.500V8l2.500 2"
            }
            Self::Open => "M8 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10z",
            Self::Copy => "M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3",
            Self::Plus => "M8 3v10M3 8h10",
            Self::Menu => "M2 4h12M2 8h12M2 12h12",
            Self::Next => "M6 3l5 5-5 5",
            Self::Previous => "M10 3 5 8l5 5",
            Self::External => "M9.500 2.500h4v4M13.500 2.500 7.500 8.500M11.500 9.500v4h-9v-9h4",
        }
    }
}

/// An icon that adds nothing to the words beside it.
pub(crate) fn icon(icon: Icon) -> Markup {
    html! {
        svg.icon viewBox="0 0 16 16" aria-hidden="true" focusable="false" { path d=(icon.path()) {} }
    }
}
