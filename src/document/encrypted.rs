//! Which of this is ciphertext? It is replaced by a sentinel here and is nowhere afterwards; nothing is decrypted.
//!
//! A sentinel is `<encrypted:SCHEME:DIGEST>`, the digest the first 12 hexadecimal digits of the SHA-256 of the ciphertext
//! (without blanks around it, `\r` left out): enough to say that it moved, nothing to attack. A text that only looks like
//! a sentinel is made to look like none (`<!encrypted:…`), so that no one can dress a plain value up as an encrypted one.
//!
//! | scheme | what is recognised |
//! |---|---|
//! | `sops` | `ENC[AES256_GCM,…]`, and every `enc` below the `sops` metadata |
//! | `age`, `pgp` | ASCII armour, as a value, inside a longer value, or as the file; a binary age file |
//! | `ansible-vault` | `$ANSIBLE_VAULT;…`, as a value (`!vault`) or as the file |
//! | `sealed-secret` | the values of `spec.encryptedData` of a SealedSecret |
//! | `eyaml` | `ENC[PKCS7,…]`, `ENC[GPG,…]` |
//! | `jasypt` | `ENC(…)` as a whole value |
//! | `git-crypt` | the file |

use super::{Data, Document, Entry, Key, Node, Parsed, Place, Span};
use aho_corasick::AhoCorasick;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::OnceLock;

const AGE_BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const AGE_END: &str = "-----END AGE ENCRYPTED FILE-----";
const PGP_BEGIN: &str = "-----BEGIN PGP MESSAGE-----";
const PGP_END: &str = "-----END PGP MESSAGE-----";
const VAULT: &str = "$ANSIBLE_VAULT;";
const SENTINEL: &str = "<encrypted:";
const WITHHELD: &str = crate::value::WITHHELD;

/// The sentinel of a ciphertext.
fn sentinel(scheme: &str, ciphertext: &[u8]) -> String {
    let mut hash = Sha256::new();
    ciphertext.trim_ascii().split(|&b| b == b'\r').for_each(|part| hash.update(part));
    let mut out = format!("{SENTINEL}{scheme}:");
    for byte in &hash.finalize()[..6] {
        for nibble in [byte >> 4, byte & 0xf] {
            out.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    out.push('>');
    out
}

/// The scheme of a file that is ciphertext as a whole, whatever its name says.
pub fn whole_file(bytes: &[u8]) -> Option<&'static str> {
    let is_armour = |begin: &str, end: &str| {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
        text.starts_with(begin.as_bytes()) && text.ends_with(end.as_bytes())
    };
    if bytes.starts_with(b"\0GITCRYPT\0") {
        Some("git-crypt")
    } else if bytes.starts_with(VAULT.as_bytes()) {
        Some("ansible-vault")
    } else if bytes.starts_with(b"age-encryption.org/v1") || is_armour(AGE_BEGIN, AGE_END) {
        Some("age")
    } else if is_armour(PGP_BEGIN, PGP_END) {
        Some("pgp")
    } else {
        None
    }
}

/// The one value that such a file is.
pub(super) fn whole(scheme: &'static str, bytes: &[u8]) -> Parsed<'static> {
    let span = Span { start: Place { line: 1, column: 1 }, end_line: 1 };
    let data = Data::Encrypted(Cow::Owned(sentinel(scheme, bytes)));
    let root = Node { data, tag: None, yaml11: None, span };
    Parsed { documents: vec![Document { root, index: 0, encrypted: Some(scheme) }], warnings: Vec::new() }
}

/// Replaces every ciphertext of a tree.
/// In a text that was `sealed` before, sentinels are what they say.
pub(super) fn seal(text: &str, parsed: &mut Parsed<'_>, sealed: bool) {
    // What every mark has in it, of `ENC[` to `encryptedData`. An escape can hide any, so one backslash is reason enough
    // to look.
    const MARKS: [&str; 5] = ["ENC", "encrypted", "-----BEGIN ", VAULT, "sops"];
    let has = |mark: &&str| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    if memchr::memchr(b'\\', text.as_bytes()).is_none() && !MARKS.iter().any(has) {
        return;
    }
    for document in &mut parsed.documents {
        let mut marks = Marks { before: sealed, sealed: false };
        marks.node(&mut document.root, At::Root);
        document.encrypted = if has_sops_metadata(&document.root) {
            Some("sops")
        } else if marks.sealed {
            Some("sealed-secret")
        } else {
            None
        };
    }
}

fn entry<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Entry<'a>> {
    match &node.data {
        Data::Map(entries) => entries.iter().find(|entry| matches!(&entry.key, Key::String(key) if key == name)),
        _ => None,
    }
}

/// `sops` with a `mac` or a `version`; in dotenv both are one key.
fn has_sops_metadata(root: &Node<'_>) -> bool {
    let nested = entry(root, "sops")
        .is_some_and(|sops| ["mac", "version", "lastmodified"].iter().any(|name| entry(&sops.value, name).is_some()));
    nested || entry(root, "sops_mac").is_some() || entry(root, "sops_version").is_some()
}

/// Where in a document the walk is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Root,
    Inside,
    /// Below the metadata of sops.
    Sops,
}

