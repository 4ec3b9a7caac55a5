//! The commands of SMTP, read from a line. Knows their grammar; when one is in order is the session's business.

use super::{path, reply::Reply};

/// The longest name that a client may give itself, as long as the longest domain.
const NAME_MAX: usize = 255;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// `EHLO`, or the older `HELO`.
    Hello {
        name: String,
        is_extended: bool,
    },
    /// `MAIL FROM`.
    Mail(NewMail),
    /// `RCPT TO`, with the address.
    Recipient(String),
    Data,
    Reset,
    Noop,
    Verify,
    Help,
    StartTls,
    Quit,
}

/// The beginning of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NewMail {
    /// The address of the sender; empty if reports about the message are not wanted.
    pub(super) from: String,
    /// The size that the client announces.
    pub(super) size: Option<u64>,
    /// Whether addresses may have characters beyond ASCII.
    pub(super) is_utf8: bool,
}

/// Reads a line, without its end, or says why it is not a command.
pub(super) fn read(line: &[u8]) -> Result<Command, Reply> {
    let Ok(line) = std::str::from_utf8(line) else {
        return Err(Reply::new(500, "5.5.2 The command is not UTF-8 text"));
    };
    let line = line.trim_end_matches(' ');
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let alone = |command| match rest {
        "" => Ok(command),
        _ => Err(Reply::new(501, format!("5.5.4 {verb} takes no argument"))),
    };
    match verb.to_ascii_uppercase().as_str() {
        "EHLO" => hello(rest, true),
        "HELO" => hello(rest, false),
        "MAIL" => mail(rest),
        "RCPT" => recipient(rest),
        "DATA" => alone(Command::Data),
        "RSET" => alone(Command::Reset),
        "QUIT" => alone(Command::Quit),
        "STARTTLS" => alone(Command::StartTls),
        "NOOP" => Ok(Command::Noop),
        "VRFY" => Ok(Command::Verify),
        "HELP" => Ok(Command::Help),
        "AUTH" => Err(Reply::new(502, "5.5.1 No login is needed to deliver here")),
        "BDAT" | "EXPN" | "ETRN" | "TURN" => {
            Err(Reply::new(502, format!("5.5.1 {verb} is not offered")))
        }
        _ => Err(Reply::new(500, "5.5.1 Unknown command")),
    }
}

fn hello(rest: &str, is_extended: bool) -> Result<Command, Reply> {
    let name = rest.split(' ').find(|word| !word.is_empty());
    let is_name = |name: &&str| name.len() <= NAME_MAX && !name.contains(char::is_control);
    let Some(name) = name.filter(is_name) else {
        return Err(Reply::new(
            501,
            "5.5.4 Say your name: EHLO host.example.com",
        ));
    };
    Ok(Command::Hello {
        name: name.to_owned(),
        is_extended,
    })
}

fn mail(rest: &str) -> Result<Command, Reply> {
    let (from, parameters) = after(rest, "FROM:")
        .ok_or_else(|| Reply::new(501, "5.1.7 Name the sender: MAIL FROM:<name@example.com>"))?;
    let mut mail = NewMail {
        from: from.to_owned(),
        ..NewMail::default()
    };
    for parameter in parameters.split_ascii_whitespace() {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match (key.to_ascii_uppercase().as_str(), value) {
            ("SIZE", size) => mail.size = Some(size.parse().map_err(|_| malformed(parameter))?),
            ("SMTPUTF8", "") => mail.is_utf8 = true,
            ("BODY", body) if is_body(body) => {}
            ("BODY" | "SMTPUTF8", _) => return Err(malformed(parameter)),
            _ => return Err(unknown(parameter)),
        }
    }
    Ok(Command::Mail(mail))
}

fn is_body(body: &str) -> bool {
    body.eq_ignore_ascii_case("7BIT") || body.eq_ignore_ascii_case("8BITMIME")
}

