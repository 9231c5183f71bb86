//! Does this word look random? The last evidence, and a small one: a lower-case or hexadecimal secret under a plain name cannot
//! be told from a commit id, and is not guessed at.

use base64::Engine as _;

/// No shorter word looks random under any name.
pub(super) const SHORTEST: usize = 20;

/// Whether a single word looks so random that it is hidden under any name: both cases and digits, changing often, long,
/// and like nothing that is public.
pub(super) fn is_opaque(word: &str) -> bool {
    let bytes = word.as_bytes();
    if !(SHORTEST..=512).contains(&bytes.len())
        || !bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-+/=.~".contains(b))
    {
        return false;
    }
    let (mut upper, mut lower, mut digit, mut other) = (0usize, 0usize, 0usize, 0usize);
    for b in bytes {
        match b {
            b'A'..=b'Z' => upper += 1,
            b'a'..=b'z' => lower += 1,
            b'0'..=b'9' => digit += 1,
            _ => other += 1,
        }
    }
    let digits = if bytes.len() < 24 { 2 } else { 1 };
    if upper < 2 || lower < 2 || digit < digits || other * 5 > bytes.len() {
        return false;
    }
    switches(bytes) * 100 >= bytes.len() * 30 && wordy(bytes) * 10 < bytes.len() * 7 && !is_public(word)
}

/// Whether a word looks random enough for a name that is only half a secret's (`key`, `hash`): hexadecimal and one-case
/// texts count too.
pub(super) fn is_random(text: &str) -> bool {
    let text = text.trim();
    let bytes = text.as_bytes();
    if !(16..=4096).contains(&bytes.len())
        || !bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-+/=.~:!@#$%^&*".contains(b))
        || is_public(text)
    {
        return false;
    }
    if is_opaque(text) {
        return true;
    }
    let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let hex = bytes.iter().all(u8::is_ascii_hexdigit);
    // Words joined by dashes or dots are names; a random text of one case changes between letters and digits.
    digits >= 3 && letters >= 3 && (hex || switches(bytes) * 100 >= bytes.len() * 30) && !text.contains("://")
}

/// Whether a word of at least ten characters looks random where a token is as likely as a name: the user of a URL.
pub(super) fn is_short_random(word: &str) -> bool {
    let bytes = word.as_bytes();
    let count = |test: fn(&u8) -> bool| bytes.iter().filter(|b| test(b)).count();
    (10..=512).contains(&bytes.len())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(b))
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_lowercase) >= 2
        && count(u8::is_ascii_digit) >= 2
        && switches(bytes) * 100 >= bytes.len() * 35
        && wordy(bytes) * 10 < bytes.len() * 7
}

/// Whether a word is written as people write passwords and nothing else: both cases, a digit and a sign, no blank, no bracket, no
/// slash.
pub(super) fn is_password_like(word: &str) -> bool {
    let bytes = word.as_bytes();
    (8..=64).contains(&bytes.len())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"!@#$%^&*?+=~_-.,".contains(b))
        && bytes.iter().any(u8::is_ascii_uppercase)
        && bytes.iter().any(u8::is_ascii_lowercase)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(|b| b"!@#$%^&*?~".contains(b))
        && !bytes.starts_with(b"#")
        && !word.contains("://")
        && !word.contains("=%")
}

/// Whether a word has letters and a digit or a sign: no word of a sentence.
pub(super) fn is_mixed(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 6
        && bytes.iter().any(u8::is_ascii_alphabetic)
        && bytes.iter().any(|b| b.is_ascii_digit() || b"!@#$%^&*?~".contains(b))
        && !bytes.iter().any(|b| b"()[]{}<>\\|".contains(b))
}

/// How many characters stand in runs that read as words: `Gateway`, `vpn`. Random letters make some; names are made of them.
fn wordy(bytes: &[u8]) -> usize {
    let mut total = 0;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at].is_ascii_uppercase() {
            at += 1;
        }
        while at < bytes.len() && bytes[at].is_ascii_lowercase() {
            at += 1;
        }
        if at - start >= 3 {
            total += at - start;
        }
        if at == start || at == start + 1 && !bytes[start].is_ascii_lowercase() {
            at = at.max(start + 1);
        }
    }
    total
}

/// Whether a word is written like a name in a program: `basicAuth`, `client_id`, `spec.name`; letters only, two words or more.
pub(super) fn is_identifier(word: &str) -> bool {
    let bytes = word.as_bytes();
    let camel = bytes.windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    let joined = bytes.iter().any(|b| b"_.".contains(b));
    bytes.len() < 64
        && (camel || joined)
        && bytes.iter().all(|b| b.is_ascii_alphabetic() || b"_.[]".contains(b))
        && (joined && !bytes.iter().any(u8::is_ascii_uppercase) || wordy(bytes) * 10 >= bytes.len() * 8)
}

