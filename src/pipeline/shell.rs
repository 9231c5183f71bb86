//! What would a person type? The plan as lines for a POSIX shell, which give the same bytes and the same exit status.

use super::{Answer, Argument, Place, Plan, Program, Question, Stage};
use crate::environment::{FORGE_TOKENS, MODEL_KEYS};
use std::ffi::OsStr;
use std::path::Path;

impl Plan {
    /// The lines, as bytes: a file name need not be UTF-8. Programs stand in them by name, so they run what PATH finds.
    pub fn to_shell(&self) -> Vec<u8> {
        let mut out = Script::default();
        let hide = Hide::of(self);
        out.line(["("]);
        out.lines(hide.lines());
        if let Some(folder) = &self.directory {
            out.line([b"CDPATH= cd -- ".as_slice(), &path(folder), b" || exit 2"]);
        }
        if !self.attached.is_empty() {
            out.line(["attached=$(mktemp -d) || exit 2"]);
            out.line(["trap 'rm -rf \"$attached\"' EXIT"]);
            for file in &self.attached {
                let name = quote(OsStr::new(&file.name));
                let from = format!("git cat-file blob {} >\"$attached\"/", file.id);
                out.line([from.as_bytes(), &name, b" || exit 2"]);
            }
        }
        let to_file = self.output.as_ref().map_or_else(Vec::new, |file| [b" >", path(file).as_slice()].concat());
        match &self.question {
            None if self.post.is_none() && self.summary.is_none() => out.line([hide.pipe(self.line()), to_file]),
            None => {
                let line = if self.summary.is_some() {
                    out.line([b"records=$(".as_slice(), &hide.pipe(&self.judge), b")"]);
                    [b"printf '%s\\n' \"$records\" | ".as_slice(), &hide.pipe([&self.show])].concat()
                } else {
                    hide.pipe(self.line())
                };
                self.report(&mut out, &hide, &line, &to_file, "status=$?");
                self.summarize(&mut out, &hide, "");
                out.line(["exit \"$status\""]);
            }
            Some(question) => self.with_question(&mut out, &hide, question, &to_file),
        }
        out.line([")"]);
        out.0
    }

    fn with_question(&self, out: &mut Script, hide: &Hide, question: &Question, to_file: &[u8]) {
        out.line([b"records=$(".as_slice(), &hide.pipe(&self.judge), b")"]);
        let show = hide.pipe([&self.show]);
        let (masks, rest): (Vec<&Stage>, Vec<&Stage>) =
            question.stages.iter().partition(|stage| stage.program == Program::Mask);
        let mask =
            [b"masked=$(printf '%s\\n' \"$records\" | ".as_slice(), &hide.pipe(masks), b") || status=2"].concat();
        let ask = [b"printf '%s\\n' \"$masked\" | ".as_slice(), &hide.pipe(rest)].concat();
        match &question.answer {
            Answer::After(stage, place) => {
                let report = [b"printf '%s\\n' \"$records\" | ".as_slice(), &show].concat();
                self.report(out, hide, &report, to_file, "status=$?");
                out.line([mask]);
                let to = match place {
                    Place::Stderr => b" >&2".to_vec(),
                    Place::Stdout => Vec::new(),
                    Place::File(file) => [b" >".as_slice(), &path(file)].concat(),
                };
                let then = stage.as_ref().map(|stage| [b" | ".as_slice(), &hide.pipe([stage])].concat());
                out.line([ask, then.unwrap_or_default(), to]);
                self.summarize(out, hide, "");
            }
            Answer::Live => {
                let report = [b"printf '%s\\n' \"$records\" | ".as_slice(), &show].concat();
                self.report(out, hide, &report, to_file, "status=$?");
                out.line([mask]);
                out.line([ask, b" >/dev/null".to_vec()]);
                self.summarize(out, hide, "");
            }
            Answer::Within => {
                out.line(["status=0"]);
                out.line([mask]);
                out.line([b"narration=$(".as_slice(), &ask, b" | grep '^{\"type\":\"narration\"')"]);
                let report = [b"printf '%s\\n' \"$records\" \"$narration\" | ".as_slice(), &show].concat();
                let keep_worse = "shown=$?; [ \"$status\" -eq 2 ] || status=$shown";
                self.report(out, hide, &report, to_file, keep_worse);
                self.summarize(out, hide, " \"$narration\"");
            }
        }
        out.line(["exit \"$status\""]);
    }

