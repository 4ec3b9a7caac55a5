//! What components may be written in and import.

mod data_stores;
mod failures;
mod languages;
mod packages;
mod props;