/// Whether every part of a text looks like base64 of something random: both cases and digits, no words.
pub(super) fn is_dense(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(b))
        && switches(bytes) * 100 >= bytes.len() * 40
        && wordy(bytes) * 10 < bytes.len() * 7
        && bytes.iter().any(u8::is_ascii_uppercase)
        && bytes.iter().any(u8::is_ascii_lowercase)
}

/// Whether a word is written as keys of products are: four groups or more of as many capitals and digits.
pub(super) fn is_product_key(word: &str) -> bool {
    let groups: Vec<&str> = word.split('-').collect();
    groups.len() >= 4
        && (4..=8).contains(&groups[0].len())
        && groups.iter().all(|group| {
            group.len() == groups[0].len() && group.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        })
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_uppercase())
}

/// Whether a word is no word of a sentence or a name: letters with a digit, or letters of both cases in no order.
pub(super) fn is_passwordish(word: &str) -> bool {
    is_mixed(word) && word.bytes().any(|b| b.is_ascii_digit()) || is_jumbled(word)
}

/// Whether letters of both cases change too often for a word: `RxEkdCvrnHi`.
pub(super) fn is_jumbled(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 8
        && bytes.iter().all(u8::is_ascii_alphabetic)
        && switches(bytes) >= 4
        && wordy(bytes) * 4 < bytes.len() * 3
}

/// How often the kind of character changes: lower, upper, digit, other.
fn switches(bytes: &[u8]) -> usize {
    let kind = |b: u8| match b {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    bytes.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count()
}

/// Public by its shape: ids, digests, public keys, base64 of text.
fn is_public(word: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "sha1-",
        "sha256-",
        "sha384-",
        "sha512-",
        "sha256:",
        "sha512:",
        "sha1:",
        "md5:",
        "h1:",
        "go1.",
        "ssh-",
        "AAAAB3NzaC1",
        "AAAAC3NzaC1",
        "AAAAE2VjZHNh",
        "MIIB",
        "MIIC",
        "MIID",
        "MIIE",
        "MIIF",
        "MIIG",
        "MFkwEwYH",
        "MFYwEAYH",
        "MCowBQYDK2Vw",
        "MHYwEAYH",
        "LS0tLS1CRUdJTiBDRVJU",
        "LS0tLS1CRUdJTiBQVUJM",
        "acct_",
        "price_",
        "prod_",
        "cus_",
        "sub_",
        "evt_",
        "pi_",
        "ch_",
        "pk_live_",
        "pk_test_",
        "plan_",
        "G-",
        "UA-",
        "GTM-",
        "AC",
        "phc_",
        "sb_publishable_",
        "ca-app-pub-",
        "arn:",
        "i-0",
        "ami-",
        "vpc-",
        "subnet-",
        "sg-",
        "eipalloc-",
        "iVBORw0KGgo",
        "R0lGOD",
        "PHN2Zy",
        "PD94bWwg",
        "data:",
        "did:",
        "Qm",
        "12D3KooW",
        "bafy",
        "npm:",
        "pkg:",
        "projects/",
        "0x",
        "1:",
    ];
    if PREFIXES.iter().any(|prefix| word.starts_with(prefix)) && !word.starts_with("ACR") {
        return true;
    }
    // The ciphertext of a SealedSecret: the length of a wrapped key, and much of it.
    if word.starts_with("Ag") && word.len() >= 300 {
        return true;
    }
    is_uuid(word)
        || is_asset(word)
        || is_text_in_base64(word)
        || word.ends_with(".apps.googleusercontent.com")
        || looks_like_name(word)
}

