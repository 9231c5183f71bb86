//! What is there to look at? Configuration files, what each is for, and which packs of rules judge it.

use crate::diff;
use crate::document::Format;
use crate::rules;
use std::collections::BTreeMap;
use std::path::Path;

/// A file that is there, from the top level of the repository.
pub(super) struct File {
    pub(super) name: String,
    /// What it is for, by its content.
    pub(super) kinds: Vec<&'static str>,
}

/// How many bytes of a file are read to see what it is for, and of how many files.
const MAX_BYTES: u64 = 1 << 20;
const MAX_READ: usize = 2000;

/// Those of some files that flecto can read by their name.
pub(super) fn files(top: &Path, names: impl IntoIterator<Item = String>) -> Vec<File> {
    let mut read = 0;
    let known = names.into_iter().filter(|name| Format::from_name(name).is_some());
    known
        .map(|name| {
            let path = top.join(&name);
            let small = path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES);
            let bytes = if small && read < MAX_READ { std::fs::read(path).ok() } else { None };
            read += usize::from(bytes.is_some());
            let kinds = bytes.map_or_else(Vec::new, |bytes| diff::kinds(&name, &bytes));
            File { name, kinds }
        })
        .collect()
}

/// The packs that judge these files without being named: those for every file, and those for some with how many.
pub(super) fn packs(files: &[File]) -> Result<(Vec<&'static str>, BTreeMap<&'static str, usize>), String> {
    let (mut every, mut some) = (Vec::new(), BTreeMap::new());
    for name in rules::builtin_names() {
        let fits = &rules::read_builtin(name)?.fits;
        if fits.all {
            every.push(name);
        } else {
            let count = files.iter().filter(|file| fits.takes(&file.name, &file.kinds)).count();
            if count > 0 {
                some.insert(name, count);
            }
        }
    }
    Ok((every, some))
}

/// The same as a line of text.
pub(super) fn told(files: &[File]) -> Result<String, String> {
    let (every, some) = packs(files)?;
    let some = some.into_iter().map(|(name, count)| format!("{name} ({})", crate::text::count(count as u64, "file")));
    Ok(every.into_iter().map(str::to_string).chain(some).collect::<Vec<_>>().join(", "))
}
