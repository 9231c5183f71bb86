//! How does it read?
