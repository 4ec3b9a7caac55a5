//! What components may be written in and import.

mod data_stores;
mod failures;
mod key_values;
mod languages;
mod packages;
mod props;
