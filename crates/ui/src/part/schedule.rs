//! Schedules in words.

use headwater_model::schedule::Schedule;

/// The days of the week, as expressions number them.
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// When a timer fires.
pub(crate) fn in_words(schedule: &Schedule) -> String {
    match schedule {
        Schedule::Interval { seconds } => match seconds {
            1 => "every second".to_owned(),
            60 => "every minute".to_owned(),
            3_600 => "every hour".to_owned(),
            86_400 => "every day".to_owned(),
            seconds if seconds.is_multiple_of(86_400) => format!("every {} days", seconds / 86_400),
            seconds if seconds.is_multiple_of(3_600) => format!("every {} hours", seconds / 3_600),
            seconds if seconds.is_multiple_of(60) => format!("every {} minutes", seconds / 60),
            seconds => format!("every {seconds} seconds"),
        },
        Schedule::Cron {
            expression,
            timezone,
        } => match of_cron(expression) {
            Some(Words::Of(day, time)) => format!("{day} at {time} {timezone}"),
            Some(Words::Often(words)) => words,
            None => format!("cron {expression} ({timezone})"),
        },
    }
}

/// The words for an expression.
enum Words {
    /// On some days, at a time of their zone.
    Of(String, String),
    /// So often that the zone does not matter.
    Often(String),
}

/// The words for an expression of a common shape.
fn of_cron(expression: &str) -> Option<Words> {
    let fields: Vec<_> = expression.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = *fields.as_slice() else {
        return None;
    };
    if month != "*" {
        return None;
    }
    let is_daily = day == "*" && weekday == "*";
    if is_daily && hour == "*" {
        return every("minute", minute, 60)
            .or_else(|| Some(format!("every hour at minute {}", number(minute, 0, 59)?)))
            .map(Words::Often);
    }
    let minute = number(minute, 0, 59)?;
    if is_daily
        && minute == 0
        && let Some(words) = every("hour", hour, 24)
    {
        return Some(Words::Often(words));
    }
    let time = format!("{:02}:{minute:02}", number(hour, 0, 23)?);
    let days = match (day, weekday) {
        ("*", "*") => "every day".to_owned(),
        ("*", days) => of_week(days)?,
        (day, "*") => format!("on day {} of every month", number(day, 1, 31)?),
        _ => return None,
    };
    Some(Words::Of(days, time))
}

/// A step through all values of a field, if it divides them into equal parts.
fn every(unit: &str, field: &str, values: u32) -> Option<String> {
    match field.strip_prefix("*/") {
        Some(step) => {
            let step = number(step, 1, values - 1)?;
            match step {
                1 => Some(format!("every {unit}")),
                step if values.is_multiple_of(step) => Some(format!("every {step} {unit}s")),
                _ => None,
            }
        }
        None => (field == "*").then(|| format!("every {unit}")),
    }
}

/// Days of the week.
fn of_week(days: &str) -> Option<String> {
    match days.to_ascii_uppercase().as_str() {
        "1-5" | "MON-FRI" => Some("every weekday".to_owned()),
        "0,6" | "6,0" | "6,7" | "6-7" | "SAT,SUN" | "SUN,SAT" => {
            Some("every Saturday and Sunday".to_owned())
        }
        day => Some(format!("every {}", DAYS[day_of_week(day)?])),
    }
}

fn day_of_week(day: &str) -> Option<usize> {
    // 7 is Sunday, too.
    let numbered = number(day, 0, 7).map(|day| day as usize % 7);
    numbered.or_else(|| {
        DAYS.iter()
            .position(|name| name[..3].eq_ignore_ascii_case(day))
    })
}

/// A number within bounds, and nothing else.
fn number(text: &str, least: u32, most: u32) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_plain)?;
    (least..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn common_expressions_are_words_and_others_themselves() {
        for (expression, expected) in [
            ("0 9 * * 1-5", "every weekday at 09:00 Europe/Vienna"),
            ("30 14 * * *", "every day at 14:30 Europe/Vienna"),
            ("0 8 * * mon", "every Monday at 08:00 Europe/Vienna"),
            ("0 8 * * 7", "every Sunday at 08:00 Europe/Vienna"),
            (
                "0 8 * * 0,6",
                "every Saturday and Sunday at 08:00 Europe/Vienna",
            ),
            (
                "5 0 1 * *",
                "on day 1 of every month at 00:05 Europe/Vienna",
            ),
            ("* * * * *", "every minute"),
            ("*/15 * * * *", "every 15 minutes"),
            ("20 * * * *", "every hour at minute 20"),
            ("0 */6 * * *", "every 6 hours"),
            ("0 * * * *", "every hour at minute 0"),
            ("*/7 * * * *", "cron */7 * * * * (Europe/Vienna)"),
            ("0 9 1 * 1", "cron 0 9 1 * 1 (Europe/Vienna)"),
            ("0 9 * 6 *", "cron 0 9 * 6 * (Europe/Vienna)"),
            ("0 9,17 * * *", "cron 0 9,17 * * * (Europe/Vienna)"),
            ("*/10 * * * * *", "cron */10 * * * * * (Europe/Vienna)"),
        ] {
            let value = json!({"cron": expression, "timezone": "Europe/Vienna"});
            let schedule = Schedule::parse(&value).unwrap();
            assert_eq!(in_words(&schedule), expected);
        }
    }
}
