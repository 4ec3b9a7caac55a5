//! Pages in a real browser.

mod editor;
mod hostile;
mod journey;
mod keys;
mod live;
mod looks;
mod pictures;
mod masking;
mod selecting;
