//! flecto-narrate, against a scripted provider

use crate::support::provider::{Answer, Provider};
use std::io::{Read as _, Write as _};

#[test]
fn the_scripted_provider_answers_in_order_and_keeps_every_byte() {
    let provider = Provider::new([Answer::error(500, "no"), Answer::chunked("yes")]);
    for expected in ["HTTP/1.1 500", "HTTP/1.1 200", "HTTP/1.1 200"] {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", provider.port())).expect("a connection");
        stream.write_all(b"POST /x HTTP/1.1\r\nContent-Length: 4\r\nX-Api-Key: k\r\n\r\nbody").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with(expected), "{answer}");
    }
    let requests = provider.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].line(), "POST /x HTTP/1.1");
    assert_eq!(requests[0].header("x-api-key").as_deref(), Some("k"));
    assert_eq!(requests[0].body(), b"body");
    assert!(provider.got("body") && !provider.got("boddy"));
}
