//! The languages of components, and their imports.

mod data_stores;
mod failures;
mod key_values;
mod languages;
mod packages;
mod props;
