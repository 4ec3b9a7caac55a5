//! The text behind `DATA`, taken as it comes in: where it ends, the dots that were doubled on the way, and
//! its bounds.
//!
//! It ends at CR LF `.` CR LF and nowhere else. Servers that disagree about this can be made to see two
//! messages in one, the second with a forged sender. Such a message needs a CR or LF by itself, which no
//! server may send, so a message with one is refused whole. Replacing them instead would mend what nobody
//! honest sends, and break signatures.

use bytes::{Buf as _, Bytes, BytesMut};

use super::{
    reply::Reply,
    room::{Room, Share},
};

/// The longest line with its CR LF. Mail allows 1,000 bytes; some programs write their paragraphs in one.
const LINE_MAX: usize = 64 * 1024;

/// A text that is being taken.
#[derive(Debug)]
pub(super) struct MailText {
    kept: BytesMut,
    share: Share,
    size_max: usize,
    line_bytes: usize,
    swallowed: usize,
    state: State,
    fault: Option<Fault>,
}

/// The place within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    LineStart,
    Line,
    /// Behind a CR that is not in the text yet.
    Cr,
    /// Behind a dot at the start of a line.
    Dot,
    /// Behind that and a CR.
    DotCr,
}

/// The reason why a text is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    TooLarge,
    NoRoom,
    LongLine,
    BareCr,
    BareLf,
}

impl Fault {
    pub(super) fn reply(self) -> Reply {
        match self {
            Self::TooLarge => Reply::new(552, "5.3.4 The message is too large"),
            Self::NoRoom => Reply::new(452, "4.3.1 No room for the message now; try again later"),
            Self::LongLine => Reply::new(554, "5.6.0 A line of the message is too long"),
            Self::BareCr => Reply::new(554, "5.6.0 The message has a CR that no LF follows"),
            Self::BareLf => Reply::new(
                554,
                "5.6.0 The message has an LF without CR; lines end with CR LF",
            ),
        }
    }
}

/// A text that is complete, with the room it takes.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) text: Bytes,
    /// Held until the message is somewhere else.
    pub(super) share: Share,
}

impl MailText {
    pub(super) fn new(size_max: usize, room: &Room) -> Self {
        Self {
            kept: BytesMut::new(),
            share: room.share(),
            size_max,
            line_bytes: 0,
            swallowed: 0,
            state: State::LineStart,
            fault: None,
        }
    }

    /// Takes what has come in, up to the end of the text. True once that is reached; commands may follow it.
    pub(super) fn take(&mut self, input: &mut BytesMut) -> bool {
        while !input.is_empty() {
            if self.state == State::Line {
                let run = memchr::memchr2(b'\r', b'\n', input).unwrap_or(input.len());
                self.keep(&input.split_to(run));
                if run > 0 {
                    continue;
                }
            }
            if self.step(input.get_u8()) {
                return true;
            }
        }
        false
    }

    /// Whether so much was thrown away that waiting for the end makes no sense.
    pub(super) fn is_flood(&self) -> bool {
        self.swallowed > self.size_max
    }

