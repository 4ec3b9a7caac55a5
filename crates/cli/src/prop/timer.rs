//! Timers as typed: `15m`, `1h30m`, a number of seconds or a cron expression. Whether the cron
//! expression is a valid one is the node's decision.

use serde_json::{Value, json};

/// The configured value of a timer; none if the text is neither an interval nor a cron expression.
pub(super) fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Some(seconds) = interval_seconds(text).filter(|seconds| *seconds > 0) {
        return Some(json!({"intervalSeconds": seconds}));
    }
    is_cron(text).then(|| json!({"cron": text}))
}

fn interval_seconds(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits_end = rest.find(|c: char| !c.is_ascii_digit())?;
        let count: u64 = rest[..digits_end].parse().ok()?;
        let mut unit = rest[digits_end..].chars();
        let unit_seconds = match unit.next()? {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            _ => return None,
        };
        total = total.checked_add(count.checked_mul(unit_seconds)?)?;
        rest = unit.as_str();
    }
    (!text.is_empty()).then_some(total)
}

/// Five fields, six with seconds or seven with years; or a nickname such as `@daily`.
fn is_cron(text: &str) -> bool {
    let nickname = text
        .strip_prefix('@')
        .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase()));
    nickname || (5..=7).contains(&text.split_whitespace().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_seconds_or_have_units() {
        let table = [
            ("60", 60),
            ("30s", 30),
            ("15m", 900),
            ("1h", 3600),
            ("2d", 172_800),
            ("1h30m", 5400),
        ];
        for (text, seconds) in table {
            assert_eq!(
                parse(text),
                Some(json!({"intervalSeconds": seconds})),
                "{text}"
            );
        }
    }

    #[test]
    fn cron_expressions_are_passed_on() {
        for text in ["*/5 * * * *", "0 0 9 * * MON-FRI", "@daily"] {
            assert_eq!(parse(text), Some(json!({"cron": text})), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_timer() {
        for text in [
            "",
            "0",
            "0s",
            "-5",
            "m",
            "15 m",
            "1.5h",
            "15x",
            "5é",
            "99999999999999999999d",
            "@",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
