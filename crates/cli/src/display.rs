//! The display on standard output: its width, its colours, and whether people look at it. Everything else than a terminal
//! gets plain text, whole.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use crate::arguments::OutputFormat;

/// The width of a terminal that does not tell its own.
const USUAL_WIDTH: u16 = 80;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Display {
    /// Columns of the terminal, if it is one.
    pub(crate) width: Option<u16>,
    /// Whether words are coloured by their meaning.
    pub(crate) has_colour: bool,
    /// Whether everything is shown, wide as it is.
    pub(crate) is_wide: bool,
    /// Whether a program reads what is shown, as JSON.
    pub(crate) is_json: bool,
    /// The columns of tables that are wanted, if some are.
    pub(crate) columns: Option<&'static [String]>,
}

static DISPLAY: OnceLock<Display> = OnceLock::new();
static COLUMNS: OnceLock<Vec<String>> = OnceLock::new();

/// Looks at standard output, once, before anything is shown.
pub(crate) fn start(is_json: bool, format: Option<&OutputFormat>) {
    let stdout = io::stdout();
    let columns = match format {
        Some(OutputFormat::Columns(columns)) => {
            Some(COLUMNS.get_or_init(|| columns.clone()).as_slice())
        }
        Some(OutputFormat::Wide) | None => None,
    };
    let display = Display {
        width: width_of(&stdout),
        has_colour: has_colour(&stdout),
        is_json,
        is_wide: matches!(format, Some(OutputFormat::Wide)),
        columns,
    };
    // It is started once.
    let _ = DISPLAY.set(display);
}

/// Whether a stream shows colours: a terminal that can, of a person who has not asked for none.
pub(crate) fn has_colour(stream: &impl IsTerminal) -> bool {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_dumb = given("TERM").is_some_and(|term| term == "dumb");
    stream.is_terminal() && given("NO_COLOR").is_none() && !is_dumb
}

/// The columns of a terminal, if it is one.
pub(crate) fn width_of(stream: &(impl AsFd + IsTerminal)) -> Option<u16> {
    stream
        .is_terminal()
        .then(|| match rustix::termios::tcgetwinsize(stream) {
            Ok(size) if size.ws_col > 0 => size.ws_col,
            _ => USUAL_WIDTH,
        })
}

/// The display; that of no terminal before it is started.
pub(crate) fn current() -> Display {
    DISPLAY.get().copied().unwrap_or_default()
}

impl Display {
    /// Whether a person looks at it, who wants an overview rather than everything.
    pub(crate) fn is_overview(self) -> bool {
        self.width.is_some() && !self.is_wide
    }
}
