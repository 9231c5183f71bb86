//! Which plan do the options make? Everything that a stage does is told it in its arguments: what the lines of
//! `--print-pipeline` do not say, no stage knows.

use super::options::{Asked, Ci, Compared, Explain, ExplainFormat, Judged};
use crate::pipeline::{Answer, Place, Plan, Program, Question, Stage};
use crate::render::Format;
use clap::ValueEnum;
use std::path::Path;

impl Ci {
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let format = self.format.unwrap_or_default();
        let judge = judge(&self.compared, &self.judged, &self.fail_on_text());
        let question = (self.explain || self.explain_dry_run).then(|| {
            let stages = question(self.asked.narrate(self.explain_dry_run, format == Format::Json));
            let answer = match () {
                () if self.explain_dry_run => Answer::After(None, Place::Stderr),
                () if is_comment(format) => Answer::Within,
                () => Answer::After(Some(narration()), Place::Stderr),
            };
            Question { stages, answer }
        });
        let show = self
            .compared
            .show(format)
            .option("--instance", self.instance.as_ref())
            .option("--max-bytes", self.max_bytes.map(|n| n.to_string()))
            .option("--category", self.category.as_ref())
            .flag("--with-accepted", self.with_accepted);
        Ok(self.compared.plan(judge, show, question))
    }

    /// What makes the gate fail, as `flecto-policy` takes it.
    pub(super) fn fail_on_text(&self) -> String {
        if self.fail_on.is_empty() { "policy".into() } else { self.fail_on.join(",") }
    }
}

impl Explain {
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let json = self.format == ExplainFormat::Json;
        let mut judge = judge(&self.compared, &self.judged, "none");
        let narrate = self.asked.narrate(self.dry_run, json);
        if self.dry_run {
            // The request is the report.
            judge.extend(question(narrate));
            let show = judge.pop().unwrap_or_else(narration);
            return Ok(self.compared.plan(judge, show, None));
        }
        let answer = match &self.narration {
            Some(_) if json => {
                anyhow::bail!("--format json has the narration in the document; leave --narration out")
            }
            None if json => Answer::Within,
            None => Answer::After(Some(narration()), Place::Stderr),
            Some(file) if file == Path::new("-") => Answer::After(Some(narration()), Place::Stdout),
            Some(file) => Answer::After(Some(narration()), Place::File(file.clone())),
        };
        let show = self.compared.show(if json { Format::Json } else { Format::Text });
        let question = Question { stages: question(narrate), answer };
        Ok(self.compared.plan(judge, show, Some(question)))
    }
}

/// From files to judged records.
fn judge(compared: &Compared, judged: &Judged, fail_on: &str) -> Vec<Stage> {
    vec![compared.diff(), judged.policy(fail_on)]
}

impl Judged {
    fn policy(&self, fail_on: &str) -> Stage {
        Stage::new(Program::Policy)
            .options("--policies", &self.policies)
            .options("--policy-file", &self.policy_file)
            .option("--fail-on", Some(fail_on))
            .options("--severity", &self.severity)
            .option("--accepted", self.accepted.as_ref())
            .flag("--accept-inline", self.accept_inline)
    }
}

impl Compared {
    fn diff(&self) -> Stage {
        Stage::new(Program::Diff)
            .option("--snapshot-ref", self.snapshot_ref.as_ref())
            .option("--to-ref", self.to_ref.as_ref())
            .flag("--staged", self.staged)
            .flag("--merge-base", self.merge_base)
            .flag("--allow-empty", self.allow_empty)
            .with(["--"])
            .with(&self.targets)
    }

    fn show(&self, format: Format) -> Stage {
        let color = self.color.and_then(|color| word(&color));
        Stage::new(Program::Render)
            .option("--format", word(&format))
            .option("--color", color)
            .flag("--mask-secrets", self.mask_secrets)
            .flag("--show-secrets", self.show_secrets)
    }

    fn plan(&self, judge: Vec<Stage>, show: Stage, question: Option<Question>) -> Plan {
        Plan { directory: self.directory.clone(), judge, show, output: self.output.clone(), question }
    }
}

impl Asked {
    /// The options as they were typed.
    pub(super) fn words(&self) -> Vec<String> {
        self.narrate(false, false).arguments.into_iter().filter_map(|word| word.into_string().ok()).collect()
    }

    /// The stage that asks, or, for a dry run, prints what it would ask.
    pub(super) fn narrate(&self, dry_run: bool, json: bool) -> Stage {
        Stage::new(Program::Narrate)
            .option("--provider", self.provider.as_ref())
            .option("--model", self.model.as_ref())
            .option("--max-tokens", self.max_tokens.map(|n| n.to_string()))
            .flag("--no-cache", self.no_cache)
            .flag("--dry-run", dry_run)
            .option("--format", (dry_run && json).then_some("json"))
    }
}

/// From judged records to an answer.
fn question(narrate: Stage) -> Vec<Stage> {
    vec![Stage::new(Program::Mask), Stage::new(Program::Payload), narrate]
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
