//! HTTPS with an authority of one's own, and through proxies

use super::{Asker, KEY, narration, reason, text};
use crate::support::provider::{Answer, Provider, contains};
use crate::support::tls::{Authority, Door};
use std::sync::{Arc, Mutex};

#[test]
fn a_private_authority_is_trusted_through_ssl_cert_file_and_nobody_else_is() {
    let Some(authority) = Authority::new() else { return };
    let provider = Provider::new([Answer::anthropic("Over TLS.")]);
    let door = Door::tls(authority.issue("localhost", 2), provider.port());
    let url = format!("https://localhost:{}", door.port());
    let file = authority.certificate().to_string_lossy().into_owned();
    let run = Asker::anthropic(&url).env("SSL_CERT_FILE", &file).run([]).exits(0);
    assert_eq!(text(&run), "Over TLS.");
    assert_eq!(provider.request().header("x-api-key").as_deref(), Some(KEY));
    let why = reason(Asker::anthropic(&url).run([]));
    assert!(why.contains("the certificate of localhost is signed by nobody whom this system trusts"), "{why}");
    assert!(why.contains("SSL_CERT_FILE"), "{why}");
    let other = Authority::new().expect("another authority");
    let wrong = other.certificate().to_string_lossy().into_owned();
    reason(Asker::anthropic(&url).env("SSL_CERT_FILE", &wrong).run([]));
    reason(Asker::anthropic(&url).env("SSL_CERT_FILE", "/nonexistent/ca.pem").run([]));
    assert_eq!(provider.requests().len(), 1, "nothing was sent to a server that could not prove itself");
}

#[test]
fn a_certificate_that_is_not_good_is_named_with_its_fault() {
    let Some(authority) = Authority::new() else { return };
    let provider = Provider::new([Answer::anthropic("x")]);
    for (name, days, words) in [("elsewhere.example", 2, "is for another name"), ("localhost", -1, "has expired")] {
        let door = Door::tls(authority.issue(name, days), provider.port());
        let file = authority.certificate().to_string_lossy().into_owned();
        let asker = Asker::anthropic(&format!("https://localhost:{}", door.port())).env("SSL_CERT_FILE", &file);
        let why = reason(asker.run([]));
        assert!(why.contains(words), "{why}");
    }
    assert!(provider.connections().is_empty());
}

#[test]
fn a_proxy_carries_the_request_and_reads_none_of_it() {
    let Some(authority) = Authority::new() else { return };
    let provider = Provider::new([Answer::anthropic("Through a proxy.")]);
    let door = Door::tls(authority.issue("provider.example", 2), provider.port());
    let file = authority.certificate().to_string_lossy().into_owned();
    let asker = || Asker::anthropic("https://provider.example").env("SSL_CERT_FILE", &file);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let open = Door::proxy(door.port(), None, Arc::clone(&seen));
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let run = asker().env(name, &format!("http://127.0.0.1:{}", open.port())).run([]).exits(0);
        assert_eq!(text(&run), "Through a proxy.");
    }
    let bytes = seen.lock().expect("a lock").clone();
    assert!(contains(&bytes, "CONNECT provider.example:443"));
    for text in [KEY, "db.pool_size", "/v1/messages", "x-api-key"] {
        assert!(!contains(&bytes, text), "{text}");
    }
}

#[test]
fn a_proxy_that_wants_a_login_gets_the_one_in_its_url_or_is_named() {
    let Some(authority) = Authority::new() else { return };
    let provider = Provider::new([Answer::anthropic("x")]);
    let door = Door::tls(authority.issue("provider.example", 2), provider.port());
    let file = authority.certificate().to_string_lossy().into_owned();
    // `user:pass word`, as base64 and in a url.
    let locked = Door::proxy(door.port(), Some("Basic dXNlcjpwYXNzIHdvcmQ=".into()), Arc::default());
    let asker = |login: &str| {
        let proxy = format!("http://{login}127.0.0.1:{}", locked.port());
        Asker::anthropic("https://provider.example").env("SSL_CERT_FILE", &file).env("HTTPS_PROXY", &proxy)
    };
    narration(&asker("user:pass%20word@").run([]).exits(0));
    assert!(reason(asker("").run([])).contains("the proxy wants a user name and password (407)"));
    let wrong = asker("user:s3cr3t-guess@").run([]);
    assert!(!wrong.stderr.contains("s3cr3t"));
    assert!(reason(wrong).contains("(407)"));
}
