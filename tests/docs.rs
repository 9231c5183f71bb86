//! what the README, the manuals and docs/ say is what happens
