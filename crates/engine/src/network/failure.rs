//! The reason why a request of a client got no answer, as far as programs tell reasons apart.

use std::{error::Error, io, iter::successors};

use headwater_model::webhook::AttemptFailure;

use super::{RefusedAddress, client::UnresolvedName};

type Cause<'a> = &'a (dyn Error + 'static);

/// The reason why a request of a client of this module got no answer.
pub fn attempt_failure(error: &reqwest::Error) -> AttemptFailure {
    if error.is_timeout() {
        return AttemptFailure::Timeout;
    }
    if error.is_builder() {
        return AttemptFailure::Blocked;
    }
    let mut causes = successors(Some(error as Cause<'_>), |cause: &Cause<'_>| {
        (*cause).source()
    });
    causes.find_map(of_cause).unwrap_or(AttemptFailure::Broken)
}

fn of_cause(cause: Cause<'_>) -> Option<AttemptFailure> {
    if cause.is::<RefusedAddress>() {
        return Some(AttemptFailure::Blocked);
    }
    if cause.is::<UnresolvedName>() {
        return Some(AttemptFailure::Dns);
    }
    if cause.is::<rustls::Error>() {
        return Some(AttemptFailure::Tls);
    }
    let io = cause.downcast_ref::<io::Error>()?;
    if io.kind() == io::ErrorKind::ConnectionRefused {
        return Some(AttemptFailure::Refused);
    }
    // An error that an I/O error was made of is not among its causes.
    let inner: Cause<'_> = io.get_ref()?;
    of_cause(inner)
}
