//! Pages in a real browser.

mod busy;
mod editor;
mod fields;
mod forms;
mod hostile;
mod journey;
mod keys;
mod live;
mod looks;
mod masking;
mod pictures;
mod progress;
mod selecting;
