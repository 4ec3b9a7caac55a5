//! Pages in a real browser.

mod editor;
mod keys;
mod live;
mod looks;
