//! How does a request leave this machine? One exchange over HTTPS, with nothing followed, nothing guessed and nobody
//! else's words in its errors.
//!
//! `ureq` does the work; this module decides what it must not: no redirect is followed, no proxy is used for this machine
//! itself, a malformed proxy variable is an error and not a direct connection, the system's certificate store is asked
//! (`SSL_CERT_FILE` included), the answer is bounded. ureq's own messages can quote a URL with its password, so a
//! [`Failure`] is made from their kind alone.

use crate::environment;
use std::fmt;
use std::io::{ErrorKind, Read as _};
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::time::Duration;
use ureq::http::{HeaderName, HeaderValue, Request};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy, ProxyProtocol};

/// How long it may take to reach a server, names, proxy and TLS included. A black hole must not eat the whole time-out.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// An `http` or `https` URL without user, password and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    https: bool,
    authority: String,
    host: String,
    path: String,
    query: Option<String>,
}

impl Url {
    /// Reads a URL. A trailing slash makes no difference.
    ///
    /// # Errors
    /// What is wrong with it, without quoting it: it may hold a password.
    pub fn parse(text: &str) -> Result<Url, &'static str> {
        if !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err("holds a blank or a character that a url spells with %");
        }
        let (scheme, rest) = text.split_once("://").ok_or("does not begin with https:// or http://")?;
        let https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err("does not begin with https:// or http://"),
        };
        if rest.contains('#') {
            return Err("has a part after #, which no server sees");
        }
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err("holds a user name or password; a key goes into its own variable");
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err("has a port that is no number from 1 to 65535");
        }
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let valid = match bracketed {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
            }
        };
        let known = ureq::http::Uri::try_from(text).is_ok();
        if !valid || !known || path.contains('\\') {
            return Err("has no host that can be read");
        }
        let authority = authority.to_ascii_lowercase();
        let host = bracketed.unwrap_or(host).to_ascii_lowercase();
        let path = path.trim_end_matches('/').to_string();
        Ok(Url { https, authority, host, path, query: query.map(str::to_string) })
    }

    /// This URL with more of a path, before the query.
    pub fn join(&self, path: &str) -> Url {
        Url { path: format!("{}{path}", self.path), ..self.clone() }
    }

    /// The host, without port and brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// Whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        let address = self.host.parse::<IpAddr>().map(|ip| match ip {
            IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(ip.is_loopback(), |ip| ip.is_loopback()),
            IpAddr::V4(ip) => ip.is_loopback(),
        });
        address.unwrap_or_else(|_| self.host == "localhost" || self.host.ends_with(".localhost"))
    }

    fn port(&self) -> &str {
        let port = self.authority.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.contains(']'));
        port.unwrap_or(if self.https { "443" } else { "80" })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", if self.https { "https" } else { "http" }, self.authority, self.path)?;
        self.query.as_ref().map_or(Ok(()), |query| write!(f, "?{query}"))
    }
}

/// What a server answered.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers; names in lower case, values as text, those that are none left out.
    pub headers: Vec<(String, String)>,
    /// The body; empty for a redirect.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The host that a redirect points at; `None` when it points at none of its own.
    pub fn redirect_host(&self) -> Option<String> {
        let location = self.header("location")?;
        let rest = location.split_once("//")?.1;
        let authority = rest.split(['/', '?', '#', '\\']).next()?;
        let host = authority.rsplit('@').next()?;
        (!host.is_empty()).then(|| host.to_string())
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened, in our words.
    pub message: String,
    /// Whether the connection failed before anything was sent over it, so that trying again repeats nothing.
    pub unsent: bool,
    /// Whether it was the time that ran out.
    pub timed_out: bool,
}

impl Failure {
    fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), unsent: false, timed_out: false }
    }

    fn unsent(message: impl Into<String>) -> Failure {
        Failure { unsent: true, ..Failure::new(message) }
    }
}

/// Whether `text` can be a header's value: visible ASCII and blanks, so that nobody can write a second header with it.
pub fn is_header_value(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| (0x20..0x7f).contains(&b))
}

/// Sends one request and reads the answer, within `timeout` and up to `limit` bytes of body.
///
/// `headers` are sent as they are, and each is kept out of any log (a key is among them). An empty `body` is none.
///
/// # Errors
/// No connection, a connection that breaks, an answer that is no HTTP or too large, and a proxy that cannot be used.
pub fn send(
    method: &str,
    url: &Url,
    headers: &[(String, String)],
    body: &[u8],
    timeout: Duration,
    limit: u64,
) -> Result<Response, Failure> {
    send_watched(method, url, headers, body, timeout, limit, |_| ControlFlow::Continue(()))
}

