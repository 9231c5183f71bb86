//! flecto-diff: changes, places, targets, git
