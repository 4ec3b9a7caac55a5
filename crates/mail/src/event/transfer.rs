//! Transfer encodings, decoded leniently: what is broken in them costs characters, not the part.

use std::borrow::Cow;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Leaves the padding off, and does not mind bits that should be zero.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// The way in which a part's bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    AsIs,
    Base64,
    QuotedPrintable,
}

impl Transfer {
    /// The encoding of that name; an unknown one is none.
    pub(super) fn named(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "base64" => Self::Base64,
            "quoted-printable" => Self::QuotedPrintable,
            _ => Self::AsIs,
        }
    }

    /// The bytes that were meant.
    pub(super) fn decoded(self, written: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::AsIs => Cow::Borrowed(written),
            Self::Base64 => Cow::Owned(base64_decoded(written)),
            Self::QuotedPrintable => Cow::Owned(quoted_printable_decoded(written)),
        }
    }
}

fn base64_decoded(written: &[u8]) -> Vec<u8> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut decoded = Vec::with_capacity(written.len() / 4 * 3);
    // Some programs encode pieces and put them together, padding and all.
    for piece in written.split(|byte| *byte == b'=') {
        let mut digits: Vec<u8> = piece.iter().copied().filter(is_digit).collect();
        // Six bits are no byte.
        if digits.len() % 4 == 1 {
            digits.pop();
        }
        // Nothing but digits is left, in a number that fits.
        let _ = BASE64.decode_vec(digits, &mut decoded);
    }
    decoded
}

fn quoted_printable_decoded(written: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(written.len());
    for line in written.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let end = &line[line.len() - line_end(line)..];
        match text.strip_suffix(b"=") {
            // The line goes on with the next one.
            Some(text) => unquote(text, &mut decoded),
            None => {
                unquote(text, &mut decoded);
                decoded.extend_from_slice(end);
            }
        }
    }
    decoded
}

fn line_end(line: &[u8]) -> usize {
    match line {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    }
}

fn unquote(text: &[u8], decoded: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(mark) = memchr::memchr(b'=', rest) {
        decoded.extend_from_slice(&rest[..mark]);
        rest = &rest[mark..];
        let byte = match rest {
            [b'=', high, low, ..] => hex_digit(*high).zip(hex_digit(*low)),
            _ => None,
        };
        match byte {
            Some((high, low)) => {
                decoded.push(high * 16 + low);
                rest = &rest[3..];
            }
            // Not an escape: it stays as it is.
            None => {
                decoded.push(b'=');
                rest = &rest[1..];
            }
        }
    }
    decoded.extend_from_slice(rest);
}

fn hex_digit(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(transfer: &str, written: &str) -> String {
        let bytes = Transfer::named(transfer)
            .decoded(written.as_bytes())
            .into_owned();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn encodings_are_known_by_name() {
        assert_eq!(Transfer::named(" BASE64 "), Transfer::Base64);
        assert_eq!(
            Transfer::named("Quoted-Printable"),
            Transfer::QuotedPrintable
        );
        for name in ["7bit", "8bit", "binary", "x-uuencode", ""] {
            assert_eq!(Transfer::named(name), Transfer::AsIs, "{name}");
        }
    }

    #[test]
    fn base64_is_decoded_whatever_is_wrong_with_it() {
        for (written, wanted) in [
            ("aGVsbG8=", "hello"),
            ("aGVs\r\nbG8=\r\n", "hello"),
            ("aGVsbG8", "hello"),
            ("a G V*s!b-G8=", "hello"),
            ("aGVsbG8=IHdvcmxk", "hello world"),
            ("aGVsbG9h=", "helloa"),
            ("aGVsb", "hel"),
            ("", ""),
            ("====", ""),
        ] {
            assert_eq!(decoded("base64", written), wanted, "{written}");
        }
    }

    #[test]
    fn quoted_printable_is_decoded_whatever_is_wrong_with_it() {
        for (written, wanted) in [
            ("caf=C3=A9", "café"),
            ("caf=c3=a9", "café"),
            ("one =\r\ntwo\r\n", "one two\r\n"),
            ("one =  \r\ntwo", "one two"),
            ("one  \r\ntwo", "one\r\ntwo"),
            ("1 = 2 =3D =zz =", "1 = 2 = =zz "),
            ("a\nb", "a\nb"),
            ("", ""),
        ] {
            assert_eq!(decoded("quoted-printable", written), wanted, "{written}");
        }
    }

    proptest! {
        #[test]
        fn base64_comes_back_as_it_was(bytes: Vec<u8>) {
            let written = base64::prelude::BASE64_STANDARD.encode(&bytes);
            prop_assert_eq!(Transfer::Base64.decoded(written.as_bytes()).into_owned(), bytes);
        }

        #[test]
        fn any_bytes_can_be_decoded(bytes: Vec<u8>) {
            let decoded = Transfer::QuotedPrintable.decoded(&bytes);
            prop_assert!(decoded.len() <= bytes.len());
            let decoded = Transfer::Base64.decoded(&bytes);
            prop_assert!(decoded.len() <= bytes.len());
        }
    }
}
