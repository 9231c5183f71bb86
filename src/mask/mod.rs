//! What may be shown?