    /// The text, or why there is none.
    pub(super) fn finish(self) -> Result<Kept, Fault> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(Kept {
                text: self.kept.freeze(),
                share: self.share,
            }),
        }
    }

    fn step(&mut self, byte: u8) -> bool {
        self.state = match (self.state, byte) {
            (State::DotCr, b'\n') => return true,
            (State::Cr, b'\n') => {
                self.keep(b"\r\n");
                self.line_bytes = 0;
                State::LineStart
            }
            // The start of a line is behind CR LF only: a dot behind a bare LF ends nothing.
            (_, b'\n') => {
                self.fail(Fault::BareLf);
                State::Line
            }
            (State::LineStart, b'.') => State::Dot,
            (State::LineStart | State::Line, b'\r') => State::Cr,
            (State::Dot, b'\r') => State::DotCr,
            (State::Cr | State::DotCr, _) => {
                self.fail(Fault::BareCr);
                if byte == b'\r' {
                    State::Cr
                } else {
                    State::Line
                }
            }
            (State::LineStart | State::Line | State::Dot, _) => {
                self.keep(&[byte]);
                State::Line
            }
        };
        false
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.line_bytes += bytes.len();
        let size = self.kept.len() + bytes.len();
        if self.fault.is_some() {
            self.swallowed += bytes.len();
        } else if self.line_bytes > LINE_MAX {
            self.fail(Fault::LongLine);
        } else if size > self.size_max {
            self.fail(Fault::TooLarge);
        } else if !self.share.grow_to(size) {
            self.fail(Fault::NoRoom);
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }

    /// The first fault counts. Nothing is kept from then on.
    fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
        self.kept = BytesMut::new();
        self.share.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> Room {
        Room::new(1 << 20)
    }

    /// A text, or why there is none, and the input behind it.
    type Taken = (Result<Vec<u8>, Fault>, Vec<u8>);

    /// The outcome of taking `input` in pieces of so many bytes. Nothing if the text does not end.
    fn taken(input: &[u8], piece: usize) -> Option<Taken> {
        let mut text = MailText::new(200_000, &room());
        let mut rest = BytesMut::new();
        let mut pieces = input.chunks(piece);
        loop {
            if text.take(&mut rest) {
                pieces.for_each(|piece| rest.extend_from_slice(piece));
                let outcome = text.finish().map(|kept| kept.text.to_vec());
                return Some((outcome, rest.to_vec()));
            }
            rest.extend_from_slice(pieces.next()?);
        }
    }

    /// The same in one piece and byte by byte, which must agree.
    fn outcome(input: &[u8]) -> Option<Taken> {
        let whole = taken(input, usize::MAX);
        assert_eq!(whole, taken(input, 1));
        assert_eq!(whole, taken(input, 3));
        whole
    }

    #[test]
    fn a_text_ends_at_a_dot_alone_and_what_follows_stays() {
        for (input, text, rest) in [
            (
                &b"a\r\nb\r\n.\r\nQUIT\r\n"[..],
                &b"a\r\nb\r\n"[..],
                &b"QUIT\r\n"[..],
            ),
            (b".\r\n", b"", b""),
            (b"\r\n.\r\n", b"\r\n", b""),
            (b"..\r\n...a\r\n.\r\n", b".\r\n..a\r\n", b""),
            (b".a\r\n.\r\n", b"a\r\n", b""),
            (b"a.\r\nb\r\n.\r\n", b"a.\r\nb\r\n", b""),
            (b"\0\xff\r\n.\r\n", b"\0\xff\r\n", b""),
        ] {
            assert_eq!(outcome(input), Some((Ok(text.to_vec()), rest.to_vec())));
        }
    }

    #[test]
    fn nothing_but_cr_lf_dot_cr_lf_ends_it_and_a_bare_cr_or_lf_spoils_it() {
        for (smuggled, fault) in [
            (&b"\n.\n"[..], Fault::BareLf),
            (b"\n.\r\n", Fault::BareLf),
            (b"\r\n.\n", Fault::BareLf),
            (b"\r.\r\n", Fault::BareCr),
            (b"\r.\r", Fault::BareCr),
            (b"\r\n.\r", Fault::BareCr),
            (b"\r\n.\r\r\n", Fault::BareCr),
            (b"\n\n.\r\n", Fault::BareLf),
        ] {
            let mut input = b"Subject: a\r\n\r\nb".to_vec();
            input.extend_from_slice(smuggled);
            input.extend_from_slice(b"MAIL FROM:<forged@example.com>\r\n");
            assert_eq!(outcome(&input), None, "{smuggled:?} is not an end");
            input.extend_from_slice(b".\r\nNOOP\r\n");
            let rest = b"NOOP\r\n".to_vec();
            assert_eq!(outcome(&input), Some((Err(fault), rest)), "{smuggled:?}");
        }
    }

    #[test]
    fn bounds_refuse_a_text_but_not_what_follows() {
        let long_line = [&b"a".repeat(LINE_MAX - 1)[..], b"\r\n.\r\nX"].concat();
        assert_eq!(
            outcome(&long_line),
            Some((Err(Fault::LongLine), b"X".to_vec()))
        );
        let longest_line = [&b"a".repeat(LINE_MAX - 2)[..], b"\r\n.\r\nX"].concat();
        assert!(outcome(&longest_line).unwrap().0.is_ok());
        let large = [&b"abcdefgh\r\n".repeat(20_001)[..], b".\r\nX"].concat();
        assert_eq!(outcome(&large), Some((Err(Fault::TooLarge), b"X".to_vec())));
        let largest = [&b"abcdefgh\r\n".repeat(20_000)[..], b".\r\n"].concat();
        assert_eq!(outcome(&largest).unwrap().0.unwrap().len(), 200_000);
    }

    #[test]
    fn a_text_without_room_is_refused_and_frees_what_it_had() {
        let room = Room::new(64 * 1024);
        let mut text = MailText::new(200_000, &room);
        let mut input = BytesMut::from(&b"abcdefgh\r\n".repeat(10_000)[..]);
        assert!(!text.take(&mut input));
        assert!(room.share().grow_to(64 * 1024));
        assert!(text.take(&mut BytesMut::from(&b".\r\n"[..])));
        assert_eq!(text.finish().unwrap_err(), Fault::NoRoom);
    }

    #[test]
    fn a_text_without_end_becomes_a_flood() {
        let mut text = MailText::new(1_000, &room());
        let mut input = BytesMut::from(&b"abcdefgh\r\n".repeat(150)[..]);
        assert!(!text.take(&mut input));
        assert!(!text.is_flood());
        let mut input = BytesMut::from(&b"abcdefgh\r\n".repeat(100)[..]);
        assert!(!text.take(&mut input));
        assert!(text.is_flood());
    }
}
