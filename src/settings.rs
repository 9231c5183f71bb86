//! What did the repository settle? `.flectorc`, read from the baseline.
