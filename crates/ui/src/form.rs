//! Forms of props as data: the fields that a browser sends, and the values that they mean.
//!
//! Responsible for reading every type of prop from text and writing it back. Pure: renders nothing, and whether a value
//! fits its prop is decided by `headwater_model::prop`.

mod basis;
mod choice;
mod entered;
mod item;
mod list;
mod schedule;
mod value;

pub(crate) use self::{
    basis::basis,
    choice::{Choice, Loaded, has_computed_options, is_chosen, known_choices},
    entered::{Entered, Part, field},
    list::Items,
    schedule::{UNITS, ticks},
    value::{Given, Wrong, WrongKind, fill, missing, read_all},
};
