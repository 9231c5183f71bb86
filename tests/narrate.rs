//! flecto-narrate, against a scripted provider
