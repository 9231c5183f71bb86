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
    /// TOML 1.0 and 1.1.
    Toml,
    /// INI and its family.
    Ini,
    /// systemd units, which read almost as INI.
    Systemd,
    /// `KEY=VALUE` lines.
    Dotenv,
    /// Java properties.
    Properties,
    /// HCL: Terraform, Packer, Nomad, Terragrunt.
    Hcl,
}

/// Every format with its word, in the order of help texts.
const WORDS: &[(Format, &str)] = &[
    (Format::Yaml, "yaml"),
    (Format::Json, "json"),
    (Format::Jsonc, "jsonc"),
    (Format::Json5, "json5"),
    (Format::Toml, "toml"),
    (Format::Ini, "ini"),
    (Format::Systemd, "systemd"),
    (Format::Dotenv, "dotenv"),
    (Format::Properties, "properties"),
    (Format::Hcl, "hcl"),
];

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
    (".toml", Format::Toml),
    (".ini", Format::Ini),
    (".cfg", Format::Ini),
    (".cnf", Format::Ini),
    (".desktop", Format::Ini),
    (".repo", Format::Ini),
    (".env", Format::Dotenv),
    (".properties", Format::Properties),
    (".tf", Format::Hcl),
    (".hcl", Format::Hcl),
    (".tfvars", Format::Hcl),
    (".tofu", Format::Hcl),
    (".service", Format::Systemd),
    (".socket", Format::Systemd),
    (".timer", Format::Systemd),
    (".mount", Format::Systemd),
    (".automount", Format::Systemd),
    (".path", Format::Systemd),
    (".slice", Format::Systemd),
    (".swap", Format::Systemd),
    (".target", Format::Systemd),
    (".scope", Format::Systemd),
    (".device", Format::Systemd),
    (".link", Format::Systemd),
    (".netdev", Format::Systemd),
    (".network", Format::Systemd),
    (".container", Format::Systemd),
    (".volume", Format::Systemd),
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
    ("cargo.lock", Format::Toml),
    ("poetry.lock", Format::Toml),
    ("uv.lock", Format::Toml),
    ("pipfile", Format::Toml),
    (".editorconfig", Format::Ini),
    (".gitconfig", Format::Ini),
    (".gitmodules", Format::Ini),
    (".npmrc", Format::Ini),
    (".pylintrc", Format::Ini),
    (".coveragerc", Format::Ini),
    (".flake8", Format::Ini),
    (".pypirc", Format::Ini),
    ("pip.conf", Format::Ini),
    (".babelrc", Format::Json5),
    (".eslintrc", Format::Json5),
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
        if file.starts_with(".env.") && !file.ends_with(".enc") {
            return Some(Format::Dotenv);
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
            (".eslintrc", Some(Format::Json5)),
            ("a.json5", Some(Format::Json5)),
            (".env", Some(Format::Dotenv)),
            ("app/.env.production.local", Some(Format::Dotenv)),
            ("prod.env", Some(Format::Dotenv)),
            ("env", None),
            ("a.service", Some(Format::Systemd)),
            ("setup.cfg", Some(Format::Ini)),
            (".editorconfig", Some(Format::Ini)),
            ("yaml", None),
            ("a.yaml.bak", None),
            ("", None),
        ] {
            assert_eq!(Format::from_name(name), format, "{name}");
        }
    }
}
