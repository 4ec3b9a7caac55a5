//! The parts of a request that handlers take, checked and typed: raw strings stop here.

mod folder;
mod page;
mod pages;
mod params;
mod path_event;
mod path_id;

pub(crate) use self::{
    folder::Folder,
    page::{Paging, cursor},
    pages::{ForwardPages, Pages},
    params::{Params, Query},
    path_event::PathEvent,
    path_id::{PathId, PathText},
};