/// As [`send`], and shows the response to `watch` after each piece of the body. The body is not read on when `watch` has seen
/// enough.
///
/// # Errors
/// As [`send`].
pub fn send_watched(
    method: &str,
    url: &Url,
    headers: &[(String, String)],
    body: &[u8],
    timeout: Duration,
    limit: u64,
    mut watch: impl FnMut(&Response) -> ControlFlow<()>,
) -> Result<Response, Failure> {
    let proxy = proxy_for(url)?;
    let via_proxy = proxy.is_some();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(timeout))
        .timeout_connect(Some(CONNECT_TIMEOUT.min(timeout)))
        .proxy(proxy)
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .user_agent("")
        .accept("")
        .max_idle_connections(0)
        .build();
    let mut request = Request::builder().method(method).uri(url.to_string());
    for (name, value) in headers {
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
            return Err(Failure::new("a header holds a character that no header can have"));
        };
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    let malformed = |_| Failure::new("the request cannot be built from this url");
    let explain = |error| explain(error, url, via_proxy);
    let agent = config.new_agent();
    let mut response = match body {
        [] => agent.run(request.body(()).map_err(malformed)?),
        body => agent.run(request.body(body).map_err(malformed)?),
    }
    .map_err(explain)?;
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let headers =
        headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_string()))).collect();
    // The target of a redirect is all that is told of it, and some servers send a page with it that never ends.
    let mut answer = Response { status, headers, body: Vec::new() };
    if (300..400).contains(&status) {
        return Ok(answer);
    }
    let mut reader = response.body_mut().with_config().limit(limit).reader();
    let mut piece = [0; 1 << 14];
    loop {
        let length = match reader.read(&mut piece) {
            Ok(0) => return Ok(answer),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(explain(error.into())),
        };
        answer.body.extend_from_slice(&piece[..length]);
        if watch(&answer).is_break() {
            return Ok(answer);
        }
    }
}

/// The proxy that the environment names for a URL. The variable of the URL's own scheme comes first, then `ALL_PROXY`, as
/// curl has it; ureq would take any of them for any scheme, and pass over one that it cannot read.
fn proxy_for(url: &Url) -> Result<Option<Proxy>, Failure> {
    if url.is_loopback() || excluded(url) {
        return Ok(None);
    }
    let own = if url.https { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
    // `HTTP_PROXY` is what a CGI server makes of a request header `Proxy`: there anybody could set it.
    let cgi = std::env::var_os("REQUEST_METHOD").is_some();
    let names = own.into_iter().chain(["ALL_PROXY", "all_proxy"]).filter(|name| !(cgi && *name == "HTTP_PROXY"));
    let Some((name, value)) = names.filter_map(|name| Some((name, environment::text(name)?))).next() else {
        return Ok(None);
    };
    let unusable = |what: &str| Failure::new(format!("the proxy in {name} {what}"));
    let proxy =
        Proxy::new(value.trim()).map_err(|_| unusable("cannot be read; it should look like http://proxy:3128"))?;
    match proxy.protocol() {
        ProxyProtocol::Http | ProxyProtocol::Https => Ok(Some(proxy)),
        _ => Err(unusable("is a SOCKS proxy, which is not supported; name an http:// one")),
    }
}

/// Whether `NO_PROXY` names the host: itself, a domain above it, `host:port`, or `*`.
fn excluded(url: &Url) -> bool {
    let list = environment::text("NO_PROXY").or_else(|| environment::text("no_proxy")).unwrap_or_default();
    list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.to_ascii_lowercase();
        let with_port = entry.strip_suffix(&format!(":{}", url.port())).unwrap_or(&entry);
        let name = with_port.trim_start_matches('*').trim_start_matches('.').trim_matches(['[', ']']);
        entry == "*" || name == url.host || !name.is_empty() && url.host.ends_with(&format!(".{name}"))
    })
}

