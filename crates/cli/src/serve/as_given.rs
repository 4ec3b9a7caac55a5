//! Values of options as people write them: on the command line, in variables, and in the file.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use clap::ValueEnum;

/// A value of an option.
pub(super) trait AsGiven {
    /// The text that gives it.
    fn as_given(&self) -> String;
}

macro_rules! displayed {
    ($($kind:ty),*) => {
        $(impl AsGiven for $kind {
            fn as_given(&self) -> String {
                self.to_string()
            }
        })*
    };
}

displayed!(
    bool,
    u32,
    u64,
    usize,
    NonZeroU32,
    NonZeroUsize,
    SocketAddr,
    String
);

/// The word of a choice.
pub(super) fn word_of(choice: &impl ValueEnum) -> String {
    let value = choice.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

impl AsGiven for PathBuf {
    fn as_given(&self) -> String {
        self.display().to_string()
    }
}

impl AsGiven for Duration {
    fn as_given(&self) -> String {
        let ms = self.as_millis();
        let units = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        let unit = units.iter().find(|(unit, _)| ms.is_multiple_of(*unit));
        match unit {
            Some((unit, name)) => format!("{}{name}", ms / unit),
            None => format!("{ms}ms"),
        }
    }
}

impl<T: AsGiven> AsGiven for Vec<T> {
    fn as_given(&self) -> String {
        let items: Vec<_> = self.iter().map(AsGiven::as_given).collect();
        items.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_as_they_are_written() {
        for (ms, text) in [
            (250, "250ms"),
            (1_500, "1500ms"),
            (30_000, "30s"),
            (300_000, "5m"),
            (7_200_000, "2h"),
        ] {
            assert_eq!(Duration::from_millis(ms).as_given(), text);
        }
        assert_eq!(vec!["1m".to_owned(), "5m".to_owned()].as_given(), "1m,5m");
        assert_eq!(PathBuf::from("/a \"b").as_given(), "/a \"b");
    }
}
