//! what every filter does with broken, huge and cut streams
