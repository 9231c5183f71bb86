#![no_main]
//! As every format.

use flecto::document::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = flecto_fuzz::read(Format::Hcl, bytes);
});
