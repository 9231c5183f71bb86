//! Where is a file, for a tool that knows the repository and not the folder that flecto was started in?

use std::fmt::Write as _;

/// The way from the top level of the repository to the folder that the names in the records are relative to.
#[derive(Clone, Debug, Default)]
pub(super) struct Root {
    prefix: Vec<String>,
}

impl Root {
    /// From a relative path with `/`; the empty one is the top level itself.
    pub(super) fn new(prefix: &str) -> Root {
        Root { prefix: prefix.split('/').filter(|s| !s.is_empty() && *s != ".").map(str::to_string).collect() }
    }

    /// A file's name relative to the top level. One that lies outside of it keeps its `..`.
    pub(super) fn path(&self, name: &str) -> String {
        let (up, parts) = self.resolve(name);
        let mut out = "../".repeat(up);
        out.push_str(&parts.join("/"));
        out
    }

    /// A file's name as a relative URI reference (RFC 3986), or as a `file:` URI when it lies outside of the top level, so
    /// that it is never taken for another file inside.
    pub(super) fn uri(&self, name: &str) -> String {
        let (up, parts) = self.resolve(name);
        let mut out = String::from(if up > 0 { "file:///" } else { "" });
        for byte in parts.join("/").bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "%{byte:02X}");
            }
        }
        out
    }

    /// How many folders above the top level, and the way down from there.
    fn resolve<'a>(&'a self, name: &'a str) -> (usize, Vec<&'a str>) {
        let mut up = 0;
        let mut parts: Vec<&str> = Vec::new();
        for part in self.prefix.iter().map(String::as_str).chain(name.split('/')) {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        up += 1;
                    }
                }
                part => parts.push(part),
            }
        }
        (up, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::Root;

    #[test]
    fn names_are_relative_to_the_top_level() {
        let root = Root::new("services/api");
        assert_eq!(root.path("config/prod.yaml"), "services/api/config/prod.yaml");
        assert_eq!(root.path("../web/x.yaml"), "services/web/x.yaml");
        assert_eq!(Root::default().path("../x.yaml"), "../x.yaml");
    }

    #[test]
    fn uris_are_encoded_and_stay_inside() {
        let root = Root::default();
        assert_eq!(root.uri("a:b.yaml"), "a%3Ab.yaml");
        assert_eq!(root.uri("config\\eu/ä,title=x::b.yaml"), "config%5Ceu/%C3%A4%2Ctitle%3Dx%3A%3Ab.yaml");
        assert_eq!(root.uri("../shared/prod.yaml"), "file:///shared/prod.yaml");
    }
}
