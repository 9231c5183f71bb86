//! Was this asked before? Answers on disk that nobody without the key can read the name of, plant or alter.
//!
//! An entry is a file whose name is an HMAC over everything that shapes the answer, and whose first line is an HMAC over its
//! name and its content. The key is the API key: who lacks it can neither compute a name nor sign a content, so a cache that
//! a CI system restores from an attacker's branch is at worst empty. Where there is no API key it is a random one of the
//! user's, in the configuration folder. What cannot be confirmed is a miss.

use super::plan::Plan;
use super::reply::{Reply, Usage};
use super::request::{METHOD, Request};
use crate::environment;
use crate::json::Object;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The version of what an entry holds. Another one is another name.
const FORMAT: &str = "flecto explain 1";

/// The largest entry that is read: far above the longest narration.
const MAX_ENTRY: u64 = 1 << 20;

/// A folder of answers, and the key that names and signs them.
#[derive(Debug)]
pub(super) struct Cache {
    dir: PathBuf,
    key: Vec<u8>,
}

/// Why answers cannot be kept.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no place for them on this system, or no key: the narration goes on without.
    NoPlace,
    /// There is a place, and it cannot be used. A sentence.
    Unusable(String),
}

impl Cache {
    /// Opens the folder, and makes it if it is not there.
    pub(super) fn open(plan: &Plan) -> Result<Cache, Trouble> {
        let dir = match &plan.cache_dir {
            Some(dir) => dir.clone(),
            None => default_dir().ok_or(Trouble::NoPlace)?,
        };
        let key = match &plan.key {
            Some(key) => key.secret.as_bytes().to_vec(),
            None => own_key().ok_or(Trouble::NoPlace)?,
        };
        private_dir(&dir).map_err(|what| {
            let way_out = "mend it, name another with FLECTO_EXPLAIN_CACHE_DIR, or use --no-cache";
            Trouble::Unusable(format!("the cache folder {} {what}; {way_out}", dir.display()))
        })?;
        Ok(Cache { dir, key })
    }

    fn mac(&self, use_of: &str, parts: &[&str]) -> Hmac<Sha256> {
        // A key of any length is taken; the error type is there for other algorithms.
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).unwrap_or_else(|_| unreachable!("any key length"));
        for part in [FORMAT, use_of].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }

    /// The name of the entry for a request.
    pub(super) fn name(&self, plan: &Plan, request: &Request) -> String {
        // The whole command line, each word with its length.
        let target = match &plan.url {
            Some(url) => url.to_string(),
            None => plan.command.iter().fold(String::new(), |out, word| format!("{out}{}:{word}", word.len())),
        };
        // The key is what names are made with; it is not among what is named.
        let headers = request.shown_headers(plan).into_iter().fold(String::new(), |mut out, (name, value)| {
            let _ = writeln!(out, "{name}: {value}");
            out
        });
        hex(&self
            .mac("name", &[METHOD, &target, plan.provider.as_str(), &plan.model, &headers, &request.body])
            .finalize()
            .into_bytes())
    }

    /// The answer that is kept under a name. Corrupt, foreign and forged entries are none.
    pub(super) fn get(&self, name: &str) -> Option<Reply> {
        let path = self.dir.join(name);
        // Not a link, a pipe or a device that somebody put there.
        fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let mut text = String::new();
        File::open(path).ok()?.take(MAX_ENTRY).read_to_string(&mut text).ok()?;
        let (tag, content) = text.split_once('\n')?;
        self.mac("entry", &[name, content]).verify_slice(&unhex(tag)?).ok()?;
        let value: Value = serde_json::from_str(content).ok()?;
        let usage = &value["usage"];
        let usage = usage["input_tokens"].as_u64().zip(usage["output_tokens"].as_u64());
        Some(Reply {
            text: super::clean::clean(value["text"].as_str()?),
            model: value["model"].as_str().map(|model| super::clean::one_line(model, 100)),
            usage: usage.map(|(input, output)| Usage {
                input,
                output,
                thinking: value["usage"]["thinking_tokens"].as_u64(),
            }),
            cut: None,
            note: None,
        })
        .filter(|reply| !reply.text.is_empty())
    }

    /// Keeps an answer: whole, or not at all.
    pub(super) fn put(&self, name: &str, reply: &Reply) -> io::Result<()> {
        let mut object = Object::new();
        object.str("text", &reply.text).opt_str("model", reply.model.as_deref());
        object.opt_raw("usage", reply.usage.map(Usage::to_json).as_deref());
        let content = object.finish();
        let tag = hex(&self.mac("entry", &[name, &content]).finalize().into_bytes());
        write_private(&self.dir, name, format!("{tag}\n{content}").as_bytes())
    }
}

