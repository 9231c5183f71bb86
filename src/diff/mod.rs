//! What changed?
