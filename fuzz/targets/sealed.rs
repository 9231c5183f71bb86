#![no_main]
//! Encrypted values: ciphertext is in nothing that was read and in no message, in whatever text it stands.

use flecto::document::{Format, Options, parse};
use flecto_fuzz::Feed;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut feed = Feed::new(bytes);
    let format = feed.one_of(&Format::words().filter_map(Format::from_word).collect::<Vec<_>>());
    let cipher = feed.word(b"BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz23456789", 24);
    let sealed = match feed.below(6) {
        0 => format!("ENC[AES256_GCM,data:{cipher},iv:aXY=,tag:dGFn,type:str]"),
        1 => format!("ENC[PKCS7,{cipher}]"),
        2 => format!("-----BEGIN AGE ENCRYPTED FILE-----{}{cipher}", feed.one_of(&["\n", "\\n", "\n    "])),
        3 => format!("-----BEGIN PGP MESSAGE-----\n\n{cipher}\n-----END PGP MESSAGE-----"),
        4 => format!("$ANSIBLE_VAULT;1.1;AES256\n{}", feed.word(b"0123456789", 24)),
        _ => format!("ENC(AES256_GCM)ENC[AES256_GCM,data:{cipher},type:int]"),
    };
    let cipher =
        if sealed.starts_with('$') { sealed.rsplit('\n').next().unwrap_or_default().to_string() } else { cipher };
    // The fuzzer's text, with the ciphertext where it says so.
    let mut text = feed.text();
    let line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    if matches!(format, Format::Ini | Format::Systemd | Format::Properties) && !line.contains(['=', ':']) {
        // There a key ends at a colon, and nothing seals keys.
        return;
    }
    text.push_str(&sealed);
    text.push_str(&feed.text());
    if text.contains('#') || text.contains("//") || text.contains("/*") {
        text = text.replace(['#', '/'], " ");
    }
    for sealed_before in [false, true] {
        let options = Options { sealed: sealed_before, allow_duplicate_keys: true, ..Options::default() };
        match parse(format, text.as_bytes(), &options) {
            Ok(parsed) => {
                let said = format!("{parsed:?}");
                assert!(!said.contains(&cipher), "{}: {text:?} is {said}", format.as_str());
            }
            Err(error) => assert!(!error.message.contains(&cipher), "{error}"),
        }
    }
});
