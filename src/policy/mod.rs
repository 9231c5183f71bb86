//! Is it risky?
