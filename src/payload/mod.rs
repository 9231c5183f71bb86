//! What is the least that we may send?
