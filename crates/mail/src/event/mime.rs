//! The parts of a message, flat and in their order. Multiparts are taken apart; messages within the message
//! stay whole. Their number and nesting are bounded before anything is allocated for them.

use memchr::memmem;

use super::{
    fields::{self, Fields},
    syntax::{self, Parametrized},
    transfer::Transfer,
};

/// The most parts that are read, multiparts among them.
const PARTS_MAX: usize = 1_000;
/// The deepest nesting that is taken apart; a multipart below it is one part.
const DEPTH_MAX: usize = 20;
/// The longest boundary. Mail allows 70 bytes.
const BOUNDARY_MAX: usize = 200;

/// A part that is not a multipart.
#[derive(Debug, Clone)]
pub(super) struct Part<'m> {
    pub(super) content_type: Parametrized,
    /// `attachment` or `inline`, if the part says so.
    pub(super) disposition: Option<String>,
    /// The file name as the sender wrote it.
    pub(super) filename: Option<String>,
    /// With its brackets.
    pub(super) content_id: Option<String>,
    pub(super) transfer: Transfer,
    /// Whether it belongs to another part, as a picture to an HTML text.
    pub(super) is_related: bool,
    /// As it is written.
    pub(super) body: &'m [u8],
}

/// The parts of a message.
#[derive(Debug, Default)]
pub(super) struct Parts<'m> {
    pub(super) list: Vec<Part<'m>>,
    /// Whether there were more.
    pub(super) is_cut: bool,
    visited: usize,
}

/// The place of a part in the parts around it.
#[derive(Debug, Clone, Copy)]
struct Place {
    depth: usize,
    is_related: bool,
    /// The type of a part that names none.
    default_type: &'static str,
}

/// The parts of a message with this header and body.
pub(super) fn parts<'m>(fields: &Fields, body: &'m [u8]) -> Parts<'m> {
    let mut parts = Parts::default();
    let top = Place {
        depth: 0,
        is_related: false,
        default_type: "text/plain",
    };
    parts.visit(fields, body, top);
    parts
}

impl<'m> Parts<'m> {
    fn visit(&mut self, fields: &Fields, body: &'m [u8], place: Place) {
        self.visited += 1;
        let mut content_type = content_type(fields, place);
        let is_multipart = content_type.value.starts_with("multipart/");
        if is_multipart && place.depth < DEPTH_MAX {
            if self.visit_pieces(&content_type, body, place) {
                return;
            }
            // Without pieces the text that was sent is all there is.
            content_type.value = "text/plain".to_owned();
        }
        self.is_cut |= is_multipart && place.depth >= DEPTH_MAX;
        self.list.push(part(fields, content_type, body, place));
    }

    /// Visits the pieces of a multipart. False if it has none.
    fn visit_pieces(&mut self, content_type: &Parametrized, body: &'m [u8], place: Place) -> bool {
        let boundary = content_type
            .parameter("boundary")
            .unwrap_or_default()
            .trim_end();
        if boundary.is_empty() || boundary.len() > BOUNDARY_MAX {
            return false;
        }
        let within = Place {
            depth: place.depth + 1,
            is_related: place.is_related || content_type.value == "multipart/related",
            default_type: match content_type.value.as_str() {
                "multipart/digest" => "message/rfc822",
                _ => "text/plain",
            },
        };
        let mut has_pieces = false;
        for piece in pieces(body, boundary.as_bytes()) {
            has_pieces = true;
            if self.visited >= PARTS_MAX {
                self.is_cut = true;
                break;
            }
            let (fields, body) = fields::split(piece, fields::PART);
            self.visit(&fields, body, within);
        }
        has_pieces
    }
}

fn content_type(fields: &Fields, place: Place) -> Parametrized {
    let written = fields.last("content-type").and_then(syntax::parametrized);
    let is_type = |content_type: &Parametrized| content_type.value.contains('/');
    written.filter(is_type).unwrap_or_else(|| Parametrized {
        value: place.default_type.to_owned(),
        parameters: Vec::new(),
    })
}

