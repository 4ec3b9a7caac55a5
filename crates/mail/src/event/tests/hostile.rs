//! Messages that are broken, or meant to be expensive. Each still becomes an event.

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

use super::{RECEIVED_AT_MS, parsed, received};
use crate::event::{Options, parse};

const MIB: usize = 1024 * 1024;

/// Messages with all kinds of things in them, to be mutated.
const SEEDS: &[&str] = &[
    "From: Jane <jane@a.example>\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?utf-8?B?4pyI?=\r\n\
     Date: Tue, 24 Mar 2026 11:08:47 +0100 (CET)\r\nContent-Type: text/plain; charset=iso-2022-jp; format=flowed\r\n\
     Content-Transfer-Encoding: quoted-printable\r\n\r\n> caf=E9 \r\n> au=\r\n lait\r\n-- \r\nJane\r\n",
    "To: Friends: \"A (b)\" <a@b.example>, c@d.example (Comment \\( here);, =?x?Q?=41?= <e@f.example>\r\n\
     List-Unsubscribe: <mailto:u@a.example>, <https://a.example/?u>\r\nX-Priority: 1 (Highest)\r\n\
     DKIM-Signature: v=1; a=rsa-sha256;\r\n\tb=abc/def==\r\nReferences: <1@a> 2@b\r\n\r\nhello",
    "Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\npreamble\r\n--b\r\n\
     Content-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n\
     +AOk-\r\n--c\r\nContent-Type: text/html; charset=gb18030\r\nContent-Transfer-Encoding: base64\r\n\r\n\
     xOO6ww==\r\n--c--\r\n--b\r\nContent-Type: image/png; name*0*=utf-8''%41; name*1=b.png\r\n\
     Content-Disposition: attachment; filename=\"=?utf-8?Q?=C3=A9?=.png\"\r\nContent-ID: <x@y>\r\n\
     Content-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n\
     Subject: inner\r\n\r\ntext\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nStatus: 5.1.1\r\n--b--\r\nepilogue",
];

/// Snippets that parsers trip over.
const SNIPPETS: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    "--b",
    "--b--\r\n",
    "=?utf-8?B?",
    "?=",
    "=?iso-2022-jp?B?GyRC?=",
    "\"",
    "\\",
    "(",
    ")",
    "<",
    ">",
    ";",
    ":",
    ",",
    "*0*=",
    "=",
    "=\r\n",
    "''",
    "%",
    "\0",
    "\u{202e}",
    "Content-Type: multipart/digest; boundary=b\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "charset=shift_jis",
    "Date: 99 Zzz 99999 99:99:99 -9999\r\n",
    " ",
    "\t",
    "List: ",
    "List-: ",
    "List-ID: ",
    "Priority: ",
    "Date: ",
    "Return-Path: ",
    "References: ",
    "Message-ID: ",
    "Content-Disposition: ",
    "Received: ",
];

#[derive(Debug, Clone)]
enum Mutation {
    Remove(Index, usize),
    Repeat(Index, usize),
    Insert(Index, Index),
    Change(Index, u8),
    Cut(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (any::<Index>(), 1..80_usize).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, snippet)| Mutation::Insert(at, snippet)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Change(at, byte)),
        any::<Index>().prop_map(Mutation::Cut),
    ]
}

/// A header of fields that have a form of their own, in any number and order, with values that may be anything.
fn header() -> impl Strategy<Value = String> {
    let names = [
        "List",
        "List-ID",
        "list-",
        "Priority",
        "X-Priority",
        "Date",
        "Return-Path",
        "References",
        "Message-ID",
        "Content-Type",
        "Content-Disposition",
        "Content-Transfer-Encoding",
        "DKIM-Signature",
        "From",
        "To",
        "Subject",
        "Received",
        "constructor",
        "__proto__",
    ];
    let value = vec(select(SNIPPETS), 0..4).prop_map(|snippets| snippets.concat());
    let field =
        (select(names.to_vec()), value).prop_map(|(name, value)| format!("{name}: {value}\r\n"));
    vec(field, 0..12).prop_map(|fields| fields.concat())
}

fn mutate(message: &mut Vec<u8>, mutation: &Mutation) {
    if message.is_empty() {
        return;
    }
    let size = message.len();
    match mutation {
        Mutation::Remove(at, length) => {
            let at = at.index(size);
            message.drain(at..size.min(at + length));
        }
        Mutation::Repeat(at, length) => {
            let at = at.index(size);
            let piece = message[at..size.min(at + length)].to_vec();
            message.splice(at..at, piece);
        }
        Mutation::Insert(at, snippet) => {
            let at = at.index(size);
            message.splice(at..at, SNIPPETS[snippet.index(SNIPPETS.len())].bytes());
        }
        Mutation::Change(at, byte) => message[at.index(size)] = *byte,
        Mutation::Cut(at) => message.truncate(at.index(size)),
    }
}

