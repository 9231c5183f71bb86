//! What can an assistant ask? Three tools, their arguments, and what each gives.
//!
//! A wrong argument is told as the tool's result and not as an error of the protocol: then the model that called reads it, and
//! can call again.

use super::Error;
use super::call::{Failed, Workshop};
use crate::json::{self, Object};
use crate::payload;
use crate::record::{Change, Record};
use serde_json::Value;
use std::ffi::OsString;

/// The most of a result, in bytes. A longer one would fill the context of whoever asked, and say less.
const MAX_RESULT: usize = 256 << 10;

const TARGETS: &str = r#""targets":{"type":"array","items":{"type":"string"},"description":"Files, folders or globs below the served folder, e.g. [\"config\"] or [\"**/*.yaml\"]. Without it: the files that the settings (.flectorc) name."}"#;
const SIDES: &str = r#""baseline":{"type":"string","description":"The commit to compare with: a branch, tag or id. Default: HEAD."},"to":{"type":"string","description":"Compare this commit instead of the working tree."},"merge_base":{"type":"boolean","description":"Compare with the common ancestor of both sides, as a pull request does."}"#;
const ANNOTATIONS: &str =
    r#"{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#;

/// The tools, as `tools/list` gives them.
pub(super) fn list() -> String {
    let check = r#","fail_on":{"type":"array","items":{"type":"string","enum":["changed","added","removed","policy","error","warn","info","none"]},"description":"What makes the gate fail. Default: the settings', else policy (a warning or an error)."}"#;
    let place = r#""file":{"type":"string","description":"The file, as flecto_check names it."},"path":{"type":"string","description":"The path, as flecto_check names it, e.g. spec.replicas; a path above others gives all of them. Without it: the whole file."},"document":{"type":"string","description":"The document in the file, where it has several."},"#;
    let tools = [
        (
            "flecto_diff",
            "What changed",
            "Tells by key what changed in configuration files (YAML, JSON, TOML, INI, dotenv, HCL, properties, …), as JSON. Secrets are hidden. Judges nothing.",
            format!("{TARGETS},{SIDES}"),
            "",
        ),
        (
            "flecto_check",
            "What changed and whether it is risky",
            "As flecto_diff, with the findings of the rules and the verdict of the gate: `verdict.failed`. Secrets are hidden.",
            format!("{TARGETS},{SIDES}{check}"),
            "",
        ),
        (
            "flecto_explain",
            "One change, looked at",
            "Tells of the change at one path what can be computed: before and after, type, direction, factor, and the findings about it. No model is asked.",
            format!("{place}{SIDES}"),
            r#","required":["file"]"#,
        ),
    ];
    let tools = tools.map(|(name, title, description, properties, required)| {
        let schema =
            format!(r#"{{"type":"object","properties":{{{properties}}}{required},"additionalProperties":false}}"#);
        let mut tool = Object::new();
        tool.str("name", name).str("title", title).str("description", description);
        tool.raw("inputSchema", &schema).raw("annotations", ANNOTATIONS);
        tool.finish()
    });
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
}

/// Calls a tool: the `result` of `tools/call`.
///
/// # Errors
/// A tool that there is not.
pub(super) fn call(workshop: &Workshop, id: &str, params: &Value) -> Result<String, Error> {
    let name = params["name"].as_str().unwrap_or_default();
    let tool = match name {
        "flecto_diff" => diff,
        "flecto_check" => check,
        "flecto_explain" => explain,
        _ => return Err(Error::new(-32602, "no such tool; there are flecto_diff, flecto_check and flecto_explain")),
    };
    let arguments = &params["arguments"];
    let given = Arguments(if arguments.is_null() { &Value::Null } else { arguments });
    let told = tool(&given, workshop, id).and_then(|text| match text.len() {
        0..=MAX_RESULT => Ok(text),
        length => Err(format!(
            "the result has {} KiB, more than the {} that are given; name fewer files, or one path",
            length >> 10,
            MAX_RESULT >> 10
        )),
    });
    let (text, failed) = match told {
        Ok(text) => (text, false),
        Err(reason) => (reason, true),
    };
    let mut content = Object::new();
    content.str("type", "text").str("text", &text);
    let mut result = Object::new();
    result.raw("content", &format!("[{}]", content.finish())).bool("isError", failed);
    Ok(result.finish())
}

fn diff(given: &Arguments<'_>, workshop: &Workshop, id: &str) -> Result<String, String> {
    given.are_only(&["targets", "baseline", "to", "merge_base"])?;
    let words = ["--policies=none", "--fail-on=none"].map(OsString::from);
    report(workshop, id, words.into_iter().chain(given.sides()?), given.targets()?)
}

fn check(given: &Arguments<'_>, workshop: &Workshop, id: &str) -> Result<String, String> {
    given.are_only(&["targets", "baseline", "to", "merge_base", "fail_on"])?;
    let fail_on = given.list("fail_on")?.unwrap_or_default();
    if let Some(word) = fail_on.iter().find(|word| !word.bytes().all(|b| b.is_ascii_lowercase())) {
        return Err(format!("`fail_on` has no word {}", json::string(word)));
    }
    let fail_on = (!fail_on.is_empty()).then(|| OsString::from(format!("--fail-on={}", fail_on.join(","))));
    report(workshop, id, fail_on.into_iter().chain(given.sides()?), given.targets()?)
}

fn explain(given: &Arguments<'_>, workshop: &Workshop, id: &str) -> Result<String, String> {
    given.are_only(&["file", "path", "document", "baseline", "to", "merge_base"])?;
    let file = given.text("file")?.ok_or("`file` is missing")?;
    let (path, document) = (given.text("path")?, given.text("document")?);
    let words = given.sides()?.into_iter().chain([OsString::from("--fail-on=none")]);
    let report = report(workshop, id, words, vec![target(&file)?])?;
    let report: Value = serde_json::from_str(&report).map_err(|_| "the report could not be read")?;
    let is_meant = |record: &Value| {
        let own = record["path"].as_str().unwrap_or_default();
        let below = |path: &String| {
            own.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '!']))
        };
        path.as_ref().is_none_or(|path| path == "$" || below(path))
            && document.as_ref().is_none_or(|document| record["document"] == document.as_str())
    };
    let (mut changes, mut findings, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for entry in report["files"].as_array().into_iter().flatten() {
        for change in entry["changes"].as_array().into_iter().flatten() {
            if is_meant(change) {
                let record = Record::parse(&change.to_string()).map_err(|_| "the report could not be read")?;
                changes
                    .push(payload::facts(&Change::from_record(&record).map_err(|_| "the report could not be read")?));
            } else {
                others.push(change["path"].as_str().unwrap_or_default().to_string());
            }
        }
        let all = entry["findings"].as_array().into_iter().flatten();
        findings.extend(all.filter(|finding| is_meant(finding)).map(|finding| {
            let mut object = Object::new();
            for field in ["rule", "pack", "severity", "path", "message"] {
                object.opt_str(field, finding[field].as_str());
            }
            object.finish()
        }));
    }
    if changes.is_empty() && findings.is_empty() {
        let listed: Vec<String> = others.iter().take(20).map(|path| json::string(path)).collect();
        return Err(match others.len() {
            0 => "nothing changed in this file".to_string(),
            count => format!("nothing changed at this path; {count} others did: {}", listed.join(", ")),
        });
    }
    let mut object = Object::new();
    object.str("file", &file).raw("complete", &report["complete"].to_string());
    object.raw("changes", &format!("[{}]", changes.join(","))).raw("findings", &format!("[{}]", findings.join(",")));
    Ok(object.finish())
}

