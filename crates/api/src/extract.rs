//! What handlers take from a request, checked and typed: raw strings stop here.

mod lenient;
mod page;
mod params;
mod path_id;

pub(crate) use self::{
    lenient::{boolean, integer, object},
    page::{Paging, cursor},
    params::Params,
    path_id::PathId,
};