/// Says what happened in our words. What the crates say can quote the URL, and with it a password.
fn explain(error: ureq::Error, url: &Url, via_proxy: bool) -> Failure {
    use ureq::Error as E;
    let server = if via_proxy { format!("the proxy, or {} behind it,", url.host()) } else { url.host().to_string() };
    let unknown_host = || {
        let way_out = "check the url, the network and the proxy settings";
        Failure::unsent(format!("{server} is a name that cannot be resolved; {way_out}"))
    };
    match error {
        E::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            let message = format!("{server} could not be reached within {} s", CONNECT_TIMEOUT.as_secs());
            Failure { unsent: true, timed_out: false, message }
        }
        E::Timeout(_) => Failure { timed_out: true, ..Failure::new("the time ran out") },
        E::HostNotFound => unknown_host(),
        E::ConnectionFailed => Failure::unsent(format!("{server} could not be reached")),
        E::ConnectProxyFailed(reason) => proxy_refused(&reason),
        E::InvalidProxyUrl => Failure::new("the proxy cannot be used"),
        E::BodyExceedsLimit(limit) => Failure::new(format!("{server} sent more than {} MiB", limit >> 20)),
        E::LargeResponseHeader(..) => Failure::new(format!("{server} sent headers that are too large")),
        E::Protocol(_) | E::Http(_) => Failure::new(format!("{server} did not answer in HTTP")),
        E::Tls(_) | E::Pem(_) | E::TlsRequired => Failure::new(format!("no TLS connection to {server} could be made")),
        E::Rustls(error) => tls(&format!("{error:?}"), &server),
        E::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused => {
                Failure::unsent(format!("{server} refuses connections on port {}", url.port()))
            }
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::AddrNotAvailable => {
                Failure::unsent(format!("{server} could not be reached from this network"))
            }
            ErrorKind::InvalidData if error.get_ref().is_some() => {
                tls(&error.get_ref().map(|inner| format!("{inner:?}")).unwrap_or_default(), &server)
            }
            // The standard library has no kind for it; this is its own sentence, and Windows' number.
            _ if error.raw_os_error() == Some(11001) || error.to_string().contains("lookup address") => unknown_host(),
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                Failure { timed_out: true, ..Failure::new("the time ran out") }
            }
            _ => Failure::new(format!("{server} closed the connection before the answer was complete")),
        },
        _ => Failure::new(format!("the exchange with {server} failed")),
    }
}

fn proxy_refused(reason: &str) -> Failure {
    let status = reason.split(|c: char| !c.is_ascii_digit()).find(|digits| digits.len() == 3);
    Failure::new(match status {
        Some("407") => {
            "the proxy wants a user name and password (407); give them as http://user:password@proxy:port".to_string()
        }
        Some(status) => format!("the proxy refused the connection ({status})"),
        None => "the proxy did not answer".to_string(),
    })
}

/// rustls has no public path to its error type from here; the names of its variants are what is looked at, not shown.
fn tls(debug: &str, server: &str) -> Failure {
    let about = |words: &str| format!("the certificate of {server} {words}");
    let trust = "is signed by nobody whom this system trusts; if a proxy or a private authority signed it, put that \
                 authority's certificate into the file that SSL_CERT_FILE names";
    let message =
        if debug.contains("UnknownIssuer") || debug.contains("CaUsedAsEndEntity") || debug.contains("SelfSigned") {
            about(trust)
        } else if debug.contains("NotValidForName") {
            about("is for another name")
        } else if debug.contains("Expired") {
            about("has expired")
        } else if debug.contains("NotValidYet") {
            about("is not valid yet; check this machine's clock")
        } else if debug.contains("InvalidCertificate") {
            about("is not accepted")
        } else {
            format!("{server} did not answer in TLS; check https:// and the port")
        };
    Failure::new(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_or_refused_with_a_reason() {
        for (text, host, shown) in [
            ("https://api.anthropic.com", "api.anthropic.com", "https://api.anthropic.com/x"),
            ("HTTPS://API.Anthropic.com///", "api.anthropic.com", "https://api.anthropic.com/x"),
            ("http://127.0.0.1:8080/v1/", "127.0.0.1", "http://127.0.0.1:8080/v1/x"),
            ("http://[::1]:11434/v1", "::1", "http://[::1]:11434/v1/x"),
            ("https://h/a?api-version=1", "h", "https://h/a/x?api-version=1"),
        ] {
            let url = Url::parse(text).expect(text);
            assert_eq!((url.host(), url.join("/x").to_string().as_str()), (host, shown));
        }
        for text in [
            "",
            "api.anthropic.com",
            "ftp://x",
            "https://",
            "https://u:p@h",
            "https://u@h",
            "https://h:99999",
            "https://h:x",
            "https://h#f",
            "https://h h",
            "https://h\n",
            "https://hé",
            "https://[::g]",
            "https://a\\b",
            "https://h:",
            "https://:1",
        ] {
            assert!(Url::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn loopback_is_this_machine_and_no_look_alike() {
        for text in [
            "http://localhost",
            "http://a.localhost:1",
            "http://127.9.9.9",
            "http://[::1]",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert!(Url::parse(text).expect(text).is_loopback(), "{text}");
        }
        for text in
            ["http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://128.0.0.1", "http://[::2]"]
        {
            assert!(!Url::parse(text).expect(text).is_loopback(), "{text}");
        }
    }

    #[test]
    fn a_redirect_is_told_by_its_host_alone() {
        let host = |location: &str| {
            Response { status: 302, headers: vec![("location".into(), location.into())], body: vec![] }.redirect_host()
        };
        assert_eq!(host("https://evil.example:1/steal?key=1").as_deref(), Some("evil.example:1"));
        assert_eq!(host("https://u:p@evil.example/").as_deref(), Some("evil.example"));
        assert_eq!(host("//evil.example").as_deref(), Some("evil.example"));
        assert_eq!(host("/login"), None);
    }
}
