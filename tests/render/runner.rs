//! What would a CI runner do with this output? The parsers of GitHub's, Azure's and other runners, written from their sources
//! and documentation, as strict as any of them.

use std::collections::BTreeMap;

/// A command that a runner would act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// `error`, `set-output`, …; those of other runners with their prefix, `vso:task.setvariable`.
    pub(crate) name: String,
    /// Properties, keys in lower case, decoded.
    pub(crate) properties: BTreeMap<String, String>,
    /// The text, decoded.
    pub(crate) data: String,
}

/// Every command in an output.
pub(crate) fn commands(output: &str) -> Vec<Command> {
    lines(output).into_iter().filter_map(command).collect()
}

/// LF, CRLF and a lone CR end a line for `StreamReader.ReadLine`.
fn lines(output: &str) -> Vec<&str> {
    output.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r')).collect()
}

/// actions/runner, ActionCommand.cs: the form with colons must start the trimmed line, the older one is found anywhere.
/// Unknown names count here too: another runner may know them.
fn command(line: &str) -> Option<Command> {
    if let Some(rest) = line.trim_start().strip_prefix("::")
        && let Some((head, data)) = rest.split_once("::")
    {
        let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
        return Some(Command {
            name: name.to_ascii_lowercase(),
            properties: pairs(properties, ','),
            data: decode(data, &[("%0D", "\r"), ("%0A", "\n"), ("%25", "%")]),
        });
    }
    if let Some((_, rest)) = line.split_once("##[")
        && let Some((head, data)) = rest.split_once(']')
    {
        let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
        return Some(Command { name: name.into(), properties: pairs(properties, ';'), data: data.into() });
    }
    for (prefix, runner) in [("##vso[", "vso"), ("##teamcity[", "teamcity")] {
        if let Some((_, rest)) = line.split_once(prefix) {
            return Some(Command {
                name: format!("{runner}:{rest}"),
                properties: BTreeMap::new(),
                data: String::new(),
            });
        }
    }
    let heading = ["--- ", "+++ ", "~~~ ", "^^^ ", "section_start:", "section_end:"];
    let name = heading.iter().find(|start| line.starts_with(**start))?;
    Some(Command { name: format!("heading:{name}"), properties: BTreeMap::new(), data: line.into() })
}

fn pairs(text: &str, separator: char) -> BTreeMap<String, String> {
    let escapes = [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")];
    text.split(separator)
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.trim().to_ascii_lowercase(), decode(value, &escapes)))
        .collect()
}

/// The runner's own order: `%25` last.
fn decode(text: &str, escapes: &[(&str, &str)]) -> String {
    escapes.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

#[test]
fn the_runner_finds_what_it_must() {
    let names = |output: &str| commands(output).into_iter().map(|c| c.name).collect::<Vec<_>>();
    assert_eq!(names("a\n\u{2003}::Error file=x::m\n"), ["error"]);
    assert_eq!(names("x\r::stop-commands::t\rrest"), ["stop-commands"]);
    assert_eq!(names("text ##[add-mask]main"), ["add-mask"]);
    assert_eq!(names("text ##vso[task.setvariable variable=a]b"), ["vso:task.setvariable variable=a]b"]);
    assert_eq!(names("std::vec::Vec\n a::b\n## [x]\n#\\#[x]y\n ##"), Vec::<String>::new());
    let found = commands("::warning file=a%2Cb%3A%3Ac=d.yaml,line=3::x%0A::y%25");
    assert_eq!(found[0].properties["file"], "a,b::c=d.yaml");
    assert_eq!(found[0].data, "x\n::y%");
}
