//! flecto-policy and its packs
