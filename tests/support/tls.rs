//! A certificate authority of the test's own, a TLS door in front of a scripted provider, and a proxy on the way to it.

use super::clean;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// An authority that nobody but the test trusts.
pub(crate) struct Authority {
    dir: TempDir,
}

impl Authority {
    /// Makes one; `None`, with a line that says so, where there is no `openssl`.
    pub(crate) fn new() -> Option<Authority> {
        let authority = Authority { dir: tempfile::tempdir().expect("a folder") };
        let made = authority.key("ca")
            && authority.openssl(&[
                "req",
                "-new",
                "-x509",
                "-key",
                "ca.key",
                "-subj",
                "/CN=Authority of a test",
                "-days",
                "2",
                "-addext",
                "basicConstraints=critical,CA:TRUE",
                "-out",
                "ca.pem",
            ]);
        if !made {
            eprintln!("skipped: there is no openssl to make certificates with");
        }
        made.then_some(authority)
    }

    /// The file for `SSL_CERT_FILE`.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    fn openssl(&self, args: &[&str]) -> bool {
        let mut command = clean(Command::new("openssl"));
        command.args(args).current_dir(self.dir.path());
        command.output().is_ok_and(|output| output.status.success())
    }

    fn key(&self, name: &str) -> bool {
        self.openssl(&["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", &format!("{name}.key")])
    }

    /// A server's certificate for `name`, valid for so many days (-1: until yesterday).
    pub(crate) fn issue(&self, name: &str, days: i32) -> Arc<ServerConfig> {
        let extensions = format!("subjectAltName=DNS:{name}\nbasicConstraints=CA:FALSE\n");
        std::fs::write(self.dir.path().join("ext"), extensions).expect("a file");
        assert!(self.key("server"));
        assert!(self.openssl(&[
            "req",
            "-new",
            "-key",
            "server.key",
            "-subj",
            &format!("/CN={name}"),
            "-out",
            "server.csr"
        ]));
        assert!(self.openssl(&[
            "x509",
            "-req",
            "-in",
            "server.csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
            "-extfile",
            "ext",
            "-days",
            &days.to_string(),
            "-out",
            "server.pem",
        ]));
        let path = |name: &str| self.dir.path().join(name);
        let chain =
            CertificateDer::pem_file_iter(path("server.pem")).expect("a file").map(|c| c.expect("a certificate"));
        let key = PrivateKeyDer::from_pem_file(path("server.key")).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
        Arc::new(
            config.with_no_client_auth().with_single_cert(chain.collect(), key).expect("a certificate and its key"),
        )
    }
}

/// Listens on 127.0.0.1 and hands each connection to `serve`, until it is dropped.
pub(crate) struct Door {
    port: u16,
    stop: Arc<AtomicBool>,
}

impl Door {
    fn new(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Door {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let door = Door { port: listener.local_addr().expect("an address").port(), stop: Arc::default() };
        let (stop, serve) = (Arc::clone(&door.stop), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || serve(stream));
            }
        });
        door
    }

    /// The port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// TLS in front of a plain server: one request, its whole answer.
    pub(crate) fn tls(config: Arc<ServerConfig>, behind: u16) -> Door {
        Door::new(move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut tls = StreamOwned::new(connection, stream);
            let Some(request) = read_head(&mut tls).and_then(|head| read_body(&mut tls, head)) else { return };
            let mut plain = TcpStream::connect(("127.0.0.1", behind)).expect("the server behind");
            plain.write_all(&request).expect("sent on");
            let mut answer = Vec::new();
            let _ = plain.read_to_end(&mut answer);
            let _ = tls.write_all(&answer);
            tls.conn.send_close_notify();
            let _ = tls.flush();
        })
    }

    /// A proxy that connects everybody to one port, whatever they ask for; with `login` (`Basic …`) only those who give it.
    /// It keeps what it saw.
    pub(crate) fn proxy(to: u16, login: Option<String>, seen: Arc<Mutex<Vec<u8>>>) -> Door {
        Door::new(move |mut stream| {
            let Some(head) = read_head(&mut stream) else { return };
            seen.lock().expect("a lock").extend_from_slice(&head);
            let head = String::from_utf8_lossy(&head).into_owned();
            if login.as_ref().is_some_and(|login| !head.contains(login.as_str())) {
                let _ = stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
                return;
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let behind = TcpStream::connect(("127.0.0.1", to)).expect("the server behind");
            let (mut from, mut into) = (stream.try_clone().expect("a stream"), behind.try_clone().expect("a stream"));
            let seen = Arc::clone(&seen);
            std::thread::spawn(move || {
                let mut block = [0; 4096];
                while let Ok(count @ 1..) = from.read(&mut block) {
                    seen.lock().expect("a lock").extend_from_slice(&block[..count]);
                    if into.write_all(&block[..count]).is_err() {
                        return;
                    }
                }
            });
            let _ = std::io::copy(&mut { behind }, &mut stream);
        })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn read_head(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(head)
}

fn read_body(stream: &mut impl Read, mut head: Vec<u8>) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(&head).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    head.extend(body);
    Some(head)
}
