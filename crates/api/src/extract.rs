//! What handlers take from a request, checked and typed: raw strings stop here.

mod lenient;
mod page;
mod params;
mod path_id;

pub(crate) use self::{
    lenient::{boolean, integer, nullable, object, time_ms},
    page::{Paging, cursor},
    params::Params,
    path_id::{PathId, PathText},
};
