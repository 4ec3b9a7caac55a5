//! A place in a distributed trace, as the W3C header `traceparent` names it. Recording traces is not
//! the business of this module, which has only the part that is passed on.

use std::{fmt, num::NonZero, str::FromStr};

use crate::error::Invalid;

/// A span of a trace: `00-<trace id>-<span id>-<flags>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    /// The whole trace.
    pub trace_id: NonZero<u128>,
    /// The span that is the parent of the next one.
    pub span_id: NonZero<u64>,
    /// Bit 0: the trace is recorded.
    pub flags: u8,
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace_id,
            span_id,
            flags,
        } = self;
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{flags:02x}")
    }
}

impl FromStr for TraceParent {
    type Err = Invalid;

    /// Reads a header. Later versions of it may have more at its end, which is left out.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse(text).ok_or_else(|| {
            Invalid::new(
                "traceparent",
                "is not `00-<32 digits>-<16 digits>-<2 digits>` of lower-case hexadecimal",
            )
        })
    }
}

fn parse(text: &str) -> Option<TraceParent> {
    let mut fields = text.trim().split('-');
    let version: u8 = digits(fields.next()?, 2)?.try_into().ok()?;
    let trace_id = NonZero::new(digits(fields.next()?, 32)?)?;
    let span_id: u64 = digits(fields.next()?, 16)?.try_into().ok()?;
    let flags: u8 = digits(fields.next()?, 2)?.try_into().ok()?;
    let more = fields.next().is_some();
    if version == u8::MAX || (version == 0 && more) {
        return None;
    }
    Some(TraceParent {
        trace_id,
        span_id: NonZero::new(span_id)?,
        flags,
    })
}

fn digits(text: &str, len: usize) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != len || !text.bytes().all(is_digit) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_header_reads_back_as_it_was() {
        let parent: TraceParent = HEADER.parse().unwrap();
        assert_eq!(parent.to_string(), HEADER);
        assert_eq!(parent.flags, 1);
    }

    #[test]
    fn what_is_no_traceparent_is_refused() {
        for wrong in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert!(wrong.parse::<TraceParent>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_later_version_may_say_more() {
        let later = HEADER.replacen("00", "01", 1) + "-more";
        let parent: TraceParent = later.parse().unwrap();
        assert_eq!(parent.to_string(), HEADER);
    }
}
