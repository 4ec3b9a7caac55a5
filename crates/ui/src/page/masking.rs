//! `POST /masking`: hides payloads, headers and logs in this browser until its session ends, or shows them again.

use axum::http::header;
use serde::Deserialize;

use crate::{
    address::own_path,
    cookie::Cookie,
    fields::Fields,
    reply::{FormReply, see_other},
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Masking {
    hides: bool,
    #[serde(default)]
    next: String,
}

/// Hides or shows.
pub(crate) async fn submit(visitor: Visitor, Fields(given): Fields<Masking>) -> FormReply {
    let mut response = see_other(own_path(&given.next));
    let cookie = match given.hides {
        true => visitor.cookies.set(Cookie::Masking, "on"),
        false => visitor.cookies.remove(Cookie::Masking),
    };
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}
