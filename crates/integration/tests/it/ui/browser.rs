//! Pages in a real browser.

mod editor;
mod live;
mod looks;