/// Writes a file that is the user's alone, and puts it in its place in one step. A link in that place is replaced.
fn write_private(dir: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let mut file = private_file(dir)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(dir.join(name)).map(drop).map_err(|error| error.error)
}

fn private_file(dir: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tmp-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o600));
    }
    builder.tempfile_in(dir)
}

/// Makes a folder that is the user's alone, or makes sure that one is. Says what is wrong with it otherwise.
fn private_dir(dir: &Path) -> Result<(), String> {
    let say = |what: &str, error: &io::Error| format!("{what} ({})", error.kind());
    make_dir(dir).map_err(|error| say("cannot be made", &error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(dir).map_err(|error| say("cannot be read", &error))?.permissions().mode();
        if mode & 0o077 != 0 {
            // Somebody else's files in it: then it is not ours to close.
            let entries = fs::read_dir(dir).map_err(|error| say("cannot be read", &error))?;
            if entries.flatten().any(|entry| !is_ours(&entry.file_name().to_string_lossy())) {
                return Err("is open to others and holds other files".to_string());
            }
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
                .map_err(|error| say("is open to others", &error))?;
        }
    }
    private_file(dir).map(drop).map_err(|error| say("cannot be written", &error))
}

#[cfg(unix)]
fn is_ours(name: &str) -> bool {
    name.starts_with(".tmp-") || name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(dir)
}

/// `$XDG_CACHE_HOME/flecto/explain`, else `~/.cache/flecto/explain`, on macOS too: one place to find, to clear and to name in
/// a CI system's settings.
pub(super) fn default_dir() -> Option<PathBuf> {
    if cfg!(windows) {
        return absolute("LOCALAPPDATA").map(|dir| dir.join("flecto").join("explain-cache"));
    }
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(home()?.join(".cache")))?;
    Some(base.join("flecto").join("explain"))
}

/// The folder of the random key, beside the user's other settings and apart from the cache that it protects.
fn config_dir() -> Option<PathBuf> {
    if cfg!(windows) {
        return absolute("APPDATA").map(|dir| dir.join("flecto"));
    }
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))?;
    Some(base.join("flecto"))
}

fn home() -> Option<PathBuf> {
    dirs::home_dir().filter(|home| home.is_absolute())
}

/// A folder that a variable names. The XDG specification has a relative one ignored.
fn absolute(variable: &str) -> Option<PathBuf> {
    environment::text(variable).map(PathBuf::from).filter(|dir| dir.is_absolute())
}

/// The user's random key, made when it is not there, or when others could have read it.
fn own_key() -> Option<Vec<u8>> {
    let dir = config_dir()?;
    let path = dir.join("cache-key");
    if let Some(key) = read_key(&path) {
        return Some(key);
    }
    make_dir(&dir).ok()?;
    let mut key = [0; 32];
    getrandom::fill(&mut key).ok()?;
    write_private(&dir, "cache-key", hex(&key).as_bytes()).ok()?;
    // Of two that were made at once, the last is the one that stays.
    read_key(&path)
}

fn read_key(path: &Path) -> Option<Vec<u8>> {
    let data = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if data.permissions().mode() & 0o077 != 0 {
            return None;
        }
    }
    let mut text = String::new();
    File::open(path).ok()?.take(data.len().min(1024)).read_to_string(&mut text).ok()?;
    unhex(text.trim_end()).filter(|key| key.len() == 32)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
