//! Lists of addresses as JSON and as text.

use serde_json::{Value, json};

use super::syntax::{Entry, Mailbox};

/// A list as steps read it: the entries, and all of them as one text.
pub(super) fn json(entries: &[Entry]) -> Value {
    let values: Vec<_> = entries.iter().map(value).collect();
    json!({
        "value": values,
        "html": joined(entries, html),
        "text": joined(entries, text),
    })
}

/// The entries of a list as texts, a group by its members.
pub(super) fn texts(entries: &[Entry]) -> Vec<String> {
    mailboxes(entries).map(plain).collect()
}

/// The bare addresses of a list.
pub(super) fn bare(entries: &[Entry]) -> Vec<String> {
    let addresses = mailboxes(entries).map(|mailbox| mailbox.address.clone());
    addresses.filter(|address| !address.is_empty()).collect()
}

fn mailboxes(entries: &[Entry]) -> impl Iterator<Item = &Mailbox> {
    entries.iter().flat_map(|entry| match entry {
        Entry::Mailbox(mailbox) => std::slice::from_ref(mailbox),
        Entry::Group { members, .. } => members,
    })
}

fn value(entry: &Entry) -> Value {
    match entry {
        Entry::Mailbox(mailbox) => member(mailbox),
        Entry::Group { name, members } => {
            let members: Vec<_> = members.iter().map(member).collect();
            json!({ "name": name, "group": members })
        }
    }
}

fn member(mailbox: &Mailbox) -> Value {
    json!({ "address": mailbox.address, "name": mailbox.name })
}

fn joined(entries: &[Entry], one: fn(&Mailbox) -> String) -> String {
    let texts = entries.iter().map(|entry| match entry {
        Entry::Mailbox(mailbox) => one(mailbox),
        Entry::Group { name, members } => {
            let members: Vec<_> = members.iter().map(one).collect();
            let name = one(&Mailbox {
                name: name.clone(),
                address: String::new(),
            });
            format!("{name}: {};", members.join(", "))
        }
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn text(mailbox: &Mailbox) -> String {
    let Mailbox { name, address } = mailbox;
    match (name.as_str(), address.as_str()) {
        ("", address) => address.to_owned(),
        (name, "") => name.to_owned(),
        (name, address) => format!("\"{name}\" <{address}>"),
    }
}

/// The text without quotes around the name.
fn plain(mailbox: &Mailbox) -> String {
    let Mailbox { name, address } = mailbox;
    match (name.as_str(), address.as_str()) {
        (name, address) if !name.is_empty() && !address.is_empty() => format!("{name} <{address}>"),
        _ => text(mailbox),
    }
}

fn html(mailbox: &Mailbox) -> String {
    let name = escaped(&mailbox.name);
    let address = escaped(&mailbox.address);
    let link = format!("<a href=\"mailto:{address}\">{address}</a>");
    match (name.as_str(), address.as_str()) {
        (name, "") => name.to_owned(),
        ("", _) => link,
        (name, _) => format!("{name} &lt;{link}&gt;"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::{super::syntax::addresses, *};

    #[test]
    fn a_list_is_values_html_and_text() {
        let list = addresses("Jane <jane@a.example>, bob@b.example");
        assert_eq!(
            json(&list),
            json!({
                "value": [
                    {"address": "jane@a.example", "name": "Jane"},
                    {"address": "bob@b.example", "name": ""},
                ],
                "html": "Jane &lt;<a href=\"mailto:jane@a.example\">jane@a.example</a>&gt;, \
                         <a href=\"mailto:bob@b.example\">bob@b.example</a>",
                "text": "\"Jane\" <jane@a.example>, bob@b.example",
            })
        );
        assert_eq!(texts(&list), ["Jane <jane@a.example>", "bob@b.example"]);
        assert_eq!(bare(&list), ["jane@a.example", "bob@b.example"]);
    }

    #[test]
    fn a_group_keeps_its_members() {
        let list = addresses("Friends: a@b.example, C <c@d.example>;");
        let json = json(&list);
        assert_eq!(json["text"], "Friends: a@b.example, \"C\" <c@d.example>;");
        let members = json!([{"address": "a@b.example", "name": ""}, {"address": "c@d.example", "name": "C"}]);
        assert_eq!(
            json["value"],
            json!([{"name": "Friends", "group": members}])
        );
        assert_eq!(bare(&list), ["a@b.example", "c@d.example"]);
    }

    #[test]
    fn a_name_cannot_put_markup_into_the_html() {
        let list = addresses("\"<script>&\" <a@b.example>");
        let html = json(&list)["html"].to_string();
        assert!(html.contains("&lt;script&gt;&amp;"), "{html}");
        assert!(!html.contains("<script>"), "{html}");
    }
}