proptest! {
    #[test]
    fn every_mutated_message_becomes_an_event(
        seed in 0..SEEDS.len(),
        mutations in vec(mutation(), 0..12),
    ) {
        let mut message = SEEDS[seed].as_bytes().to_vec();
        for mutation in &mutations {
            mutate(&mut message, mutation);
        }
        becomes_an_event(&message);
    }

    #[test]
    fn every_header_becomes_an_event(header in header()) {
        becomes_an_event(format!("{header}\r\nhello").as_bytes());
    }

    #[test]
    fn every_heap_of_bytes_becomes_an_event(message in vec(any::<u8>(), 0..2_000)) {
        becomes_an_event(&message);
    }
}

fn becomes_an_event(message: &[u8]) {
    let parsed = parsed(message);
    let event = &parsed.event;
    assert!(event["headers"]["return-path"].is_object());
    assert!(event["body"]["text"].is_string() || event["body"]["html"].is_string());
    let attachments = event["attachments"].as_array().map_or(0, Vec::len);
    assert_eq!(attachments, parsed.attachments.len());
    for attachment in &parsed.attachments {
        assert!(!attachment.filename.contains(['/', '\\', '\0', '\n']));
        assert!(!attachment.filename.is_empty());
    }
    assert!(parsed.raw.ends_with(message));
    assert!(serde_json::to_vec(event).is_ok());
}

#[test]
fn broken_mime_still_gives_headers_and_a_text() {
    for message in [
        "Subject: x\r\nContent-Type: multipart/mixed\r\n\r\nhello",
        "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\nhello",
        "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello",
        "Subject: x\r\nContent-Type: text/plain; charset=no-such\r\n\r\nhello",
        "Subject: x\r\nContent-Transfer-Encoding: rot13\r\n\r\nhello",
        "Subject: x\r\nContent-Type: ;;;=\r\n\r\nhello",
        "Subject: x\r\nhello",
    ] {
        let event = parsed(message).event;
        assert_eq!(event["subject"], "x", "{message}");
        assert_eq!(event["body"]["text"], "hello", "{message}");
    }
}

#[test]
fn a_million_parts_are_a_thousand() {
    let message = "Content-Type: multipart/mixed; boundary=b\r\n\r\n".to_owned()
        + &"--b\r\nContent-Type: image/png\r\n\r\n".repeat(100_000)
        + &"--b\r\n".repeat(1_000_000);
    let parsed = parsed(message);
    assert_eq!(parsed.attachments.len(), 999);
    assert_eq!(parsed.event["truncated"], serde_json::json!(["parts"]));
}

#[test]
fn nesting_without_end_ends() {
    let mut message = String::new();
    for level in 0..10_000 {
        message +=
            &format!("Content-Type: multipart/mixed; boundary=b{level}x\r\n\r\n--b{level}x\r\n");
    }
    let parsed = parsed(message);
    assert_eq!(parsed.attachments.len(), 1);
    assert_eq!(parsed.event["truncated"], serde_json::json!(["parts"]));
}

#[test]
fn a_header_without_end_is_cut_and_the_text_is_found() {
    let message = "Subject: first\r\n".to_owned() + &"X-More: y\r\n".repeat(200_000) + "\r\nhello";
    let event = parsed(message).event;
    assert_eq!(event["subject"], "first");
    assert_eq!(event["body"]["text"], "hello");
    assert_eq!(event["mail"]["headersTruncated"], true);
    assert_eq!(event["truncated"], serde_json::json!(["headers"]));
    assert!(event.to_string().len() < 100_000);
}

#[test]
fn values_that_nest_or_repeat_without_end_are_read() {
    for value in [
        "(".repeat(50_000),
        "\"\\".repeat(50_000),
        "<a@b.example>,".repeat(50_000),
        "a:".repeat(50_000),
        "=?utf-8?Q?".repeat(50_000),
        "=?utf-8?Q?a?= ".repeat(50_000),
        "x*1=y; ".repeat(50_000),
    ] {
        let message = format!(
            "From: {value}\r\nSubject: {value}\r\nDate: {value}\r\nContent-Type: text/plain; {value}\r\n\r\nhello"
        );
        let event = parsed(message).event;
        assert_eq!(event["body"]["text"], "hello", "{}", &value[..20]);
        assert_eq!(event["mail"]["headersTruncated"], true);
    }
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let message = "Content-Type: text/html\r\n\r\n".to_owned() + &"<br>\r\n".repeat(MIB);
    let options = Options::new("id-1", "mx.example", RECEIVED_AT_MS);
    let event = parse(&received(message.as_bytes()), &options).event;
    let html = event["body"]["html"].as_str().unwrap();
    assert!((MIB / 2..=MIB).contains(&html.len()));
    assert_eq!(event["truncated"], serde_json::json!(["body.html"]));
}
