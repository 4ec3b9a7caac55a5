//! Schedules in words.

use headwater_model::schedule::Schedule;

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
        } => format!("cron {expression} ({timezone})"),
    }
}
