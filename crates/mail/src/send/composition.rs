//! Messages as they are sent. Everything that comes from outside is checked or encoded, so that no text can
//! become a header field.

use std::time::{Duration, UNIX_EPOCH};

use lettre::{
    Message,
    message::{
        Mailbox, MultiPart, SinglePart,
        header::{HeaderName, HeaderValue},
    },
};
use sha2::{Digest as _, Sha256};
use url::Host;

use super::error::SendError;

const RECIPIENTS_MAX: usize = 100;
/// The longest value of a field, below what a line may have.
const VALUE_BYTES_MAX: usize = 900;
/// Fields that are written here, or that would change how the message is read or where it goes.
const RESERVED: &[&str] = &[
    "bcc",
    "cc",
    "date",
    "dkim-signature",
    "from",
    "message-id",
    "mime-version",
    "received",
    "return-path",
    "sender",
    "subject",
    "to",
];

/// A message to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// The recipients, `name@example.com` or `Name <name@example.com>` each.
    pub to: Vec<String>,
    /// The subject, in one line.
    pub subject: String,
    /// The text.
    pub text: Option<String>,
    /// The HTML, beside the text or instead of it.
    pub html: Option<String>,
    /// The id, `<…@…>`; see [`Sender::message_id`](super::Sender::message_id).
    pub message_id: String,
    /// The date of the message, in milliseconds since the epoch.
    pub sent_at_ms: u64,
    /// Further header fields.
    pub headers: Vec<(String, String)>,
}

/// The message as it is sent, with its envelope.
pub(super) fn compose(from: &Mailbox, mail: &Outgoing) -> Result<Message, SendError> {
    if mail.to.is_empty() || mail.to.len() > RECIPIENTS_MAX {
        return Err(refused(format!(
            "A message needs 1 to {RECIPIENTS_MAX} recipients, not {}",
            mail.to.len()
        )));
    }
    if !is_message_id(&mail.message_id) {
        return Err(refused(format!(
            "`{}` is not a Message-ID",
            mail.message_id
        )));
    }
    let date = UNIX_EPOCH.checked_add(Duration::from_millis(mail.sent_at_ms));
    let mut builder = Message::builder()
        .from(from.clone())
        .subject(one_line(&mail.subject))
        .message_id(Some(mail.message_id.clone()))
        .date(date.unwrap_or(UNIX_EPOCH));
    for to in &mail.to {
        let mailbox = mailbox(to).ok_or_else(|| refused(format!("`{to}` is not an address")))?;
        builder = builder.to(mailbox);
    }
    for (name, value) in &mail.headers {
        builder = builder.raw_header(field(name, value)?);
    }
    let message = match (&mail.text, &mail.html) {
        (text, None) => builder.singlepart(SinglePart::plain(text.clone().unwrap_or_default())),
        (None, Some(html)) => builder.singlepart(SinglePart::html(html.clone())),
        (Some(text), Some(html)) => builder.multipart(MultiPart::alternative_plain_html(
            text.clone(),
            html.clone(),
        )),
    };
    message.map_err(|error| refused(format!("The message cannot be written: {error}")))
}

/// The mailbox that a text names.
pub(super) fn mailbox(text: &str) -> Option<Mailbox> {
    let is_in_one_line = !text.contains(char::is_control);
    text.parse().ok().filter(|_| is_in_one_line)
}

/// The domain of a mailbox in ASCII, for places that take nothing else.
pub(super) fn domain(mailbox: &Mailbox) -> String {
    match Host::parse(mailbox.email.domain()) {
        Ok(host) => host.to_string(),
        Err(_) => "localhost".to_owned(),
    }
}

/// An id created from all that tells one message from another.
pub(super) fn message_id(run: &str, path: &str, number: u64, domain: &str) -> String {
    let mut hash = Sha256::new();
    // Lengths, so that no two places write the same bytes.
    for text in [run, path] {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.update(number.to_be_bytes());
    let digest = hex::encode(hash.finalize());
    format!("<{}@{domain}>", &digest[..40])
}

fn is_message_id(id: &str) -> bool {
    let inner = id.strip_prefix('<').and_then(|id| id.strip_suffix('>'));
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"<>".contains(&byte);
    inner.is_some_and(|inner| {
        inner.contains('@') && inner.len() <= VALUE_BYTES_MAX && inner.bytes().all(is_plain)
    })
}

fn field(name: &str, value: &str) -> Result<HeaderValue, SendError> {
    let lower = name.to_ascii_lowercase();
    if RESERVED.contains(&lower.as_str())
        || lower.starts_with("content-")
        || lower.starts_with("resent-")
    {
        return Err(refused(format!("The header field {name} cannot be set")));
    }
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b':');
    let parsed = HeaderName::new_from_ascii(name.to_owned())
        .ok()
        .filter(|_| is_name);
    let parsed =
        parsed.ok_or_else(|| refused("A header field has an impossible name".to_owned()))?;
    Ok(HeaderValue::new(parsed, one_line(value)))
}

/// A value without line ends and other control characters, no longer than a line may be.
fn one_line(value: &str) -> String {
    let line = value.replace(char::is_control, " ");
    if line.len() <= VALUE_BYTES_MAX {
        return line;
    }
    format!("{}…", &line[..line.floor_char_boundary(VALUE_BYTES_MAX)])
}

