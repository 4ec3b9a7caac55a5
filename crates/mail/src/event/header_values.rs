//! The `headers` of an event: names in lower case, each value in the form that fits it.
//!
//! Fields that occur several times are lists, except those of which one counts: there the last one does.

use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};

use super::{
    address,
    fields::{Field, Fields},
    syntax,
};

/// Fields of which one counts.
const SINGLE: &[&str] = &[
    "content-description",
    "content-disposition",
    "content-id",
    "content-transfer-encoding",
    "content-type",
    "date",
    "disposition-notification-to",
    "errors-to",
    "from",
    "in-reply-to",
    "message-id",
    "mime-version",
    "precedence",
    "priority",
    "reply-to",
    "sender",
    "subject",
];

/// All fields by name. A date that cannot be read is the moment the message was taken.
pub(super) fn of(fields: &Fields, received_at_ms: u64) -> Map<String, Value> {
    let mut headers = Map::new();
    let mut lists = Map::new();
    for field in fields.iter() {
        let name = field.name.to_ascii_lowercase();
        // This server's own comes first; one that somebody else wrote says nothing.
        if name == "return-path" && headers.contains_key(&name) {
            continue;
        }
        if let Some(list) = name.strip_prefix("list-") {
            lists.insert(list.to_owned(), about_list(field));
            continue;
        }
        let (name, value) = named(name, field, received_at_ms);
        add(&mut headers, name, value);
    }
    // Somebody may have written a field of that name, too.
    if !lists.is_empty() {
        headers.insert("list".to_owned(), lists.into());
    }
    headers
}

fn named(name: String, field: &Field, received_at_ms: u64) -> (String, Value) {
    let text = field.value.as_str();
    let value = match name.as_str() {
        "from"
        | "to"
        | "cc"
        | "bcc"
        | "sender"
        | "reply-to"
        | "delivered-to"
        | "return-path"
        | "disposition-notification-to" => addresses(text),
        "content-type" | "content-disposition" | "dkim-signature" => parametrized(text),
        "date" => date(text, received_at_ms),
        "message-id" | "in-reply-to" => bracketed(text).into(),
        "references" => references(text),
        "priority" | "x-priority" | "x-msmail-priority" | "importance" => {
            return ("priority".to_owned(), priority(text).into());
        }
        _ => syntax::decoded(text).into(),
    };
    (name, value)
}

fn add(headers: &mut Map<String, Value>, name: String, value: Value) {
    match headers.get_mut(&name) {
        None => {
            headers.insert(name, value);
        }
        Some(one) if SINGLE.contains(&name.as_str()) => *one = value,
        Some(Value::Array(list)) => list.push(value),
        Some(one) => *one = json!([one.take(), value]),
    }
}

/// An empty path stays an entry, so that the address of a return path can be read without asking.
fn addresses(text: &str) -> Value {
    let mut entries = syntax::addresses(text);
    if entries.is_empty() {
        entries.push(syntax::Entry::Mailbox(syntax::Mailbox::default()));
    }
    address::json(&entries)
}

fn parametrized(text: &str) -> Value {
    let read = syntax::parametrized(text).unwrap_or_default();
    let parameters: Map<_, _> = read
        .parameters
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    json!({ "value": read.value, "params": parameters })
}

fn date(text: &str, received_at_ms: u64) -> Value {
    let read = syntax::date_seconds(text).and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    match read {
        Some(date) => date.to_rfc3339_opts(SecondsFormat::Millis, true).into(),
        None => iso_8601(received_at_ms).into(),
    }
}

/// A moment as dates are written in events.
pub(super) fn iso_8601(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(DateTime::from_timestamp_millis)
        .unwrap_or_default()
        .to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn bracketed(text: &str) -> String {
    let inner = syntax::decoded(text);
    let inner = inner.trim();
    let inner = inner.strip_prefix('<').unwrap_or(inner);
    let inner = inner.strip_suffix('>').unwrap_or(inner);
    format!("<{inner}>")
}

fn references(text: &str) -> Value {
    let mut list: Vec<_> = text.split_ascii_whitespace().map(bracketed).collect();
    match list.len() {
        1 => list.remove(0).into(),
        _ => list.into(),
    }
}

/// The names and numbers of programs, of which 1 is the most urgent, in three words.
fn priority(text: &str) -> &'static str {
    let digits = text.find(|character: char| !character.is_ascii_digit());
    let number = text[..digits.unwrap_or(text.len())].parse::<u32>();
    match (number, text.to_ascii_lowercase().as_str()) {
        (Ok(0..=2), _) | (_, "urgent" | "high") => "high",
        (Ok(4..), _) | (_, "non-urgent" | "low") => "low",
        _ => "normal",
    }
}

