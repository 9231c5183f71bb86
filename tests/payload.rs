//! flecto-payload
