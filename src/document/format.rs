//! Which format is this? By name: content is looked at only where the name says nothing.

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// YAML, one document or many.
    Yaml,
    /// JSON (RFC 8259). Comments and trailing commas are accepted with a warning, because files named `.json` have them.
    Json,
    /// JSON with comments and trailing commas, without the warning.
    Jsonc,
    /// JSON5 (<https://spec.json5.org>).
    Json5,
}

/// Every format with its word, in the order of help texts.
const WORDS: [(Format, &str); 4] =
    [(Format::Yaml, "yaml"), (Format::Json, "json"), (Format::Jsonc, "jsonc"), (Format::Json5, "json5")];

/// Endings of file names, dot included, lower case.
const ENDINGS: &[(&str, Format)] = &[
    (".yaml", Format::Yaml),
    (".yml", Format::Yaml),
    (".json", Format::Json),
    (".webmanifest", Format::Json),
    (".geojson", Format::Json),
    (".ipynb", Format::Json),
    (".avsc", Format::Json),
    (".jsonc", Format::Jsonc),
    (".code-workspace", Format::Jsonc),
    (".code-snippets", Format::Jsonc),
    (".json5", Format::Json5),
];

/// Whole names, lower case: files that have no ending, or one that says something else.
const NAMES: &[(&str, Format)] = &[
    (".clang-format", Format::Yaml),
    (".clang-tidy", Format::Yaml),
    (".yamllint", Format::Yaml),
    (".prettierrc", Format::Yaml),
    ("citation.cff", Format::Yaml),
    ("pipfile.lock", Format::Json),
    ("composer.lock", Format::Json),
    ("flake.lock", Format::Json),
    (".babelrc", Format::Jsonc),
    (".eslintrc", Format::Jsonc),
    (".eslintrc.json", Format::Jsonc),
    (".jshintrc", Format::Jsonc),
    (".swcrc", Format::Jsonc),
    (".hintrc", Format::Jsonc),
    (".devcontainer.json", Format::Jsonc),
    ("devcontainer.json", Format::Jsonc),
    ("deno.json", Format::Jsonc),
    ("wrangler.json", Format::Jsonc),
];

impl Format {
    /// The format of a file by its name; folders before it are looked at only for `.vscode/`. `None` where the name does
    /// not tell.
    ///
    /// ```
    /// use flecto::document::Format;
    /// assert_eq!(Format::from_name("config/prod.yml"), Some(Format::Yaml));
    /// assert_eq!(Format::from_name("tsconfig.base.json"), Some(Format::Jsonc));
    /// assert_eq!(Format::from_name("photo.png"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Format> {
        let lower = name.to_ascii_lowercase();
        let mut parts = lower.rsplit(['/', '\\']);
        let (file, folder) = (parts.next()?, parts.next());
        if let Some((_, format)) = NAMES.iter().find(|(whole, _)| *whole == file) {
            return Some(*format);
        }
        let commented = file.starts_with("tsconfig") || file.starts_with("jsconfig") || folder == Some(".vscode");
        if commented && file.ends_with(".json") {
            return Some(Format::Jsonc);
        }
        ENDINGS.iter().find(|(ending, _)| file.ends_with(ending)).map(|(_, format)| *format)
    }

    /// The format that `--input-format` and records call by this word.
    pub fn from_word(word: &str) -> Option<Format> {
        WORDS.iter().find(|(_, known)| *known == word).map(|(format, _)| *format)
    }

    /// Its word.
    pub fn as_str(self) -> &'static str {
        WORDS.iter().find(|(format, _)| *format == self).map_or("yaml", |(_, word)| word)
    }

    /// Every word, for help and for the error about a wrong one.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(_, word)| *word)
    }

    /// Every ending of a file name that is known, for the error about an unknown one.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        ENDINGS.iter().map(|(ending, _)| *ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for word in Format::words() {
            assert_eq!(Format::from_word(word).map(Format::as_str), Some(word));
        }
        assert_eq!(Format::from_word("YAML"), None);
    }

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("a.yaml", Some(Format::Yaml)),
            ("A.YML", Some(Format::Yaml)),
            ("x/y.json", Some(Format::Json)),
            (".vscode/settings.json", Some(Format::Jsonc)),
            ("x/.vscode/a/settings.json", Some(Format::Json)),
            ("tsconfig.json", Some(Format::Jsonc)),
            (".eslintrc", Some(Format::Jsonc)),
            ("a.json5", Some(Format::Json5)),
            ("yaml", None),
            ("a.yaml.bak", None),
            ("", None),
        ] {
            assert_eq!(Format::from_name(name), format, "{name}");
        }
    }
}
