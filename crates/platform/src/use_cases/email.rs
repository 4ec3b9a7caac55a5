//! The form of an e-mail address.

use crate::error::PlatformError;

/// The maximum length of an address (RFC 5321).
const EMAIL_MAX: usize = 254;

/// Addresses are only shown, so that whatever has the form of one will do.
pub(crate) fn check_email(email: &str) -> Result<(), PlatformError> {
    let is_address = email
        .split_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && !host.is_empty() && !host.contains('@'));
    let has_blanks = email.chars().any(|c| c.is_whitespace() || c.is_control());
    match is_address && !has_blanks && email.len() <= EMAIL_MAX {
        true => Ok(()),
        false => Err(PlatformError::invalid(
            "email",
            "an email is an address such as ada@example.com",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_user_and_a_host() {
        for email in ["a@b", "admin@localhost", "ada.l+x@mail.example.com"] {
            assert!(check_email(email).is_ok(), "{email}");
        }
        for email in ["", "a", "@b", "a@", "a b@c", "a@b@c", "a@b\n"] {
            assert!(check_email(email).is_err(), "{email}");
        }
    }
}
