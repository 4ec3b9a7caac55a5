//! Definitions of whole files.
