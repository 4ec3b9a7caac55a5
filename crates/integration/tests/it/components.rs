//! What components may be written in and import.

mod languages;
mod packages;
mod props;