struct Marks {
    /// The text was sealed before.
    before: bool,
    /// There was a SealedSecret.
    sealed: bool,
}

impl Marks {
    fn node(&mut self, node: &mut Node<'_>, at: At) {
        let sops = at == At::Root && has_sops_metadata(node);
        let sealed = entry(node, "kind")
            .is_some_and(|kind| matches!(&kind.value.data, Data::String(kind) if kind == "SealedSecret"));
        match &mut node.data {
            Data::String(text) => {
                if let Some(data) = seal_text(text, self.before) {
                    if matches!(data, Data::Encrypted(_)) {
                        // The tag says how to decrypt it.
                        node.tag =
                            node.tag.take().filter(|tag| !tag.starts_with("!vault") && !tag.starts_with("!encrypted"));
                    }
                    node.data = data;
                    node.yaml11 = None;
                }
            }
            Data::Typed(scalar) => {
                // A template or an expression with a ciphertext in it.
                if let Some(Data::String(text) | Data::Encrypted(text)) = seal_text(&scalar.source, self.before) {
                    node.data = Data::String(Cow::Owned(text.into_owned()));
                }
            }
            Data::List(items) => items.iter_mut().for_each(|item| self.node(item, below(at))),
            Data::Map(entries) => {
                for Entry { key, value, .. } in entries {
                    if let Some(Data::String(sealed) | Data::Encrypted(sealed)) = seal_text(key.text(), self.before) {
                        match key {
                            Key::String(text) | Key::Typed(_, text) => *text = sealed,
                        }
                    }
                    let name = key.text();
                    let flat = at == At::Root && name.starts_with("sops_");
                    let metadata = sops && (name == "sops" || flat);
                    if (at == At::Sops || (sops && flat)) && name.ends_with("enc") {
                        hide_strings(value, "sops");
                        continue;
                    }
                    if sealed && name == "spec" {
                        self.sealed_secret(value);
                    }
                    self.node(value, if metadata { At::Sops } else { below(at) });
                }
            }
            _ => {}
        }
    }

    fn sealed_secret(&mut self, spec: &mut Node<'_>) {
        let Data::Map(entries) = &mut spec.data else { return };
        for Entry { key, value, .. } in entries {
            if key.text() == "encryptedData" {
                self.sealed = true;
                hide_strings(value, "sealed-secret");
            }
        }
    }
}

fn below(at: At) -> At {
    if at == At::Sops { At::Sops } else { At::Inside }
}

/// Every string is ciphertext here.
fn hide_strings(node: &mut Node<'_>, scheme: &str) {
    match &mut node.data {
        Data::String(text) => {
            node.data = Data::Encrypted(Cow::Owned(sentinel(scheme, text.as_bytes())));
            node.yaml11 = None;
        }
        Data::Typed(scalar) => {
            node.data = Data::Encrypted(Cow::Owned(sentinel(scheme, scalar.source.as_bytes())));
            node.yaml11 = None;
        }
        Data::List(items) => items.iter_mut().for_each(|item| hide_strings(item, scheme)),
        Data::Map(entries) => entries.iter_mut().for_each(|entry| hide_strings(&mut entry.value, scheme)),
        _ => {}
    }
}

