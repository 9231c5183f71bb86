//! Which plan do the options make? Everything that a stage does is told it in its arguments: what the lines of
//! `--print-pipeline` do not say, no stage knows.

use super::configured::Found;
use super::options::{Asked, Ci, Compared, Explain, ExplainFormat, Judged};
use crate::pipeline::{Answer, Argument, Place, Plan, Program, Question, Stage, Summary};
use crate::record::Finding;
use crate::render::Format;
use anyhow::ensure;
use clap::ValueEnum;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;

impl Ci {
    /// The plan.
    ///
    /// # Errors
    /// Settings that cannot be used, and options that do not go together.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let found = self.configured.find(&self.compared)?;
        let fail_on = match &found.section.fail_on {
            _ if !self.fail_on.is_empty() => self.fail_on.join(","),
            Some(fail_on) => fail_on.words().join(","),
            None => "policy".into(),
        };
        let format = match found.section.format.as_deref().map(|word| Format::from_str(word, false)) {
            _ if self.format.is_some() => self.format.unwrap_or_default(),
            Some(Ok(format)) => format,
            _ => Format::default(),
        };
        ensure!(
            self.compared.style.is_none() || format == Format::Text,
            "--style is how text is laid out; it goes with --format text"
        );
        let judge = judge(&self.compared, &self.judged, &found, &fail_on)?;
        let question = (self.explain || self.explain_dry_run).then(|| {
            let sent = if self.explain_dry_run { Sent::Shown { json: format == Format::Json } } else { Sent::Yes };
            let live = !is_comment(format) && self.asked.is_live();
            let stages = self.asked.question(sent, live);
            let answer = match () {
                () if self.explain_dry_run => Answer::After(None, Place::Stderr),
                () if is_comment(format) => Answer::Within,
                () if live => Answer::Live,
                () => Answer::After(Some(narration()), Place::Stderr),
            };
            Question { stages, answer }
        });
        let show = self
            .compared
            .show(format, &found)
            .option("--instance", self.instance.as_ref())
            .option("--max-bytes", self.max_bytes.as_ref())
            .option("--category", self.category.as_ref())
            .flag("--with-accepted", self.with_accepted)
            .flag("--summary", !self.quiet);
        let summary = self.compared.show(Format::Markdown, &found);
        let mut plan = self.compared.plan(judge, show, question, found);
        if self.pr_comment_post {
            ensure!(is_comment(format), "--pr-comment-post posts a comment; it goes with --format pr-comment");
            // What cannot be posted goes to the summary, where it is not there anyway.
            plan.post = Some(Stage::new(Program::Post).flag("--no-summary", self.step_summary));
        }
        if self.step_summary {
            plan.summary =
                Some(Summary { show: summary, append: Stage::new(Program::Post).flag("--step-summary", true) });
        }
        Ok(plan)
    }
}

impl Explain {
    /// The plan.
    ///
    /// # Errors
    /// As [`Ci::plan`].
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let found = self.configured.find(&self.compared)?;
        let json = self.format == ExplainFormat::Json;
        ensure!(self.compared.style.is_none() || !json, "--style is how text is laid out; it goes with --format text");
        let mut judge = judge(&self.compared, &self.judged, &found, "none")?;
        // A dry run prints what the run without it would send.
        let live = !json && self.narration.is_none() && self.asked.is_live();
        if self.dry_run || self.cost {
            // The request, or what it may cost, is the report.
            judge.extend(self.asked.question(if self.cost { Sent::Counted } else { Sent::Shown { json } }, live));
            let show = judge.pop().unwrap_or_else(narration);
            return Ok(self.compared.plan(judge, show, None, found));
        }
        let answer = match &self.narration {
            Some(_) if json => {
                anyhow::bail!("--format json has the narration in the document; leave --narration out")
            }
            None if json => Answer::Within,
            None if live => Answer::Live,
            None => Answer::After(Some(narration()), Place::Stderr),
            Some(file) if file == Path::new("-") => Answer::After(Some(narration()), Place::Stdout),
            Some(file) => Answer::After(Some(narration()), Place::File(file.clone())),
        };
        let show = self.compared.show(if json { Format::Json } else { Format::Text }, &found);
        let question = Question { stages: self.asked.question(Sent::Yes, live), answer };
        Ok(self.compared.plan(judge, show, Some(question), found))
    }
}

/// From files to judged records.
fn judge(compared: &Compared, judged: &Judged, found: &Found, fail_on: &str) -> anyhow::Result<Vec<Stage>> {
    Ok(vec![compared.diff(found, compared.targets(found)?), judged.policy(found, fail_on)])
}

impl Judged {
    /// What the command line says takes the place of what the settings say; severities come after theirs.
    fn policy(&self, found: &Found, fail_on: &str) -> Stage {
        let settings = found.section.policies.iter().map(|policies| policies.words().join(","));
        let policies = if self.policies.is_empty() { settings.collect() } else { self.policies.clone() };
        let mut stage = Stage::new(Program::Policy).options("--policies", policies);
        for pack in &found.packs {
            stage = stage.attached("--policy-file", pack);
        }
        if let Some(accepted) = found.accepted.as_ref().filter(|_| self.accepted.is_none()) {
            stage = stage.attached("--accepted", accepted);
        }
        stage
            .options("--policy-file", &found.loose_packs)
            .options("--policy-file", &self.policy_file)
            .option("--fail-on", Some(fail_on))
            .options("--severity", found.section.severity.iter().map(ToString::to_string))
            .options("--severity", &self.severity)
            .option("--accepted", self.accepted.as_ref().or(found.loose_accepted.as_ref()))
            .flag("--accept-inline", self.accept_inline)
            .options("--add-finding", found.findings.iter().map(Finding::to_line))
    }
}

