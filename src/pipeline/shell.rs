//! What would a person type? The plan as lines for a POSIX shell, which give the same bytes and the same exit status.

use super::{Answer, Place, Plan, Program, Stage};
use crate::environment::{FORGE_TOKENS, MODEL_KEYS};
use std::ffi::OsStr;
use std::path::Path;

impl Plan {
    /// The lines, as bytes: a file name need not be UTF-8. Programs stand in them by name, so they run what PATH finds.
    pub fn to_shell(&self) -> Vec<u8> {
        let mut out = Script::default();
        out.line(["(".into()]);
        out.line([format!("unset {}", FORGE_TOKENS.join(" ")).into()]);
        if let Some(folder) = &self.directory {
            out.line([b"CDPATH= cd -- ".to_vec(), path(folder), b" || exit 2".to_vec()]);
        }
        match &self.question {
            None if self.line().all(|stage| stage.program != Program::Narrate) => {
                out.line([format!("unset {}", MODEL_KEYS.join(" ")).into()]);
                out.line([pipe(self.line(), ""), self.redirect()]);
            }
            None => {
                out.keyless();
                out.line([pipe(self.line(), "keyless "), self.redirect()]);
            }
            Some(question) => {
                out.keyless();
                out.line([b"records=$(".to_vec(), pipe(&self.judge, "keyless "), b")".to_vec()]);
                let show = pipe([&self.show], "keyless ");
                let (mask, rest) = match question.stages.split_first() {
                    Some((first, rest)) if first.program == Program::Mask => (Some(first), rest),
                    _ => (None, question.stages.as_slice()),
                };
                let masked = mask.map_or("$records", |_| "$masked");
                let masking = mask.map(|mask| {
                    let command = pipe([mask], "keyless ");
                    [b"masked=$(printf '%s\\n' \"$records\" | ".to_vec(), command, b") || trouble=2".to_vec()].concat()
                });
                let ask = [format!("printf '%s\\n' \"{masked}\" | ").into_bytes(), pipe(rest, "keyless ")].concat();
                match &question.answer {
                    Answer::After(stage, place) => {
                        out.line([b"printf '%s\\n' \"$records\" | ".to_vec(), show, self.redirect()]);
                        out.line([b"trouble=$?".to_vec()]);
                        out.lines(masking);
                        let to = match place {
                            Place::Stderr => b" >&2".to_vec(),
                            Place::Stdout => Vec::new(),
                            Place::File(file) => [b" >".to_vec(), path(file)].concat(),
                        };
                        let then = stage.iter().map(|stage| [b" | ".to_vec(), pipe([stage], "keyless ")].concat());
                        out.line([ask, then.collect::<Vec<_>>().concat(), to]);
                        out.line([b"exit \"$trouble\"".to_vec()]);
                    }
                    Answer::Within => {
                        out.line([b"trouble=0".to_vec()]);
                        out.lines(masking);
                        out.line([b"narration=$(".to_vec(), ask, b" | grep '^{\"type\":\"narration\"')".to_vec()]);
                        out.line([b"printf '%s\\n' \"$records\" \"$narration\" | ".to_vec(), show, self.redirect()]);
                        out.line([b"status=$?".to_vec()]);
                        out.line([b"[ \"$trouble\" -eq 0 ] || exit \"$trouble\"".to_vec()]);
                        out.line([b"exit \"$status\"".to_vec()]);
                    }
                }
            }
        }
        out.line([b")".to_vec()]);
        out.0
    }

    fn redirect(&self) -> Vec<u8> {
        self.output.as_ref().map_or_else(Vec::new, |file| [b" >".to_vec(), path(file)].concat())
    }
}

#[derive(Default)]
struct Script(Vec<u8>);

impl Script {
    fn line<const N: usize>(&mut self, parts: [Vec<u8>; N]) {
        self.0.extend(parts.concat());
        self.0.push(b'\n');
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = Vec<u8>>) {
        lines.into_iter().for_each(|line| self.line([line]));
    }

    /// A function that runs a program without the model's keys.
    fn keyless(&mut self) {
        self.line([format!("keyless() ( unset {}; exec \"$@\" )", MODEL_KEYS.join(" ")).into()]);
    }
}

/// Stages joined by pipes; `keyless` stands before those that may not see the keys. `flecto-diff` reads no records, and
/// would otherwise hold the shell's own input, which may be these lines.
fn pipe<'a>(stages: impl IntoIterator<Item = &'a Stage>, keyless: &str) -> Vec<u8> {
    let mut commands = Vec::new();
    for stage in stages {
        let mut command = Vec::new();
        if stage.program != Program::Narrate {
            command.extend_from_slice(keyless.as_bytes());
        }
        command.extend_from_slice(stage.program.name().as_bytes());
        for argument in &stage.arguments {
            command.push(b' ');
            command.extend(quote(argument));
        }
        if stage.program == Program::Diff {
            command.extend_from_slice(b" </dev/null");
        }
        commands.push(command);
    }
    commands.join(b" | ".as_slice())
}

/// A path that no command takes for an option.
fn path(path: &Path) -> Vec<u8> {
    let quoted = quote(path.as_os_str());
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") { [b"./".to_vec(), quoted].concat() } else { quoted }
}

/// A word that the shell reads as these bytes: plain where it can be, else in single quotes.
fn quote(word: &OsStr) -> Vec<u8> {
    let bytes = word.as_encoded_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+.,/:@%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    let mut out = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            byte => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_when_they_must_be() {
        let quoted = |word: &str| String::from_utf8(quote(OsStr::new(word))).expect("text");
        assert_eq!(quoted("config/prod.yaml"), "config/prod.yaml");
        assert_eq!(quoted("config/**/*.{yaml,yml}"), "'config/**/*.{yaml,yml}'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("~root"), "'~root'");
        assert_eq!(quoted("a=b"), "'a=b'");
        assert_eq!(quoted("$(touch x)`x`\n"), "'$(touch x)`x`\n'");
    }
}