fn refused(text: String) -> SendError {
    SendError::Refused(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail() -> Outgoing {
        Outgoing {
            to: vec!["Jane <jane@a.example>".to_owned()],
            subject: "Grüße".to_owned(),
            text: Some("hello".to_owned()),
            message_id: "<1@b.example>".to_owned(),
            sent_at_ms: 1_774_346_927_000,
            ..Outgoing::default()
        }
    }

    fn from() -> Mailbox {
        mailbox("Headwater <headwater@b.example>").unwrap()
    }

    fn written(mail: &Outgoing) -> String {
        let message = compose(&from(), mail).unwrap();
        String::from_utf8(message.formatted()).unwrap()
    }

    fn refusal(mail: &Outgoing) -> String {
        compose(&from(), mail).unwrap_err().to_string()
    }

    #[test]
    fn a_message_has_what_mail_needs() {
        let text = written(&mail());
        for line in [
            "From: Headwater <headwater@b.example>\r\n",
            "To: Jane <jane@a.example>\r\n",
            "Message-ID: <1@b.example>\r\n",
            "Date: Tue, 24 Mar 2026 10:08:47 +0000\r\n",
            "Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n",
            "Content-Type: text/plain; charset=utf-8\r\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(text.ends_with("\r\n\r\nhello\r\n"), "{text}");
    }

    #[test]
    fn html_goes_alone_or_beside_the_text() {
        let html = Some("<p>hello</p>".to_owned());
        let both = written(&Outgoing {
            html: html.clone(),
            ..mail()
        });
        assert!(
            both.contains("multipart/alternative") && both.contains("text/plain"),
            "{both}"
        );
        let alone = written(&Outgoing {
            html,
            text: None,
            ..mail()
        });
        assert!(
            alone.contains("Content-Type: text/html; charset=utf-8\r\n"),
            "{alone}"
        );
        assert!(
            written(&Outgoing {
                text: None,
                ..mail()
            })
            .ends_with("\r\n\r\n\r\n")
        );
    }

    #[test]
    fn no_text_becomes_a_header_field() {
        let mail = Outgoing {
            subject: "x\r\nBcc: everybody@a.example\r\n\r\nbody".to_owned(),
            headers: vec![(
                "X-Note".to_owned(),
                "y\nBcc: everybody@a.example".to_owned(),
            )],
            ..mail()
        };
        let text = written(&mail);
        assert!(!text.to_ascii_lowercase().contains("\nbcc:"), "{text}");
        let message = compose(&from(), &mail).unwrap();
        assert_eq!(message.envelope().to().len(), 1);
    }

    #[test]
    fn unusable_parts_are_named() {
        let address = |to: &str| Outgoing {
            to: vec![to.to_owned()],
            ..mail()
        };
        for to in [
            "nobody",
            "a@b.example\r\nBcc: c@d.example",
            "\"a\r\nb\" <a@b.example>",
            "a@b c",
        ] {
            assert!(refusal(&address(to)).contains("is not an address"), "{to}");
        }
        let none = Outgoing {
            to: Vec::new(),
            ..mail()
        };
        assert!(refusal(&none).contains("1 to 100 recipients"));
        for id in ["", "1@b.example", "<1>", "<1@b.example>\r\nX: y", "<a b@c>"] {
            let mail = Outgoing {
                message_id: id.to_owned(),
                ..mail()
            };
            assert!(refusal(&mail).contains("is not a Message-ID"), "{id}");
        }
    }

    #[test]
    fn header_fields_are_the_senders_but_for_those_that_steer_the_message() {
        let with = |name: &str| Outgoing {
            headers: vec![(name.to_owned(), "y".to_owned())],
            ..mail()
        };
        assert!(written(&with("X-Run")).contains("X-Run: y\r\n"));
        for name in ["Bcc", "from", "Content-Type", "Resent-To", "DKIM-Signature"] {
            assert!(refusal(&with(name)).contains("cannot be set"), "{name}");
        }
        for name in ["", "a b", "a:b", "a\r\nb", "ä"] {
            assert!(refusal(&with(name)).contains("impossible name"), "{name}");
        }
    }

    #[test]
    fn an_id_is_the_same_for_the_same_send_and_no_other() {
        let id = message_id("ex_1", "a.b", 0, "b.example");
        assert_eq!(id, message_id("ex_1", "a.b", 0, "b.example"));
        assert!(is_message_id(&id), "{id}");
        for other in [
            message_id("ex_2", "a.b", 0, "b.example"),
            message_id("ex_1", "a", 0, "b.example"),
            message_id("ex_1a", ".b", 0, "b.example"),
            message_id("ex_1", "a.b", 1, "b.example"),
        ] {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn a_domain_is_written_in_ascii() {
        for (from, wanted) in [
            ("a@b.example", "b.example"),
            ("a@b\u{fc}cher.example", "xn--bcher-kva.example"),
        ] {
            assert_eq!(domain(&mailbox(from).unwrap()), wanted, "{from}");
        }
    }

    #[test]
    fn a_value_fits_a_line() {
        let subject = "é".repeat(1_000);
        let text = written(&Outgoing { subject, ..mail() });
        assert!(text.lines().all(|line| line.len() < 998), "{text}");
    }
}
