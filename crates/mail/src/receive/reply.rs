//! Replies of the server: a code and lines of text, which can never be taken for further replies.

use std::borrow::Cow;

/// The longest text of a line; with its code and CR LF it stays below the 512 bytes of a reply line.
const TEXT_MAX: usize = 480;

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    code: u16,
    lines: Vec<Cow<'static, str>>,
}

impl Reply {
    pub(super) fn new(code: u16, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            lines: vec![text.into()],
        }
    }

    pub(super) fn with_lines(code: u16, lines: Vec<Cow<'static, str>>) -> Self {
        Self { code, lines }
    }

    /// Whether it says that the client did something wrong, as against something that may pass.
    pub(super) fn blames_the_client(&self) -> bool {
        self.code >= 500
    }

    /// The reply as it is sent.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let is_last = index + 1 == self.lines.len();
            let separator = if is_last { ' ' } else { '-' };
            bytes.extend_from_slice(format!("{}{separator}", self.code).as_bytes());
            bytes.extend_from_slice(one_line(line).as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes
    }
}

/// The text without control characters, no longer than a line may be.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.len() <= TEXT_MAX && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(TEXT_MAX);
    Cow::Owned(text[..end].replace(char::is_control, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_but_the_last_announces_another() {
        let reply = Reply::with_lines(250, vec!["a".into(), "b".into(), "c".into()]);
        assert_eq!(reply.bytes(), b"250-a\r\n250-b\r\n250 c\r\n");
        assert_eq!(Reply::new(220, "hello").bytes(), b"220 hello\r\n");
    }

    #[test]
    fn a_text_cannot_forge_a_second_reply() {
        let reply = Reply::new(451, "try later\r\n250 done");
        assert_eq!(reply.bytes(), b"451 try later  250 done\r\n");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let bytes = Reply::new(554, "ä".repeat(2_000)).bytes();
        assert!(bytes.len() <= 512, "{}", bytes.len());
        assert!(String::from_utf8(bytes).is_ok());
    }
}
