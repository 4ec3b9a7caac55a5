//! The text and the HTML of a message: the parts that are to be read, put together.
//!
//! HTML stays as it was sent; neither is created out of the other.

use serde_json::{Map, Value};

use super::{mime::Part, syntax};

/// The text and HTML of a message.
#[derive(Debug, Default)]
pub(super) struct Body {
    text: Option<Composed>,
    html: Option<Composed>,
}

#[derive(Debug, Default)]
struct Composed {
    text: String,
    is_cut: bool,
}

impl Body {
    /// Both out of the parts, each no longer than so many bytes.
    pub(super) fn of(parts: &[Part<'_>], bytes_max: usize) -> Self {
        let mut body = Self::default();
        for part in parts.iter().filter(|part| is_text(part)) {
            let composed = match part.content_type.value.as_str() {
                "text/html" => &mut body.html,
                _ => &mut body.text,
            };
            composed.get_or_insert_default().add(part, bytes_max);
        }
        body
    }

    /// The `body` of the event. A message without either has an empty text.
    pub(super) fn json(&self) -> Value {
        let mut json = Map::new();
        for (name, composed) in [("text", &self.text), ("html", &self.html)] {
            if let Some(composed) = composed {
                json.insert(name.to_owned(), composed.text.clone().into());
            }
        }
        if json.is_empty() {
            json.insert("text".to_owned(), "".into());
        }
        json.into()
    }

    pub(super) fn text_is_cut(&self) -> bool {
        self.text.as_ref().is_some_and(|text| text.is_cut)
    }

    pub(super) fn html_is_cut(&self) -> bool {
        self.html.as_ref().is_some_and(|html| html.is_cut)
    }
}

/// Whether a part is for reading, as against an attachment.
pub(super) fn is_text(part: &Part<'_>) -> bool {
    let is_readable = matches!(
        part.content_type.value.as_str(),
        "text/plain" | "text/html" | "message/delivery-status"
    );
    is_readable
        && part
            .disposition
            .as_deref()
            .is_none_or(|disposition| disposition == "inline")
}

impl Composed {
    fn add(&mut self, part: &Part<'_>, bytes_max: usize) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let room = bytes_max.saturating_sub(self.text.len());
        // No encoding makes four bytes of text out of less than one; what is behind them need not be decoded.
        let written = &part.body[..part.body.len().min(room.saturating_mul(4))];
        let decoded = part.transfer.decoded(written);
        let taken = &decoded[..decoded.len().min(room)];
        let mut text = syntax::text(part.content_type.parameter("charset"), taken);
        let mut is_cut = written.len() < part.body.len() || taken.len() < decoded.len();
        text = text.replace("\r\n", "\n");
        if is_flowed(part) {
            let deletes_space = part.content_type.parameter("delsp");
            text = unflowed(
                &text,
                deletes_space.is_some_and(|yes| yes.eq_ignore_ascii_case("yes")),
            );
        }
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            is_cut = true;
        }
        self.is_cut |= is_cut;
        // A character cut in two is none.
        self.text += if is_cut {
            text.trim_end_matches('\u{fffd}')
        } else {
            &text
        };
    }
}

fn is_flowed(part: &Part<'_>) -> bool {
    let format = part.content_type.parameter("format");
    part.content_type.value == "text/plain"
        && format.is_some_and(|format| format.eq_ignore_ascii_case("flowed"))
}

/// The text with its paragraphs in one line each, which were wrapped behind a space for sending.
fn unflowed(text: &str, deletes_space: bool) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut open_depth = None;
    for (index, line) in text.split('\n').enumerate() {
        let content = line.trim_start_matches('>');
        let depth = line.len() - content.len();
        let content = content.strip_prefix(' ').unwrap_or(content);
        let goes_on = content.ends_with(' ') && content != "-- ";
        if open_depth != Some(depth) {
            if index > 0 {
                joined.push('\n');
            }
            joined.extend(std::iter::repeat_n('>', depth));
            if depth > 0 {
                joined.push(' ');
            }
        }
        joined.push_str(match content.strip_suffix(' ') {
            Some(content) if goes_on && deletes_space => content,
            _ => content,
        });
        open_depth = goes_on.then_some(depth);
    }
    joined
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{fields, mime},
        *,
    };

    fn body(message: &[u8], bytes_max: usize) -> Body {
        let (fields, text) = fields::split(message, fields::MESSAGE);
        Body::of(&mime::parts(&fields, text).list, bytes_max)
    }

    fn json(message: &[u8]) -> Value {
        body(message, 1_000).json()
    }

    #[test]
    fn parts_for_reading_are_put_together_by_kind() {
        let message = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n\
            --b\r\nContent-Type: text/html\r\n\r\n<p>two</p>\r\n--b\r\n\
            Content-Disposition: attachment\r\n\r\nthree\r\n--b\r\n\
            Content-Disposition: inline; filename=a.txt\r\n\r\nfour\r\n--b--";
        assert_eq!(
            json(message),
            json!({"text": "one\nfour", "html": "<p>two</p>"})
        );
    }

    #[test]
    fn a_text_is_decoded_and_its_lines_end_with_lf() {
        let message = b"Content-Type: text/plain; charset=iso-8859-1\r\n\
            Content-Transfer-Encoding: quoted-printable\r\n\r\ncaf=E9\r\nau lait\r\n";
        assert_eq!(json(message), json!({"text": "café\nau lait\n"}));
        assert_eq!(json(b"Subject: x\r\n\r\ncaf\xe9"), json!({"text": "café"}));
        let html = b"Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+w6k8L3A+";
        assert_eq!(json(html), json!({"html": "<p>é</p>"}));
    }

    #[test]
    fn a_message_without_anything_to_read_has_an_empty_text() {
        assert_eq!(
            json(b"Content-Type: image/png\r\n\r\nx"),
            json!({"text": ""})
        );
        assert_eq!(json(b""), json!({"text": ""}));
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        let message = format!(
            "Content-Type: text/plain; charset=utf-8\r\n\r\n{}",
            "é".repeat(10)
        );
        let cut = body(message.as_bytes(), 5);
        assert_eq!(cut.json(), json!({"text": "éé"}));
        assert!(cut.text_is_cut() && !cut.html_is_cut());
        let whole = body(message.as_bytes(), 20);
        assert_eq!(whole.json(), json!({"text": "é".repeat(10)}));
        assert!(!whole.text_is_cut());
        let latin = [
            &b"Content-Type: text/plain; charset=latin1\r\n\r\n"[..],
            &[0xe9; 10],
        ]
        .concat();
        assert_eq!(body(&latin, 10).json(), json!({"text": "é".repeat(5)}));
    }

    #[test]
    fn flowing_lines_become_paragraphs() {
        for (text, deletes_space, wanted) in [
            ("one \ntwo\nthree", false, "one two\nthree"),
            ("one \ntwo", true, "onetwo"),
            (
                "> one \n> two\n>> three \nfour",
                false,
                "> one two\n>> three \nfour",
            ),
            ("-- \nJane", false, "-- \nJane"),
            (" From a", false, "From a"),
            ("", false, ""),
        ] {
            assert_eq!(unflowed(text, deletes_space), wanted, "{text:?}");
        }
    }
}
