//! Does this look like a secret? The one classifier: for the mask, for the rules that say so, and for the payload.
