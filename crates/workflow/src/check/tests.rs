//! Findings of whole files.
