//! The arguments of sends as people see them.

use headwater_store::SendWay;
use serde_json::{Value, value::RawValue};

use super::{email, http, s3};

/// The arguments of a send, cut and without credentials; null if they cannot be read.
pub(crate) fn shown_arguments(way: SendWay, value: &RawValue) -> Value {
    match way {
        SendWay::Http => http::shown(value),
        SendWay::Email => email::shown(value),
        SendWay::S3 => s3::shown(value),
    }
}