fn part<'m>(fields: &Fields, content_type: Parametrized, body: &'m [u8], place: Place) -> Part<'m> {
    let disposition = fields
        .last("content-disposition")
        .and_then(syntax::parametrized);
    let of_disposition = disposition
        .as_ref()
        .and_then(|disposition| disposition.parameter("filename"));
    let filename = of_disposition
        .or(content_type.parameter("name"))
        .map(str::to_owned);
    let transfer = fields.last("content-transfer-encoding");
    Part {
        disposition: disposition.map(|disposition| disposition.value),
        filename,
        content_id: fields.last("content-id").map(|id| id.trim().to_owned()),
        transfer: transfer.map_or(Transfer::AsIs, Transfer::named),
        is_related: place.is_related,
        content_type,
        body,
    }
}

/// The pieces between the lines that begin with the boundary. Text before the first and behind the last of
/// those is for programs that know no multiparts. Where the last one is missing the body's end is the piece's.
fn pieces<'m>(body: &'m [u8], boundary: &[u8]) -> impl Iterator<Item = &'m [u8]> {
    let delimiter = [b"--", boundary].concat();
    let finder = memmem::Finder::new(&delimiter).into_owned();
    let mut from = None;
    let mut search_from = 0;
    let mut is_over = false;
    std::iter::from_fn(move || {
        while !is_over {
            let found = finder.find(&body[search_from..]).map(|at| search_from + at);
            let Some(at) = found else {
                is_over = true;
                return from.take().map(|start| &body[start..]);
            };
            search_from = at + delimiter.len();
            let Some(line) = delimiter_line(body, at, delimiter.len()) else {
                continue;
            };
            search_from = line.end;
            is_over = line.is_last;
            let piece = from.map(|start| without_line_end(&body[start..at.max(start)]));
            from = Some(line.end);
            if piece.is_some() {
                return piece;
            }
        }
        None
    })
}

/// A line that is a delimiter.
struct DelimiterLine {
    /// The start of the next line.
    end: usize,
    is_last: bool,
}

fn delimiter_line(body: &[u8], at: usize, length: usize) -> Option<DelimiterLine> {
    if at > 0 && body[at - 1] != b'\n' {
        return None;
    }
    let behind = &body[at + length..];
    let (is_last, behind) = match behind.strip_prefix(b"--") {
        Some(behind) => (true, behind),
        None => (false, behind),
    };
    let line = memchr::memchr(b'\n', behind).map_or(behind, |end| &behind[..=end]);
    // Another boundary may begin with this one.
    let is_alone = line.trim_ascii().is_empty();
    let end = body.len() - behind.len() + line.len();
    is_alone.then_some(DelimiterLine { end, is_last })
}

