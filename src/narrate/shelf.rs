//! What lies in the cache, and what may go? Counts entries and deletes them, and nothing else that may be in that folder.
//!
//! Whether an entry counts for a request only its key can tell, and that is not asked for here: an entry is what is named and
//! built like one. A link is none, whatever it points to, and no link is followed.

use super::cache;
use super::plan;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The folder of the cache.
#[derive(Debug)]
pub struct Shelf {
    dir: PathBuf,
}

/// What was found, or deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    /// Entries.
    pub entries: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Whatever else is in the folder.
    pub others: u64,
}

impl Shelf {
    /// The folder that `FLECTO_EXPLAIN_CACHE_DIR` names, else the usual one. It need not be there.
    ///
    /// # Errors
    /// Why there is no such folder, or why it is not to be trusted: a sentence.
    pub fn open() -> Result<Shelf, String> {
        let own = plan::cache_dir().map_err(|reason| reason.text().to_string())?;
        let dir = own.or_else(cache::default_dir).ok_or("there is no home to keep a cache in")?;
        match fs::symlink_metadata(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{} cannot be read ({})", dir.display(), error.kind())),
            Ok(data) if data.is_symlink() => {
                return Err(format!(
                    "{} is a link; name the folder itself with FLECTO_EXPLAIN_CACHE_DIR",
                    dir.display()
                ));
            }
            Ok(data) if !data.is_dir() => return Err(format!("{} is no folder", dir.display())),
            #[cfg(unix)]
            Ok(data) => {
                use std::os::unix::fs::MetadataExt as _;
                if data.uid() != rustix::process::geteuid().as_raw() {
                    return Err(format!("{} belongs to somebody else", dir.display()));
                }
            }
            #[cfg(not(unix))]
            Ok(_) => {}
        }
        Ok(Shelf { dir })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.dir
    }

    /// What is in it.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn look(&self) -> io::Result<Stock> {
        self.each(|_, _| Ok(()))
    }

    /// Deletes the entries that are older than this, all of them for `None`, and what a run that was killed left half
    /// written. Says what was deleted; `others` are what was left alone.
    ///
    /// # Errors
    /// A folder that cannot be read, an entry that cannot be deleted.
    pub fn delete(&self, older_than: Option<Duration>) -> io::Result<Stock> {
        let now = SystemTime::now();
        let mut gone = Stock::default();
        let all = self.each(|path, data| {
            // An entry from the future has no age.
            let age = data.modified().ok().and_then(|at| now.duration_since(at).ok()).unwrap_or_default();
            if older_than.is_none_or(|limit| age > limit) {
                fs::remove_file(path)?;
                gone.entries += 1;
                gone.bytes += data.len();
            }
            Ok(())
        })?;
        Ok(Stock { others: all.others, ..gone })
    }

    fn each(&self, mut entry: impl FnMut(&Path, &fs::Metadata) -> io::Result<()>) -> io::Result<Stock> {
        let mut stock = Stock::default();
        let list = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(stock),
            list => list?,
        };
        for item in list {
            let item = item?;
            let (name, path) = (item.file_name().to_string_lossy().into_owned(), item.path());
            // Of the thing itself, not of what a link points to.
            let data = match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                data => data?,
            };
            if data.is_file() && is_entry(&name, &path) || data.is_file() && is_left_over(&name, &data) {
                stock.entries += 1;
                stock.bytes += data.len();
                entry(&path, &data)?;
            } else {
                stock.others += 1;
            }
        }
        Ok(stock)
    }
}

/// Named by an HMAC, and beginning with one.
fn is_entry(name: &str, path: &Path) -> bool {
    let is_mac = |text: &[u8]| text.len() == 64 && text.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b));
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(66).read_to_end(&mut head));
    is_mac(name.as_bytes()) && read.is_ok() && head.len() == 66 && is_mac(&head[..64]) && head.ends_with(b"\n{")
}

/// What was being written when its writer was killed, an hour ago or more.
fn is_left_over(name: &str, data: &fs::Metadata) -> bool {
    let rest = name.strip_prefix(".tmp-").unwrap_or_default();
    let old = data.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age.as_secs() > 3600);
    rest.len() == 6 && rest.bytes().all(|b| b.is_ascii_alphanumeric()) && old
}
