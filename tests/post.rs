//! flecto-post, against a scripted forge
