//! The node's log: lines on standard error, as text or as JSON objects, each with the request that
//! is being served.

use std::{fmt, io::IsTerminal as _};

use headwater_platform::request_id;
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    EnvFilter,
    filter::LevelFilter,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{self, Format, JsonFields, Writer},
    },
    registry::LookupSpan,
};

use crate::{display, output, usage_error::UsageError, waiting};

/// The notes of a node to the person who started it, apart from its log; or in its log, if programs
/// read all of it.
#[derive(Clone, Copy)]
pub(super) struct Notes {
    as_json: bool,
}

impl Notes {
    /// Says a line.
    pub(super) fn note(self, text: &str) {
        match self.as_json {
            true => tracing::info!("{text}"),
            false => output::tell(text),
        }
    }

    /// Whether the lines go to a terminal only: any other output may be kept.
    pub(super) fn are_transient(self) -> bool {
        !self.as_json && std::io::stderr().is_terminal()
    }
}

/// The environment variable that chooses the lines.
pub(super) const VARIABLE: &str = "HEADWATER_LOG";

/// Begins logging of the given lines, such as `info,headwater_platform=debug`.
///
/// # Errors
/// A `UsageError` when they are not such a list.
pub(super) fn start(as_json: bool, lines: Option<&str>) -> Result<Notes, UsageError> {
    let filter = filter(lines.unwrap_or_default())?;
    let ansi = display::has_colour(&std::io::stderr());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| {
            drop(waiting::clear());
            std::io::stderr()
        })
        .with_ansi(ansi);
    match as_json {
        true => log
            .fmt_fields(JsonFields::new())
            .event_format(Lines {
                format: json(),
                add: add_to_json,
            })
            .init(),
        false => log
            .event_format(Lines {
                format: Format::default().with_ansi(ansi),
                add: add_to_text,
            })
            .init(),
    }
    Ok(Notes { as_json })
}

/// The filter of a list of levels and of modules with their level. A module without one would turn off all others' lines,
/// and so would a misspelt level.
pub(super) fn filter(lines: &str) -> Result<EnvFilter, UsageError> {
    if lines.trim().is_empty() {
        return Ok(EnvFilter::new("info"));
    }
    let is_whole = |part: &str| {
        part.contains(['=', '[']) || part.parse::<LevelFilter>().is_ok() || part.is_empty()
    };
    let parts: Vec<&str> = lines.split(',').map(str::trim).collect();
    let read = match parts.iter().find(|part| !is_whole(part)) {
        Some(unknown) => Err(format!("`{unknown}` is not a level")),
        None => EnvFilter::try_new(parts.join(",")).map_err(|error| error.to_string()),
    };
    read.map_err(|reason| {
        UsageError(format!(
            "{VARIABLE}={lines}: {reason}; give error, warn, info, debug, trace or off, or modules with theirs, such as \
             info,headwater_platform=debug"
        ))
    })
}

/// One flat object per line.
fn json() -> Format<format::Json> {
    Format::default()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
}

/// Lines of a format, with the id of the request on whose behalf they are written.
struct Lines<F> {
    format: F,
    add: fn(&mut String, &str),
}

impl<S, N, F> FormatEvent<S, N> for Lines<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(request_id) = request_id() else {
            return self.format.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.format
            .format_event(context, Writer::new(&mut line), event)?;
        (self.add)(&mut line, &request_id);
        writer.write_str(&line)
    }
}

fn add_to_text(line: &mut String, request_id: &str) {
    line.truncate(line.trim_end().len());
    line.push_str(&format!(" request_id={request_id}\n"));
}

fn add_to_json(line: &mut String, request_id: &str) {
    let object = line.trim_end().strip_suffix('}').map_or(0, str::len);
    line.truncate(object);
    // Ids of requests have no characters that JSON escapes, but that is another crate's promise.
    let request_id = serde_json::Value::from(request_id);
    line.push_str(&format!(",\"request_id\":{request_id}}}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_chosen_by_levels_and_modules() {
        for lines in [
            "",
            "debug",
            "WARN",
            "off",
            "info,headwater_platform=debug",
            "info, hyper=off",
            "headwater_platform[run]=trace",
        ] {
            assert!(filter(lines).is_ok(), "{lines}");
        }
        for (lines, told) in [
            ("bogus", "`bogus` is not a level"),
            ("info,headwater_platform", "`headwater_platform` is not"),
            (
                "headwater_platform=loud",
                "HEADWATER_LOG=headwater_platform=loud",
            ),
        ] {
            let error = filter(lines).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
            assert!(error.contains("debug, trace"), "{error}");
        }
    }

    #[test]
    fn the_request_becomes_a_field_of_the_line() {
        let mut text = "INFO source: it failed error=no\n".to_owned();
        add_to_text(&mut text, "mine-1");
        assert_eq!(text, "INFO source: it failed error=no request_id=mine-1\n");
        let mut json = "{\"message\":\"it failed}\"}\n".to_owned();
        add_to_json(&mut json, "mine\"1");
        let line: serde_json::Value = serde_json::from_str(json.trim_end()).unwrap();
        assert_eq!(line["message"], "it failed}");
        assert_eq!(line["request_id"], "mine\"1");
        assert!(json.ends_with("}\n"));
    }
}
