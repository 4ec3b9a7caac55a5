//! What handlers take from a request, checked and typed: raw strings stop here.

mod page;
mod pages;
mod params;
mod path_id;

pub(crate) use self::{
    page::{Paging, cursor},
    pages::Pages,
    params::Params,
    path_id::{PathId, PathText},
};
