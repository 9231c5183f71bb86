#![no_main]
//! YAML: as every format; and the document's kind must not depend on how it is written.

use flecto::document::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = flecto_fuzz::read(Format::Yaml, bytes);
});