fn recipient(rest: &str) -> Result<Command, Reply> {
    let (to, parameters) = after(rest, "TO:")
        .filter(|(to, _)| !to.is_empty())
        .ok_or_else(|| Reply::new(501, "5.1.3 Name a recipient: RCPT TO:<name@example.com>"))?;
    match parameters.split_ascii_whitespace().next() {
        Some(parameter) => Err(unknown(parameter)),
        None => Ok(Command::Recipient(to.to_owned())),
    }
}

/// The address behind a keyword, and the parameters behind it.
fn after<'a>(text: &'a str, keyword: &str) -> Option<(&'a str, &'a str)> {
    let head = text.get(..keyword.len())?;
    let (address, parameters) = path::read(text.get(keyword.len()..)?)?;
    let is_apart = parameters.is_empty() || parameters.starts_with(' ');
    (head.eq_ignore_ascii_case(keyword) && is_apart).then_some((address, parameters))
}

fn malformed(parameter: &str) -> Reply {
    Reply::new(501, format!("5.5.4 Cannot read the parameter {parameter}"))
}

fn unknown(parameter: &str) -> Reply {
    Reply::new(
        555,
        format!("5.5.4 The parameter {parameter} is not offered"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> String {
        let bytes = read(line.as_bytes()).unwrap_err().bytes();
        String::from_utf8(bytes).unwrap()[..3].to_owned()
    }

    #[test]
    fn commands_are_read_whatever_their_case() {
        for (line, command) in [
            ("DATA", Command::Data),
            ("data  ", Command::Data),
            ("rset", Command::Reset),
            ("NOOP with words", Command::Noop),
            ("VRFY somebody", Command::Verify),
            ("quit", Command::Quit),
            ("StartTLS", Command::StartTls),
            (
                "rcpt to:<a@b.example>",
                Command::Recipient("a@b.example".to_owned()),
            ),
            (
                "RCPT TO: <Postmaster>",
                Command::Recipient("Postmaster".to_owned()),
            ),
        ] {
            assert_eq!(read(line.as_bytes()), Ok(command), "{line}");
        }
    }

    #[test]
    fn a_greeting_has_a_name() {
        let hello = |is_extended| Command::Hello {
            name: "client.example".to_owned(),
            is_extended,
        };
        assert_eq!(read(b"EHLO client.example"), Ok(hello(true)));
        assert_eq!(read(b"HELO  client.example rest"), Ok(hello(false)));
        assert_eq!(code("EHLO"), "501");
        assert_eq!(code(&format!("EHLO {}", "a".repeat(256))), "501");
    }

    #[test]
    fn mail_has_a_sender_and_parameters() {
        let all = read(b"mail from:<a@b.example> size=77 BODY=8bitmime SMTPUTF8");
        let mail = NewMail {
            from: "a@b.example".to_owned(),
            size: Some(77),
            is_utf8: true,
        };
        assert_eq!(all, Ok(Command::Mail(mail)));
        assert_eq!(read(b"MAIL FROM:<>"), Ok(Command::Mail(NewMail::default())));
    }

    #[test]
    fn mistakes_are_told_apart() {
        for (line, wanted) in [
            ("", "500"),
            ("FROB", "500"),
            ("DATA now", "501"),
            ("MAIL", "501"),
            ("MAIL TO:<a@b.example>", "501"),
            ("MAIL FROM:a@b.example", "501"),
            ("MAIL FROM:<a@b.example>SIZE=1", "501"),
            ("MAIL FROM:<a@b.example> SIZE=-1", "501"),
            (
                "MAIL FROM:<a@b.example> SIZE=99999999999999999999999",
                "501",
            ),
            ("MAIL FROM:<a@b.example> BODY=BINARYMIME", "501"),
            ("MAIL FROM:<a@b.example> SMTPUTF8=1", "501"),
            ("MAIL FROM:<a@b.example> RET=HDRS", "555"),
            ("RCPT TO:<>", "501"),
            ("RCPT TO:<a@b.example> NOTIFY=NEVER", "555"),
            ("AUTH PLAIN AGEAYg==", "502"),
            ("BDAT 10 LAST", "502"),
            ("GET / HTTP/1.1", "500"),
        ] {
            assert_eq!(code(line), wanted, "{line}");
        }
        assert!(read(b"NOOP \xff").is_err());
    }
}
