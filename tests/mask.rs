//! flecto-mask
