//! The comparison of a trial with one whose node was killed.

use serde_json::Value;

use super::expectation::Difference;
use super::node::PUBLIC_URL;
use super::trial::Trial;

/// The things that the kill has changed. Ids and tokens are drawn anew in each trial, and count as the same.
pub(super) fn differences(whole: &Trial, killed: &Trial) -> Vec<Difference> {
    let pairs = traces(whole).into_iter().zip(traces(killed));
    let changed = pairs.filter(|((_, before), (_, after))| before != after);
    changed
        .map(|((what, before), (_, after))| Difference::new(what, before, after))
        .collect()
}

fn traces(trial: &Trial) -> [(&'static str, Value); 5] {
    let found = &trial.found;
    [
        ("status", Value::from(found.status)),
        ("path", Value::from(found.path.clone())),
        ("calls", found.calls_by_place()),
        ("returns", found.returns.clone().into_iter().collect()),
        ("sends", Value::from(found.sends.clone())),
    ]
    .map(|(what, value)| (what, without_ids(value, &trial.ids)))
}

fn without_ids(value: Value, ids: &[(String, &'static str)]) -> Value {
    match value {
        Value::String(text) => Value::String(plain(text, ids)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| without_ids(item, ids))
            .collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (plain(name, ids), without_ids(value, ids)))
                .collect()
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

fn plain(text: String, ids: &[(String, &'static str)]) -> String {
    let named = ids.iter().filter(|(id, _)| !id.is_empty());
    without_tokens(&named.fold(text, |text, (id, kind)| text.replace(id, kind)))
}

/// The text with its URLs of this node cut off where their tokens begin.
fn without_tokens(text: &str) -> String {
    let mut parts = text.split(PUBLIC_URL);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_token =
            |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        // `/w/TOKEN/resume`
        let (kind, rest) = part.split_at_checked(3).unwrap_or((part, ""));
        plain.push_str(PUBLIC_URL);
        plain.push_str(kind);
        plain.push_str(rest.trim_start_matches(is_token));
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_and_tokens_count_as_the_same() {
        let ids = [("inv_1".to_owned(), "RUN")];
        let value = json!({ "inv_1": ["inv_1/ask", "Yes: https://node.example/w/a.b-c/resume, no: https://node.example/w/d/cancel"], "n": 1 });
        let plain = json!({ "RUN": ["RUN/ask", "Yes: https://node.example/w//resume, no: https://node.example/w//cancel"], "n": 1 });
        assert_eq!(without_ids(value, &ids), plain);
        assert_eq!(
            without_ids(json!("https://node.example"), &ids),
            json!("https://node.example")
        );
    }
}
