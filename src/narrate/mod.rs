//! What does a model say to it?