/// Whether a text is a sentinel and nothing else.
fn is_sentinel(text: &str) -> bool {
    let Some((scheme, digest)) =
        text.strip_prefix(SENTINEL).and_then(|rest| rest.strip_suffix('>')).and_then(|rest| rest.split_once(':'))
    else {
        return false;
    };
    scheme.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        && digest.len() == 12
        && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// What a text becomes: a sentinel where it is ciphertext, a text with sentinels where it holds some, `None` where it
/// stays.
fn seal_text(text: &str, sealed: bool) -> Option<Data<'static>> {
    const MARKS: [&str; 7] = ["ENC[", "ENC(", AGE_BEGIN, PGP_BEGIN, VAULT, SENTINEL, WITHHELD];
    static SEARCH: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let search = SEARCH.get_or_init(|| AhoCorasick::new(MARKS).ok()).as_ref()?;
    let first = search.find(text)?;
    let trimmed = text.trim();
    if sealed && is_sentinel(trimmed) {
        return Some(Data::Encrypted(Cow::Owned(trimmed.to_string())));
    }
    let whole = |scheme: &str| Some(Data::Encrypted(Cow::Owned(sentinel(scheme, trimmed.as_bytes()))));
    if trimmed.starts_with(VAULT) {
        return whole("ansible-vault");
    }
    if let Some(inner) = trimmed.strip_prefix("ENC(").and_then(|rest| rest.strip_suffix(')'))
        && inner.len() >= 8
        && inner.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'))
    {
        return whole("jasypt");
    }
    let mut out = String::new();
    let mut done = 0;
    let mut at = first.start();
    while let Some(found) = search.find(&text[at..]) {
        let start = at + found.start();
        let rest = &text[start..];
        // What is not closed goes on to the end: it may be a ciphertext that was cut.
        let until = |end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
        let block = match MARKS[found.pattern().as_usize()] {
            "ENC[" => bracketed(rest),
            AGE_BEGIN => Some(("age", until(AGE_END))),
            PGP_BEGIN => Some(("pgp", until(PGP_END))),
            // A vault text inside of a longer one: it ends with its lines of hexadecimal digits.
            VAULT => {
                let header = rest.find('\n').map_or(rest.len(), |end| end + 1);
                let body = rest[header..].find(|c: char| !(c.is_ascii_hexdigit() || c.is_whitespace()));
                Some(("ansible-vault", body.map_or(rest.len(), |end| header + end)))
            }
            _ => None,
        };
        match block {
            Some((scheme, length)) if length == trimmed.len() && rest.len() >= length && rest[..length] == *trimmed => {
                return whole(scheme);
            }
            Some((scheme, length)) => {
                out.push_str(&text[done..start]);
                out.push_str(&sentinel(scheme, &rest.as_bytes()[..length]));
                done = start + length;
                at = done;
            }
            None if !sealed && (rest.starts_with(SENTINEL) || rest.starts_with(WITHHELD)) => {
                out.push_str(&text[done..start]);
                out.push_str("<!");
                done = start + 1;
                at = done;
            }
            None => at = start + found.len(),
        }
    }
    if done == 0 {
        return None;
    }
    out.push_str(&text[done..]);
    Some(Data::String(Cow::Owned(out)))
}