impl Compared {
    /// What is compared: what the command line names, else what the settings do.
    ///
    /// # Errors
    /// Neither names anything.
    pub(super) fn targets(&self, found: &Found) -> anyhow::Result<Vec<OsString>> {
        let settings = || found.files.iter().map(OsString::from).collect();
        let targets: Vec<OsString> = if self.targets.is_empty() { settings() } else { self.targets.clone() };
        ensure!(
            !targets.is_empty(),
            "no target; name a file, a folder or a quoted glob (the settings name no files either)"
        );
        Ok(targets)
    }

    /// The stage that compares these targets.
    pub(super) fn diff(&self, found: &Found, targets: Vec<OsString>) -> Stage {
        let settings = found.section.ignore.iter().flatten().map(|pattern| pattern.as_str().to_string());
        let ignore = if self.ignore.is_empty() { settings.collect() } else { self.ignore.clone() };
        let or = |own: &[String], settings: &Option<Vec<String>>| match settings {
            Some(globs) if own.is_empty() => globs.clone(),
            _ => own.to_vec(),
        };
        let list_keys = found.section.list_keys.iter().map(|(path, keys)| format!("{path}={}", keys.join(",")));
        Stage::new(Program::Diff)
            .option("--snapshot-ref", self.snapshot_ref.as_ref())
            .option("--to-ref", self.to_ref.as_ref())
            .flag("--staged", self.staged)
            .flag("--merge-base", self.merge_base)
            .flag("--allow-empty", self.allow_empty)
            .options("--include", or(&self.include, &found.section.include))
            .options("--exclude", or(&self.exclude, &found.section.exclude))
            .options("--ignore", ignore)
            .with(self.ignore_order.iter().map(|pattern| format!("--ignore-order={pattern}")))
            .options("--list-key", list_keys)
            .options("--list-key", &self.list_key)
            .option("--input-format", self.input_format.as_ref())
            .options("--format-map", &self.format_map)
            .flag("--raw-strings", self.raw_strings)
            .flag("--neat", self.neat)
            .flag("--allow-duplicate-keys", self.allow_duplicate_keys)
            .option("--max-file-size", self.max_file_size.as_ref())
            .with(["--"])
            .with(targets)
    }

    /// The stage that shows the records. The style is that of text; a summary beside text has none.
    fn show(&self, format: Format, found: &Found) -> Stage {
        let color = self.color.and_then(|color| word(&color));
        Stage::new(Program::Render)
            .option("--format", word(&format))
            .option("--color", color)
            .option("--style", self.style.filter(|_| format == Format::Text).and_then(|style| word(&style)))
            .option("--width", self.width.filter(|_| format == Format::Text).map(|columns| columns.to_string()))
            .flag("--mask-secrets", self.mask_secrets || found.section.mask_secrets && !self.show_secrets)
            .flag("--show-secrets", self.show_secrets)
    }

    fn plan(&self, judge: Vec<Stage>, show: Stage, question: Option<Question>, found: Found) -> Plan {
        Plan {
            directory: self.directory.clone(),
            attached: found.packs.into_iter().chain(found.accepted).collect(),
            judge,
            show,
            output: self.output.clone().filter(|file| file != Path::new("-")),
            question,
            post: None,
            summary: None,
        }
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It is sent.
    Yes,
    /// It is printed.
    Shown {
        /// As one JSON object.
        json: bool,
    },
    /// What it may cost is printed.
    Counted,
}

impl Asked {
    /// The options as they were typed.
    pub(super) fn words(&self) -> Vec<String> {
        let arguments = self.payload().arguments.into_iter().chain(self.narrate(Sent::Yes, false).arguments);
        let arguments = arguments.chain(self.no_stream.then(|| Argument::Word("--no-stream".into())));
        let words = arguments.filter_map(|argument| match argument {
            Argument::Word(word) => word.into_string().ok(),
            Argument::Attached(_) => None,
        });
        words.collect()
    }

    /// From judged records to an answer, or to what would be asked.
    fn question(&self, sent: Sent, live: bool) -> Vec<Stage> {
        vec![Stage::new(Program::Mask), self.payload(), self.narrate(sent, live)]
    }

    /// Whether somebody watches the answer come.
    fn is_live(&self) -> bool {
        !self.no_stream && std::io::stderr().is_terminal()
    }

    fn payload(&self) -> Stage {
        Stage::new(Program::Payload).option("--by", self.by.as_ref())
    }

    fn narrate(&self, sent: Sent, live: bool) -> Stage {
        Stage::new(Program::Narrate)
            .option("--provider", self.provider.as_ref())
            .option("--exec", self.exec.as_ref())
            .option("--model", self.model.as_ref())
            .option("--max-tokens", self.max_tokens.as_ref())
            .option("--effort", self.effort.as_ref())
            .option("--max-cost", self.max_cost.as_ref())
            .flag("--stream", live)
            .flag("--no-cache", self.no_cache)
            .flag("--dry-run", matches!(sent, Sent::Shown { .. }))
            .option("--format", (sent == Sent::Shown { json: true }).then_some("json"))
            .flag("--cost", sent == Sent::Counted)
    }
}

/// What shows a narration. It gets that one record, which is no whole stream.
fn narration() -> Stage {
    Stage::new(Program::Render).option("--format", word(&Format::Narration)).flag("--partial", true)
}

/// Whether the narration stands in the report: in a comment, since that has no stderr.
fn is_comment(format: Format) -> bool {
    format == Format::PrComment
}

/// The word that an option takes.
fn word(value: &impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_string())
}
