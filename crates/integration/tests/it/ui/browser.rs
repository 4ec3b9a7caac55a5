//! Pages in a real browser.

mod budgets;
mod busy;
mod consent;
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
