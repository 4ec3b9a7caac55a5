//! The name of a channel on the command line.

/// The name, unless it is empty, which a shell reads `"$errors"` as: to the node that is the default channel.
pub(super) fn named(text: &str) -> Result<String, &'static str> {
    match text {
        "" => Err(
            "the channel's name is empty; in a shell, write it in single quotes: --channel '$errors'",
        ),
        name => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_name_is_refused() {
        assert_eq!(named("$errors"), Ok("$errors".to_owned()));
        assert!(named("").unwrap_err().contains("single quotes"));
    }
}
