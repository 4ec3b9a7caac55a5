//! The little languages within header values: encoded words, addresses, parameters, dates, charsets.
//!
//! The library that knows them is given one bounded value at a time. Its work is fenced: should it panic,
//! that value stays as it is written, and the message is read all the same. A sender would otherwise try
//! one message for days that no try can bring in.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mail_parser::{
    Addr, Address, DateTime, HeaderValue, decoders::charsets::map::charset_decoder,
    parsers::MessageStream,
};

/// One entry of a list of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Mailbox(Mailbox),
    Group { name: String, members: Vec<Mailbox> },
}

/// A name and an address, each of which may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mailbox {
    pub(super) name: String,
    pub(super) address: String,
}

/// A value with parameters, such as a content type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parametrized {
    pub(super) value: String,
    pub(super) parameters: Vec<(String, String)>,
}

impl Parametrized {
    /// The first parameter of that name, which is in lower case.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The text of a value with encoded words in it.
pub(super) fn decoded(value: &str) -> String {
    if !value.contains("=?") {
        return printable(value);
    }
    let read = |line: &[u8]| match MessageStream::new(line).parse_unstructured() {
        HeaderValue::Text(text) => text.into_owned(),
        _ => String::new(),
    };
    printable(&fenced(value, read).unwrap_or_else(|| value.to_owned()))
}

/// The addresses in a value.
pub(super) fn addresses(value: &str) -> Vec<Entry> {
    let read = |line: &[u8]| match MessageStream::new(line).parse_address() {
        HeaderValue::Address(Address::List(list)) => list.iter().map(entry).collect(),
        HeaderValue::Address(Address::Group(groups)) => {
            let entries = groups.iter().flat_map(|group| match &group.name {
                Some(name) => vec![Entry::Group {
                    name: printable(name),
                    members: group.addresses.iter().map(mailbox).collect(),
                }],
                None => group.addresses.iter().map(entry).collect(),
            });
            entries.collect()
        }
        _ => Vec::new(),
    };
    fenced(value, read).unwrap_or_default()
}

fn entry(addr: &Addr<'_>) -> Entry {
    Entry::Mailbox(mailbox(addr))
}

fn mailbox(addr: &Addr<'_>) -> Mailbox {
    Mailbox {
        name: printable(addr.name().unwrap_or_default()),
        address: printable(addr.address().unwrap_or_default()),
    }
}

/// A value and its parameters, joined and decoded where they were split or encoded.
pub(super) fn parametrized(value: &str) -> Option<Parametrized> {
    let read = |line: &[u8]| {
        let HeaderValue::ContentType(content) = MessageStream::new(line).parse_content_type()
        else {
            return None;
        };
        let value = match content.subtype() {
            Some(subtype) => format!("{}/{subtype}", content.ctype()),
            None => content.ctype().to_owned(),
        };
        let parameters = content.attributes().unwrap_or_default().iter();
        let parameters =
            parameters.map(|parameter| (printable(&parameter.name), printable(&parameter.value)));
        Some(Parametrized {
            value: printable(&value),
            parameters: parameters.collect(),
        })
    };
    fenced(value, read).flatten()
}

/// The moment that a date says, in seconds since the epoch.
pub(super) fn date_seconds(value: &str) -> Option<i64> {
    let read = |line: &[u8]| match MessageStream::new(line).parse_date() {
        HeaderValue::DateTime(date) => is_sensible(&date).then(|| date.to_timestamp()),
        _ => None,
    };
    fenced(value, read).flatten()
}

fn is_sensible(date: &DateTime) -> bool {
    (1970..=9998).contains(&date.year)
        && (1..=31).contains(&date.day)
        && date.hour < 24
        && date.minute < 60
        && date.second <= 60
}

/// Bytes in a charset as text. An unknown charset is taken for UTF-8, and without one, what is not UTF-8 for
/// Windows-1252, as old programs send it.
pub(super) fn text(charset: Option<&str>, bytes: &[u8]) -> String {
    let charset = charset.map(str::trim).filter(|charset| !charset.is_empty());
    let decode = |charset: &str| {
        let decoder = charset_decoder(charset.as_bytes())?;
        catch_unwind(AssertUnwindSafe(|| decoder(bytes))).ok()
    };
    if let Some(text) = charset.and_then(decode) {
        return text;
    }
    match (std::str::from_utf8(bytes), charset) {
        (Ok(text), _) => text.to_owned(),
        (Err(_), None) => decode("windows-1252").unwrap_or_else(|| lossy(bytes)),
        (Err(_), Some(_)) => lossy(bytes),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads a value as the one line that the parsers want, or nothing if they fail at it.
fn fenced<T>(value: &str, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let line = format!("{value}\n");
    catch_unwind(AssertUnwindSafe(|| read(line.as_bytes()))).ok()
}

/// Decoding may bring line ends and other control characters to light, which nobody expects in a header.
fn printable(text: &str) -> String {
    text.replace(
        |character: char| character.is_control() && character != '\t',
        " ",
    )
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    fn mailbox(name: &str, address: &str) -> Mailbox {
        Mailbox {
            name: name.to_owned(),
            address: address.to_owned(),
        }
    }

    #[test]
    fn encoded_words_are_decoded() {
        for (value, wanted) in [
            ("plain", "plain"),
            ("=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
            ("=?iso-8859-1?q?caf=E9?= au lait", "café au lait"),
            ("=?UTF-8?B?4pyI?= =?UTF-8?B?4pyI?=", "✈✈"),
            ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
            ("=?gb2312?B?xOO6ww==?=", "你好"),
            ("=?utf-8?Q?broken", "=?utf-8?Q?broken"),
            ("=?utf-8?Q?a=0D=0ABcc:_x?=", "a  Bcc: x"),
        ] {
            assert_eq!(decoded(value), wanted, "{value}");
        }
    }

    #[test]
    fn addresses_have_names_and_groups() {
        let list = addresses(
            "\"Doe, Jane\" <jane@a.example>, bob@b.example, =?utf-8?q?J=C3=B6rg?= <j@c.example>",
        );
        let wanted = [
            mailbox("Doe, Jane", "jane@a.example"),
            mailbox("", "bob@b.example"),
            mailbox("Jörg", "j@c.example"),
        ];
        assert_eq!(list, wanted.map(Entry::Mailbox));
        let group = Entry::Group {
            name: "Friends".to_owned(),
            members: vec![mailbox("", "a@b.example"), mailbox("", "c@d.example")],
        };
        assert_eq!(addresses("Friends: a@b.example, c@d.example;"), [group]);
        assert_eq!(addresses(""), []);
        assert_eq!(addresses("<>"), []);
    }

    #[test]
    fn parameters_are_joined_and_decoded() {
        let plain = parametrized("TEXT/Plain; Charset=\"utf-8\"; format=flowed").unwrap();
        assert_eq!(plain.value, "text/plain");
        assert_eq!(plain.parameter("charset"), Some("utf-8"));
        assert_eq!(plain.parameter("format"), Some("flowed"));
        for value in [
            "attachment; filename*=utf-8''r%C3%A9sum%C3%A9.pdf",
            "attachment; filename*0*=utf-8''r%C3%A9; filename*1*=sum%C3%A9; filename*2=.pdf",
            "attachment; filename=\"=?utf-8?Q?r=C3=A9sum=C3=A9.pdf?=\"",
            "attachment; filename=\"résumé.pdf\"",
        ] {
            let disposition = parametrized(value).unwrap();
            assert_eq!(disposition.value, "attachment");
            assert_eq!(
                disposition.parameter("filename"),
                Some("résumé.pdf"),
                "{value}"
            );
        }
        assert_eq!(parametrized(""), None);
    }

    #[test]
    fn dates_are_read_and_nonsense_is_not() {
        assert_eq!(
            date_seconds("Tue, 24 Mar 2026 10:08:47 +0000"),
            Some(1_774_346_927)
        );
        assert_eq!(
            date_seconds("24 Mar 26 11:08:47 +0100 (CET)"),
            Some(1_774_346_927)
        );
        for value in [
            "",
            "yesterday",
            "Tue, 99 Mar 2026 10:08:47 +0000",
            "24 Mar 2026",
        ] {
            assert_eq!(date_seconds(value), None, "{value}");
        }
    }

    #[test]
    fn charsets_are_decoded_and_guessed_where_missing() {
        for (charset, bytes, wanted) in [
            (Some("iso-8859-1"), &b"caf\xe9"[..], "café"),
            (Some(" UTF-8 "), b"caf\xc3\xa9", "café"),
            (Some("utf-8"), b"caf\xe9", "caf\u{fffd}"),
            (Some("shift_jis"), b"\x93\xfa\x96\x7b", "日本"),
            (Some("koi8-r"), b"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"),
            (Some("no-such-charset"), b"caf\xc3\xa9", "café"),
            (None, b"caf\xc3\xa9", "café"),
            (None, b"\x93caf\xe9\x94", "“café”"),
        ] {
            assert_eq!(text(charset, bytes), wanted, "{charset:?}");
        }
    }

    /// The tokens of all the languages, in an order that none of them has.
    fn salad() -> impl Strategy<Value = String> {
        let tokens = [
            "=?utf-8?Q?",
            "=?gb18030?b?",
            "?=",
            "=C3",
            "xOO6ww",
            "=",
            "?",
            "_",
            "*",
            "*0*",
            "''",
            "%C3",
            "\"",
            "\\",
            "(",
            ")",
            "<",
            ">",
            "@",
            ":",
            ";",
            ",",
            "/",
            ".",
            " ",
            "\t",
            "a",
            "é",
            "1",
            "99",
            "+",
            "-",
            "Mar",
            "\0",
            "\u{1}",
            "filename",
            "charset",
            "iso-2022-jp",
            "\x1b$B",
        ];
        vec(select(tokens.to_vec()), 0..40).prop_map(|tokens| tokens.concat())
    }

    proptest! {
        #[test]
        fn any_value_is_read_and_what_comes_out_is_one_line(value in salad()) {
            let mut texts = vec![decoded(&value)];
            for entry in addresses(&value) {
                match entry {
                    Entry::Mailbox(mailbox) => texts.extend([mailbox.name, mailbox.address]),
                    Entry::Group { name, .. } => texts.push(name),
                }
            }
            let parameters = parametrized(&value).map(|read| read.parameters);
            texts.extend(parameters.into_iter().flatten().map(|(_, value)| value));
            for text in texts {
                prop_assert!(!text.contains(['\r', '\n', '\0', '\x1b']), "{text:?}");
            }
            if let Some(seconds) = date_seconds(&value) {
                prop_assert!(chrono::DateTime::from_timestamp(seconds, 0).is_some());
            }
        }
    }
}