/// `8-4-4-4-12` hexadecimal digits.
pub(super) fn is_uuid(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    parts.len() == 5
        && parts
            .iter()
            .zip([8, 4, 4, 4, 12])
            .all(|(part, n)| part.len() == n && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// `assets/main-BxK3fa9c.css`: a file of a web page with a short hash of its content in its name.
fn is_asset(word: &str) -> bool {
    const ENDS: &[&str] = &[
        "js", "mjs", "cjs", "css", "map", "woff", "woff2", "ttf", "png", "jpg", "jpeg", "webp", "avif", "gif", "svg",
        "ico", "wasm", "html",
    ];
    let Some((stem, end)) = word.rsplit_once('.') else { return false };
    ENDS.contains(&end)
        && stem.split(['/', '.', '-', '_']).all(|part| {
            part.len() <= 12
                || part.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
                || !part.bytes().any(|b| b.is_ascii_digit())
        })
}

/// Dotted, slashed or dashed words of a class, an image, a package, a file: no part of them looks random.
fn looks_like_name(word: &str) -> bool {
    let parts: Vec<&str> = word.split(['.', '/', '-', '_', ':', '=']).filter(|part| !part.is_empty()).collect();
    parts.len() >= 3
        && parts.iter().all(|part| {
            let bytes = part.as_bytes();
            let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
            let turns = bytes.windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit()).count();
            let one_case = !bytes.iter().any(u8::is_ascii_lowercase) || !bytes.iter().any(u8::is_ascii_uppercase);
            let letters = part.len() - digits;
            // A number, a time (`11T030000Z`), a word with a number before or behind it.
            let time = letters <= 2 && digits >= 4 && bytes.iter().all(|b| b.is_ascii_digit() || b"TZ".contains(b));
            part.len() <= 4
                || digits == part.len()
                || time
                || part.len() <= 24 && turns <= 2 && (one_case || wordy(bytes) * 10 >= letters * 6)
        })
}

fn is_text_in_base64(word: &str) -> bool {
    if word.len() < 20 {
        return false;
    }
    decode(word).is_some_and(|text| {
        text.chars().filter(|c| c.is_alphanumeric() || " \n\t.,:;-_/='\"(){}[]<>@!?#".contains(*c)).count() * 100
            >= text.chars().count() * 97
    })
}

/// The text that a word of hexadecimal digits holds, when every byte of it is a visible letter: no digest is.
pub(super) fn decode_hex(word: &str) -> Option<String> {
    let bytes = word.as_bytes();
    if bytes.len() < 24 || !bytes.len().is_multiple_of(2) || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut text = String::with_capacity(bytes.len() / 2);
    for pair in bytes.chunks_exact(2) {
        let byte = std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())?;
        if !(0x20..0x7f).contains(&byte) && byte != b'\n' {
            return None;
        }
        text.push(char::from(byte));
    }
    Some(text)
}

/// The text that a word of base64 holds, when it is text.
pub(super) fn decode(word: &str) -> Option<String> {
    let trimmed = word.trim_end_matches('=');
    if !word.is_ascii() || trimmed.len() < 8 || word.len() - trimmed.len() > 2 {
        return None;
    }
    if begins_as_text(trimmed.as_bytes()) { decode_whole(trimmed) } else { None }
}

fn decode_whole(trimmed: &str) -> Option<String> {
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
    let bytes = if trimmed.bytes().any(|b| b == b'-' || b == b'_') {
        URL_SAFE_NO_PAD.decode(trimmed).ok()?
    } else {
        STANDARD_NO_PAD.decode(trimmed).ok().or_else(|| {
            // A cut-off text still shows what it holds: whole groups of four are decoded.
            STANDARD_NO_PAD.decode(&trimmed[..trimmed.len() / 4 * 4]).ok()
        })?
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            if valid + 4 < bytes.len() {
                return None;
            }
            String::from_utf8(bytes[..valid].to_vec()).ok()?
        }
    };
    let readable = text.chars().all(|c| !c.is_control() || c == '\n' || c == '\r' || c == '\t');
    (readable && !text.is_empty()).then_some(text)
}

/// Whether the first two bytes that a word of base64 holds can stand in a text. Most words of letters say no.
fn begins_as_text(word: &[u8]) -> bool {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let &[a, b, c, ..] = word else { return true };
    let (Some(a), Some(b), Some(c)) = (digit(a), digit(b), digit(c)) else { return false };
    let (first, second) = (a << 2 | b >> 4, b << 4 | c >> 2);
    let plain = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let leads = |byte: u8| (0xc2..=0xf4).contains(&byte);
    leads(first) || plain(first) && (leads(second) || plain(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_begin_as_text_holds_none() {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_ .";
        for a in DIGITS {
            for b in DIGITS {
                for c in DIGITS {
                    for rest in ["29yZA", "29yZDE", "29yZDEyMw", "AAAAA", "_____", "2OpIGLDqQ", "=====", "\u{e9}abc"] {
                        let word = format!("{}{rest}", [*a, *b, *c].map(char::from).iter().collect::<String>());
                        if !begins_as_text(word.as_bytes()) {
                            assert_eq!(decode_whole(&word), None, "{word}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn public_shapes_are_not_opaque() {
        for word in [
            "9602e85db77a4c852cd12028338d547816c44103",
            "51ed2828-ffdc-4ebc-8932-66178b1f944c",
            "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
            "org.springframework.security.crypto.password.DelegatingPasswordEncoder",
            "V2VsY29tZSB0byB0aGUgcHJvZHVjdGlvbiBjbHVzdGVyLiBBbGwgYWNjZXNzIGlzIGxvZ2dlZC4=",
            "registry.example.com/team/app",
            "kubernetes-dashboard-v2",
            "AdministratorAccessPolicyForEverything2024",
            "price_1MoBy5LkdIwHu7ixZhnattbh",
        ] {
            assert!(!is_opaque(word), "{word}");
        }
        for word in ["5gQHq9qD4s0A6HmrYG96yTcIUo0MYSUoC20qGgT8", "j9YXXjBRJMrNUjJrLDHr8", "x7Kp2Qm9Lr4Tn8Vb3Zc6"] {
            assert!(is_opaque(word), "{word}");
        }
    }
}