/// Runs `flecto ci` over targets and gives its JSON. Every argument of the call stands behind `=` or `--`.
fn report(
    workshop: &Workshop,
    id: &str,
    words: impl IntoIterator<Item = OsString>,
    targets: Vec<OsString>,
) -> Result<String, String> {
    let fixed = ["ci", "--format=json", "--mask-secrets", "--quiet", "--color=never"].map(OsString::from);
    let line = fixed.into_iter().chain(words).chain(["--".into()]).chain(targets);
    // What is over the bound is not read to its end; twice as much tells how far over it is.
    workshop.run(id, line, 2 * MAX_RESULT).map_err(|failed| match failed {
        Failed::Said(text) => text,
        Failed::Long => {
            format!("the result has more than {} KiB; name fewer files, or one path", (2 * MAX_RESULT) >> 10)
        }
    })
}

/// A target below the served folder.
fn target(text: &str) -> Result<OsString, String> {
    let path = text.replace('\\', "/");
    let leaves = path.starts_with('/') || path.starts_with('~') || path.split('/').any(|part| part == "..");
    let drive = path.as_bytes().get(1) == Some(&b':');
    if text.is_empty() || text.len() > 4096 || text.contains('\0') || leaves || drive {
        return Err(format!(
            "{} is no target; a target is a path or glob below the served folder",
            json::string(&crate::text::shorten(text, 100))
        ));
    }
    Ok(OsString::from(text))
}

/// A call's arguments.
struct Arguments<'a>(&'a Value);

impl Arguments<'_> {
    fn are_only(&self, names: &[&str]) -> Result<(), String> {
        match self.0 {
            Value::Null => Ok(()),
            Value::Object(fields) => match fields.keys().find(|key| !names.contains(&key.as_str())) {
                Some(key) => Err(format!(
                    "no argument {}; there are {}",
                    json::string(&crate::text::shorten(key, 60)),
                    names.join(", ")
                )),
                None => Ok(()),
            },
            _ => Err("the arguments are no object".into()),
        }
    }

    fn text(&self, name: &str) -> Result<Option<String>, String> {
        match &self.0[name] {
            Value::Null => Ok(None),
            Value::String(text) if text.len() <= 4096 && !text.contains('\0') => Ok(Some(text.clone())),
            _ => Err(format!("`{name}` is no text")),
        }
    }

    fn list(&self, name: &str) -> Result<Option<Vec<String>>, String> {
        let wrong = || format!("`{name}` is no list of texts");
        match &self.0[name] {
            Value::Null => Ok(None),
            Value::Array(items) if items.len() <= 1000 => items
                .iter()
                .map(|item| item.as_str().map(str::to_string))
                .collect::<Option<_>>()
                .map(Some)
                .ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn targets(&self) -> Result<Vec<OsString>, String> {
        self.list("targets")?.unwrap_or_default().iter().map(|text| target(text)).collect()
    }

    /// What is compared with what. A baseline is always named: two targets are never compared with each other.
    fn sides(&self) -> Result<Vec<OsString>, String> {
        let baseline = self.revision("baseline")?.unwrap_or_else(|| "HEAD".into());
        let mut words = vec![OsString::from(format!("--snapshot-ref={baseline}"))];
        words.extend(self.revision("to")?.map(|to| OsString::from(format!("--to-ref={to}"))));
        match &self.0["merge_base"] {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => words.push("--merge-base".into()),
            _ => return Err("`merge_base` is neither true nor false".into()),
        }
        Ok(words)
    }

    fn revision(&self, name: &str) -> Result<Option<String>, String> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let plain = !text.starts_with('-') && text.chars().all(|c| !c.is_control() && !c.is_whitespace());
        if text.is_empty() || text.len() > 255 || !plain {
            return Err(format!("`{name}` is no name of a commit"));
        }
        Ok(Some(text))
    }
}
