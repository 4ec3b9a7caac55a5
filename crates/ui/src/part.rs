//! The pieces that pages are put together from. Data in, markup out: nothing here asks the platform.

pub(crate) mod code;
pub(crate) mod confirm;
pub(crate) mod diff;
pub(crate) mod differences;
pub(crate) mod empty;
pub(crate) mod error_event;
pub(crate) mod event_list;
pub(crate) mod event_row;
pub(crate) mod field;
pub(crate) mod graph;
pub(crate) mod health;
pub(crate) mod icon;
pub(crate) mod markdown;
pub(crate) mod marked;
pub(crate) mod outcome;
pub(crate) mod pager;
pub(crate) mod run_status;
pub(crate) mod schedule;
pub(crate) mod state;
pub(crate) mod strip;
pub(crate) mod tabs;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod tree;
pub(crate) mod verification;
pub(crate) mod waterfall;
