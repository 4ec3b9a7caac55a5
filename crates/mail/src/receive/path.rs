//! The paths of envelopes: `<local@domain>`, empty for no sender. Knows their grammar, not who is behind one.

/// The longest path, as RFC 5321 has it, without its brackets.
const PATH_MAX: usize = 254;

/// The address in the path that `text` begins with, and the text behind the path. Nothing if that is not a path.
/// An old-fashioned route before the address is dropped.
pub(super) fn read(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start_matches(' ').strip_prefix('<')?;
    let end = unquoted(inner, |character| character == '>')?;
    let address = without_route(&inner[..end])?;
    is_address(address).then(|| (address, &inner[end + 1..]))
}

fn without_route(path: &str) -> Option<&str> {
    if path.starts_with('@') {
        return path.split_once(':').map(|(_route, address)| address);
    }
    Some(path)
}

/// Whether it is an address, nothing at all, or `postmaster`, which needs no domain.
fn is_address(text: &str) -> bool {
    if text.is_empty() || text.eq_ignore_ascii_case("postmaster") {
        return true;
    }
    let Some(at) = unquoted(text, |character| character == '@') else {
        return false;
    };
    let (local, domain) = (&text[..at], &text[at + 1..]);
    text.len() <= PATH_MAX && is_local(local) && is_domain(domain)
}

fn is_local(local: &str) -> bool {
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let is_atom = |character: char| {
        !character.is_whitespace()
            && !character.is_control()
            && !"\"<>()[],;:\\@".contains(character)
    };
    is_quoted && !local.contains(char::is_control)
        || !local.is_empty() && local.chars().all(is_atom)
}

fn is_domain(domain: &str) -> bool {
    if let Some(literal) = domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        let is_literal = |byte: u8| byte.is_ascii_alphanumeric() || b".:-".contains(&byte);
        return !literal.is_empty() && literal.bytes().all(is_literal);
    }
    let is_label = |label: &str| {
        let is_allowed = |character: char| {
            character.is_ascii_alphanumeric()
                || character == '-'
                || character == '_'
                || !character.is_ascii()
        };
        !label.is_empty() && label.chars().all(is_allowed)
    };
    domain.split('.').all(is_label)
}

/// The index of the first character outside quotes that is `wanted`.
fn unquoted(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (index, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if !is_quoted && wanted(character) => return Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_out_of_its_brackets() {
        for (text, address, rest) in [
            ("<a@b.example>", "a@b.example", ""),
            (" <a@b.example> SIZE=3", "a@b.example", " SIZE=3"),
            ("<>", "", ""),
            ("<Postmaster>", "Postmaster", ""),
            ("<@relay.example,@b.example:a@c.example>", "a@c.example", ""),
            ("<\"a > b@c\"@d.example> X", "\"a > b@c\"@d.example", " X"),
            ("<a+tag@[192.0.2.1]>", "a+tag@[192.0.2.1]", ""),
            ("<a@[IPv6:2001:db8::1]>", "a@[IPv6:2001:db8::1]", ""),
            ("<jörg@bücher.example>", "jörg@bücher.example", ""),
        ] {
            assert_eq!(read(text), Some((address, rest)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not_a_path() {
        let long = format!("<{}@b.example>", "a".repeat(PATH_MAX));
        for text in [
            "a@b.example",
            "<a@b.example",
            "<a>",
            "<a@>",
            "<@b.example>",
            "<a b@c.example>",
            "<a@b@c.example>",
            "<a@b..example>",
            "<a@b example>",
            "<a\u{7}@b.example>",
            "<a@[]>",
            "<\"\"@b.example>",
            "<a@b.example\\>",
            "",
            &long,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
