//! Does this path match?
