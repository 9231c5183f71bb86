//! imports point downward