    /// Prints the report that a command writes, notes its status, and hands it to whoever gets it after that.
    fn report(&self, out: &mut Script, hide: &Hide, command: &[u8], to_file: &[u8], status: &str) {
        let Some(post) = &self.post else {
            out.line([command, to_file]);
            out.line([status]);
            return;
        };
        out.line([b"report=$(".as_slice(), command, b")"]);
        out.line([status]);
        out.line([b"printf '%s\\n' \"$report\"".as_slice(), to_file]);
        out.line([b"printf '%s\\n' \"$report\" | ".as_slice(), &hide.pipe([post]), b" >/dev/null"]);
    }

    /// Shows the records once more, and what else stands in the report, for the job's summary.
    fn summarize(&self, out: &mut Script, hide: &Hide, more: &str) {
        if let Some(summary) = &self.summary {
            let stages = hide.pipe([&summary.show, &summary.append]);
            let from = format!("printf '%s\\n' \"$records\"{more} | ");
            out.line([from.as_bytes(), &stages, b" >/dev/null"]);
        }
    }
}

/// How the lines keep keys and tokens from the programs that may not see them: what no program of the plan needs is unset
/// for all of them, the rest by a function for each kind of program.
struct Hide {
    asks: bool,
    posts: bool,
}

impl Hide {
    fn of(plan: &Plan) -> Hide {
        let has = |program| plan.stages().any(|stage| stage.program == program);
        Hide { asks: has(Program::Narrate), posts: has(Program::Post) }
    }

    fn lines(&self) -> Vec<Vec<u8>> {
        let (keys, tokens) = (MODEL_KEYS.join(" "), FORGE_TOKENS.join(" "));
        let function = |name: &str, unset: &str| format!("{name}() ( unset {unset}; exec \"$@\" )").into_bytes();
        let mut out = Vec::new();
        match self.posts {
            false => out.push(format!("unset {tokens}").into_bytes()),
            true => out.push(function("tokenless", &tokens)),
        }
        match self.asks {
            false => out.push(format!("unset {keys}").into_bytes()),
            true => out.push(function("keyless", &keys)),
        }
        if self.asks && self.posts {
            out.push(function("bare", &format!("{keys} {tokens}")));
        }
        out
    }

    /// What stands before a program's name.
    fn prefix(&self, program: Program) -> &'static str {
        match (self.asks && program != Program::Narrate, self.posts && program != Program::Post) {
            (true, true) => "bare ",
            (true, false) => "keyless ",
            (false, true) => "tokenless ",
            (false, false) => "",
        }
    }

    /// Stages joined by pipes. `flecto-diff` reads no records, and would otherwise hold the shell's own input, which may be
    /// these lines.
    fn pipe<'a>(&self, stages: impl IntoIterator<Item = &'a Stage>) -> Vec<u8> {
        let mut commands = Vec::new();
        for stage in stages {
            let mut command = self.prefix(stage.program).as_bytes().to_vec();
            command.extend_from_slice(stage.program.name().as_bytes());
            for argument in &stage.arguments {
                command.push(b' ');
                match argument {
                    Argument::Word(word) => command.extend(quote(word)),
                    Argument::Attached(name) => {
                        command.extend_from_slice(b"\"$attached\"/");
                        command.extend(quote(OsStr::new(name)));
                    }
                }
            }
            if stage.program == Program::Diff {
                command.extend_from_slice(b" </dev/null");
            }
            commands.push(command);
        }
        commands.join(b" | ".as_slice())
    }
}

#[derive(Default)]
struct Script(Vec<u8>);

impl Script {
    fn line<P: AsRef<[u8]>, const N: usize>(&mut self, parts: [P; N]) {
        parts.iter().for_each(|part| self.0.extend_from_slice(part.as_ref()));
        self.0.push(b'\n');
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = Vec<u8>>) {
        lines.into_iter().for_each(|line| self.line([line]));
    }
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
