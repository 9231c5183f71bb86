//! Applying the changes of a diff to its old side gives the new side.