/// A field about a mailing list. All of those are one object, by the second half of their name.
fn about_list(field: &Field) -> Value {
    let mut about = Map::new();
    for entry in syntax::addresses(&field.value) {
        let syntax::Entry::Mailbox(mailbox) = entry else {
            continue;
        };
        for text in [mailbox.address, mailbox.name] {
            let (key, text) = match text.as_str() {
                "" => continue,
                url if url.starts_with("http://") || url.starts_with("https://") => ("url", url),
                mail if mail.starts_with("mailto:") => ("mail", &mail["mailto:".len()..]),
                mail if mail.contains('@') => ("mail", mail),
                id if id.contains('.') && !id.contains(' ') => ("id", id),
                name => ("name", name),
            };
            about.insert(key.to_owned(), text.into());
        }
    }
    if about.is_empty() {
        about.insert("name".to_owned(), syntax::decoded(&field.value).into());
    }
    about.into()
}

#[cfg(test)]
mod tests {
    use super::{super::fields, *};

    fn headers(text: &str) -> Value {
        let (fields, _) = fields::split(text.as_bytes(), fields::MESSAGE);
        of(&fields, 1_774_346_927_000).into()
    }

    #[test]
    fn values_have_the_form_that_fits_their_field() {
        let text = "From: Jane <jane@a.example>\r\n\
                    Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n\
                    Date: Tue, 24 Mar 2026 11:08:47 +0100\r\n\
                    Message-ID: <1@a.example>\r\n\
                    References: <0@a.example>\r\n\
                    Content-Type: text/plain; charset=utf-8\r\n\
                    X-Mailer: =?utf-8?Q?Caf=C3=A9?=\r\n\r\n";
        let jane = json!([{"address": "jane@a.example", "name": "Jane"}]);
        let read = headers(text);
        assert_eq!(read["from"]["value"], jane);
        assert_eq!(read["subject"], "Grüße");
        assert_eq!(read["date"], "2026-03-24T10:08:47.000Z");
        assert_eq!(read["message-id"], "<1@a.example>");
        assert_eq!(read["references"], "<0@a.example>");
        let content_type = json!({"value": "text/plain", "params": {"charset": "utf-8"}});
        assert_eq!(read["content-type"], content_type);
        assert_eq!(read["x-mailer"], "Café");
    }

    #[test]
    fn repeated_fields_are_lists_unless_one_counts() {
        let read = headers(
            "Received: a\r\nReceived: b\r\nReceived: c\r\nSubject: x\r\nSubject: y\r\n\
             Return-Path: <ours@a.example>\r\nReturn-Path: <theirs@a.example>\r\n\
             References: <1@a> 2@b\r\nTo: a@b.example\r\nTo: c@d.example\r\n\r\n",
        );
        assert_eq!(read["received"], json!(["a", "b", "c"]));
        assert_eq!(read["subject"], "y");
        assert_eq!(read["return-path"]["value"][0]["address"], "ours@a.example");
        assert_eq!(read["references"], json!(["<1@a>", "<2@b>"]));
        assert_eq!(read["to"][1]["text"], "c@d.example");
    }

    #[test]
    fn an_empty_path_is_an_entry_and_an_unreadable_date_the_moment_of_receipt() {
        let read = headers("Return-Path: <>\r\nDate: yesterday\r\n\r\n");
        assert_eq!(
            read["return-path"]["value"],
            json!([{"address": "", "name": ""}])
        );
        assert_eq!(read["date"], "2026-03-24T10:08:47.000Z");
    }

    #[test]
    fn a_signature_is_a_value_with_parameters() {
        let read =
            headers("DKIM-Signature: v=1; a=rsa-sha256; d=a.example;\r\n b=ab/c+d==\r\n\r\n");
        let signature = &read["dkim-signature"];
        assert_eq!(signature["value"], "v=1");
        assert_eq!(signature["params"]["d"], "a.example");
        assert_eq!(signature["params"]["b"], "ab/c+d==");
    }

    #[test]
    fn lists_and_priorities_are_gathered() {
        let read = headers(
            "List-Unsubscribe: <https://a.example/u?x=1>, <mailto:u@a.example>\r\n\
             List-ID: News <news.a.example>\r\nX-Priority: 1 (Highest)\r\n\r\n",
        );
        let unsubscribe = json!({"url": "https://a.example/u?x=1", "mail": "u@a.example"});
        assert_eq!(read["list"]["unsubscribe"], unsubscribe);
        assert_eq!(
            read["list"]["id"],
            json!({"id": "news.a.example", "name": "News"})
        );
        assert_eq!(read["priority"], "high");
        let read = headers("List: x\r\nList-ID: <news.a.example>\r\nList: y\r\n\r\n");
        assert_eq!(read["list"], json!({"id": {"id": "news.a.example"}}));
        for (text, wanted) in [
            ("3", "normal"),
            ("5", "low"),
            ("High", "high"),
            ("odd", "normal"),
        ] {
            assert_eq!(priority(text), wanted, "{text}");
        }
    }
}