/// `ENC[AES256_GCM,…]` and its kin, up to the bracket, or to the end where there is none.
fn bracketed(text: &str) -> Option<(&'static str, usize)> {
    let inner = text.strip_prefix("ENC[")?;
    let scheme = ["AES256_GCM,", "PKCS7,", "GPG,"].into_iter().find(|kind| inner.starts_with(kind))?;
    let length = inner.find(']').map_or(text.len(), |end| "ENC[".len() + end + 1);
    Some((if scheme == "AES256_GCM," { "sops" } else { "eyaml" }, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, Options, parse};

    /// Ciphertext that must be nowhere afterwards.
    const CIPHER: &str = "Y2lwaGVydGV4dA";

    fn sops(kind: &str) -> String {
        format!("ENC[AES256_GCM,data:{CIPHER},iv:aXY=,tag:dGFn,type:{kind}]")
    }

    #[track_caller]
    fn read(format: Format, text: &str) -> (String, Option<&'static str>) {
        let parsed = parse(format, text.as_bytes(), &Options::default()).expect(text);
        assert!(!format!("{parsed:?}").contains(CIPHER), "{parsed:?}");
        (parsed.documents[0].root.to_value().to_json(), parsed.documents[0].encrypted)
    }

    #[test]
    fn s6_sops_in_every_format_leaves_sentinels() {
        let age = format!("{AGE_BEGIN}\\n{CIPHER}\\n{AGE_END}\\n");
        let texts = [
            (
                Format::Yaml,
                format!(
                    "db: {0}\nn: [\"{0}\"]\nsops:\n  age:\n  - recipient: age1x\n    enc: |\n      {AGE_BEGIN}\n      {CIPHER}\n      {AGE_END}\n  - {{recipient: age1y, enc: {CIPHER}}}\n  mac: {0}\n  version: 3.8.1\n",
                    sops("str")
                ),
            ),
            (
                Format::Json,
                format!(
                    "{{\"db\":\"{0}\",\"sops\":{{\"age\":[{{\"recipient\":\"age1x\",\"enc\":\"{age}\"}}],\"mac\":\"{0}\"}}}}",
                    sops("int")
                ),
            ),
            (
                Format::Ini,
                format!(
                    "[a]\ndb = {0}\n[sops]\nmac = {0}\nage__list_0__map_enc = {CIPHER}\nage__list_0__map_recipient = age1x\n",
                    sops("str")
                ),
            ),
            (
                Format::Dotenv,
                format!("DB={0}\nsops_mac={0}\nsops_age__list_0__map_enc=\"{age}\"\nsops_version=3.8.1\n", sops("str")),
            ),
        ];
        for (format, text) in texts {
            let (value, encrypted) = read(format, &text);
            assert_eq!(encrypted, Some("sops"), "{text}");
            assert!(value.contains("<encrypted:sops:"), "{value}");
        }
    }

    #[test]
    fn the_digest_moves_with_the_ciphertext_alone() {
        let of = |text: &str| read(Format::Yaml, text).0;
        assert_eq!(of(&format!("a: {}", sops("str"))), of(&format!("a: \"{}\"", sops("str"))));
        assert_ne!(of(&format!("a: {}", sops("str"))), of(&format!("a: {}", sops("int"))));
        let value = of(&format!("a: {}", sops("str")));
        let digest = value.trim_start_matches(r#"{"a":"<encrypted:sops:"#).trim_end_matches(r#">"}"#);
        assert!(digest.len() == 12 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{value}");
        assert_eq!(read(Format::Yaml, &format!("a: {}", sops("str"))).1, None, "one value is no encrypted document");
    }

    #[test]
    fn s6_armour_vault_sealed_secrets_and_the_rest() {
        let vault = format!("a: !vault |\n  {VAULT}1.1;AES256\n  {CIPHER}\n");
        assert!(read(Format::Yaml, &vault).0.starts_with(r#"{"a":"<encrypted:ansible-vault:"#));
        let sealed = format!(
            "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {{name: x}}\nspec:\n  encryptedData:\n    p: {CIPHER}\n  template: {{}}\n"
        );
        let (value, encrypted) = read(Format::Yaml, &sealed);
        assert!(value.contains(r#""p":"<encrypted:sealed-secret:"#) && encrypted == Some("sealed-secret"), "{value}");
        assert!(
            read(Format::Yaml, &format!("{}: 1\n? [\"{}\"]\n: 2\n", sops("str"), sops("int")))
                .0
                .contains("<encrypted:sops:")
        );
        let pgp = format!("a: |\n  before\n  {PGP_BEGIN}\n\n  {CIPHER}\n  {PGP_END}\n  after {}\n", sops("str"));
        let (value, _) = read(Format::Yaml, &pgp);
        assert!(value.contains(r"before\n<encrypted:pgp:") && value.contains(r"after <encrypted:sops:"), "{value}");
        assert!(read(Format::Yaml, &format!("a: ENC[PKCS7,{CIPHER}]")).0.contains("<encrypted:eyaml:"));
        assert!(read(Format::Properties, &format!("a=ENC({CIPHER}==)")).0.contains("<encrypted:jasypt:"));
        let armour = format!("---\nx: 1\n---\n{AGE_BEGIN}\n{CIPHER}\n{AGE_END}\n");
        let parsed = parse(Format::Yaml, armour.as_bytes(), &Options::default()).expect("yaml");
        assert!(parsed.documents[1].root.to_value().to_json().contains("<encrypted:age:"), "armour as one document");
        assert!(!format!("{parsed:?}").contains(CIPHER));
    }

    #[test]
    fn s6_whole_files_are_one_value_whatever_their_name() {
        for (text, scheme) in [
            (format!("{VAULT}1.1;AES256\n{CIPHER}\n"), "ansible-vault"),
            (format!("{AGE_BEGIN}\n{CIPHER}\n{AGE_END}\n"), "age"),
            (format!("{PGP_BEGIN}\nVersion: x\n\n{CIPHER}\n{PGP_END}\n"), "pgp"),
            (format!("age-encryption.org/v1\n\0{CIPHER}"), "age"),
            (format!("\0GITCRYPT\0{CIPHER}"), "git-crypt"),
        ] {
            for format in [Format::Yaml, Format::Json, Format::Toml, Format::Ini, Format::Dotenv] {
                let (value, encrypted) = read(format, &text);
                assert!(value.starts_with(&format!("\"<encrypted:{scheme}:")) && encrypted == Some(scheme), "{value}");
            }
        }
    }

    #[test]
    fn nobody_can_dress_a_plain_value_as_an_encrypted_one() {
        for text in [
            "\"a <encrypted:sops:0123456789ab>\"",
            "\"\\u003cencrypted:sops:0123456789ab>\"",
            "\"<no longer encrypted>\"",
        ] {
            let (value, _) = read(Format::Json, text);
            assert!(value.contains("<!") && !value.contains("<encrypted:") && !value.contains(WITHHELD), "{value}");
        }
    }

    #[test]
    fn what_was_sealed_before_stays_what_it_is() {
        let options = Options { sealed: true, ..Options::default() };
        let text = "a: <encrypted:sops:0123456789ab>\nb: x <encrypted:sops:0123456789ab>\nc: <no longer encrypted>\n";
        let parsed = parse(Format::Yaml, text.as_bytes(), &options).expect("yaml");
        let Data::Map(entries) = &parsed.documents[0].root.data else { panic!("a map") };
        assert!(matches!(entries[0].value.data, Data::Encrypted(_)));
        assert!(matches!(&entries[1].value.data, Data::String(text) if text.starts_with("x <encrypted:")));
        assert!(matches!(&entries[2].value.data, Data::String(text) if text == WITHHELD));
    }

    #[test]
    fn an_error_never_shows_ciphertext() {
        for (format, text) in [
            (Format::Yaml, format!("a: {}\nb: [\n", sops("str"))),
            (Format::Yaml, format!("a: {0}\na: {0}\n", sops("str"))),
            (Format::Json, format!("{{\"a\": \"{}\" x}}", sops("str"))),
            (Format::Toml, format!("a = {}\n", sops("str"))),
            (Format::Dotenv, format!("A={0}\n{0} x\n", sops("str"))),
        ] {
            let error = parse(format, text.as_bytes(), &Options::default()).expect_err(&text).to_string();
            assert!(!error.contains(CIPHER), "{error}");
        }
    }
}