/// The line end before a delimiter belongs to the delimiter.
fn without_line_end(piece: &[u8]) -> &[u8] {
    let piece = piece.strip_suffix(b"\n").unwrap_or(piece);
    piece.strip_suffix(b"\r").unwrap_or(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Parts<'_> {
        let (fields, body) = fields::split(message.as_bytes(), fields::MESSAGE);
        parts(&fields, body)
    }

    /// Type and body of each part.
    fn kinds(message: &str) -> Vec<(String, String)> {
        let parts = read(message).list.into_iter();
        parts
            .map(|part| {
                let body = String::from_utf8_lossy(part.body).into_owned();
                (part.content_type.value, body)
            })
            .collect()
    }

    fn kind(content_type: &str, body: &str) -> (String, String) {
        (content_type.to_owned(), body.to_owned())
    }

    #[test]
    fn a_multipart_is_taken_apart() {
        let message = "Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\nfor old programs\r\n\
                       --b\r\n\r\none\r\n--b \r\nContent-Type: text/html\r\n\r\ntwo\r\n\r\n\
                       --b\r\nContent-Type: Image/PNG\r\n\r\n\r\n--b--\r\nfor old programs\r\n--b\r\n\r\nno";
        let wanted = [
            kind("text/plain", "one"),
            kind("text/html", "two\r\n"),
            kind("image/png", ""),
        ];
        assert_eq!(kinds(message), wanted);
        assert!(!read(message).is_cut);
    }

    #[test]
    fn multiparts_nest_and_a_boundary_may_begin_like_another() {
        let message = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\
                       Content-Type: multipart/related; boundary=b2\n\n--b2\n\none\n--b2\n\
                       Content-Type: image/gif\nContent-ID: <x>\n\ntwo\n--b2--\n\n--b\n\nthree --b\n--b--\n";
        let wanted = [
            kind("text/plain", "one"),
            kind("image/gif", "two"),
            kind("text/plain", "three --b"),
        ];
        assert_eq!(kinds(message), wanted);
        let related: Vec<_> = read(message)
            .list
            .iter()
            .map(|part| part.is_related)
            .collect();
        assert_eq!(related, [true, true, false]);
        assert_eq!(read(message).list[1].content_id.as_deref(), Some("<x>"));
    }

    #[test]
    fn a_missing_end_a_missing_boundary_and_missing_pieces_lose_nothing() {
        let no_end =
            "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n\r\ntwo";
        assert_eq!(
            kinds(no_end),
            [kind("text/plain", "one"), kind("text/plain", "two")]
        );
        for header in [
            "multipart/mixed",
            "multipart/mixed; boundary=\"\"",
            "multipart/mixed; boundary=other",
        ] {
            let message = format!("Content-Type: {header}\r\n\r\n--b\r\n\r\none\r\n");
            assert_eq!(
                kinds(&message),
                [kind("text/plain", "--b\r\n\r\none\r\n")],
                "{header}"
            );
        }
        let no_type = "Content-Type: nonsense\r\n\r\nhello";
        assert_eq!(kinds(no_type), [kind("text/plain", "hello")]);
    }

    #[test]
    fn a_message_within_the_message_stays_whole() {
        let inner = "From: a@b.example\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--";
        let message = format!(
            "Content-Type: multipart/digest; boundary=b\r\n\r\n--b\r\n\r\n{inner}\r\n--b--\r\n"
        );
        assert_eq!(kinds(&message), [kind("message/rfc822", inner)]);
    }

    #[test]
    fn parts_are_bounded_in_number() {
        let message = "Content-Type: multipart/mixed; boundary=b\r\n\r\n".to_owned()
            + &"--b\r\n".repeat(100_000);
        let parts = read(&message);
        assert!(parts.is_cut);
        assert_eq!(parts.list.len(), PARTS_MAX - 1);
    }

    #[test]
    fn parts_are_bounded_in_depth() {
        let mut message = String::new();
        for level in 0..1_000 {
            message += &format!(
                "Content-Type: multipart/mixed; boundary=b{level}x\r\n\r\n--b{level}x\r\n"
            );
        }
        let parts = read(&message);
        assert!(parts.is_cut);
        assert_eq!(parts.list.len(), 1);
        assert_eq!(parts.list[0].content_type.value, "multipart/mixed");
    }

    #[test]
    fn names_come_from_the_disposition_or_else_from_the_type() {
        let message = "Content-Type: image/png; name=type.png\r\n\
                       Content-Disposition: inline; filename=disposition.png\r\n\
                       Content-Transfer-Encoding: base64\r\n\r\nAAAA";
        let part = read(message).list.remove(0);
        assert_eq!(part.filename.as_deref(), Some("disposition.png"));
        assert_eq!(part.disposition.as_deref(), Some("inline"));
        assert_eq!(part.transfer, Transfer::Base64);
        let message = "Content-Type: image/png; name=type.png\r\n\r\n";
        assert_eq!(read(message).list[0].filename.as_deref(), Some("type.png"));
    }
}
