//! How is a plan carried out? Real processes, joined by the operating system's pipes.
//!
//! The report never waits for the question to the model: while it goes out, the records are kept beside it, up to a
//! bound; the question is asked when the report is whole, the exit status is known, and stdout is let go. Whatever then
//! fails is one line that begins with `No narration:`.

use super::children::{Running, Team};
use super::output::{Output, write_whole};
use super::statuses::{culprit, outcome};
use super::{Answer, Ended, Place, Plan, Program, Question, Stage, Summary, Trouble};
use crate::environment;
use crate::limits::{NARRATION_BUFFER, NARRATION_GRACE, NARRATION_TIMEOUT, POST_LIMIT, SUMMARY_LIMIT};
use crate::outcome::Outcome;
use crate::text::escape;
use anyhow::{Context as _, anyhow, ensure};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What the narration's own rendering may take after the narration had all its time.
const LAST_RENDERING: Duration = Duration::from_millis(500);

/// Carries out a plan and gives back the outcome: the worst of the stages that make the report. What narrates can only
/// warn, on stderr.
///
/// # Errors
/// A program of the report that is missing or cannot be started, a folder that is not there, an output file that cannot
/// be written, and a stage that ended without having said why.
pub fn run(plan: &Plan) -> anyhow::Result<Outcome> {
    if let Some(folder) = &plan.directory {
        ensure!(folder.is_dir(), "{}: no such folder; -C names the one to run in", folder.display());
    }
    let team = Team::new(plan.directory.as_deref(), &plan.attached)?;
    for stage in plan.line() {
        team.find(stage.program)?;
    }
    let file = plan.output.as_deref().map(|file| within(plan, file));
    let mut output = Output::new(file.as_deref(), plan.post.is_some())?;
    let Done { ends, report, records } = match &plan.question {
        None if plan.summary.is_none() => straight(&team, plan, &mut output)?,
        None => kept_beside(&team, plan, &mut output)?,
        Some(question) => with_question(&team, plan, question, &mut output)?,
    };
    if let (Some(stage), Some(report)) = (&plan.post, report) {
        let_stdout_go();
        post(&team, stage, report);
    }
    if let Some(summary) = &plan.summary {
        let_stdout_go();
        summarize(&team, summary, records);
    }
    match culprit(&ends) {
        Some(trouble) => Err(anyhow!("{trouble}; the run is not complete")),
        None => Ok(outcome(&ends)),
    }
}

/// A path as the stages would read it: from the folder that they run in.
fn within(plan: &Plan, path: &Path) -> PathBuf {
    plan.directory.as_ref().map_or_else(|| path.to_path_buf(), |folder| folder.join(path))
}

type Ends = Vec<(Program, Ended)>;

/// A report that is out.
struct Done {
    /// How its stages ended.
    ends: Ends,
    /// The report itself, where it goes on to somebody.
    report: Option<Vec<u8>>,
    /// What it shows, where that is shown once more, unless it was more than is kept.
    records: Option<Vec<u8>>,
}

/// Every stage's stdout is the next one's stdin; this process holds none of them.
fn straight(team: &Team, plan: &Plan, output: &mut Output) -> anyhow::Result<Done> {
    let (mut stages, records) = join(team, &plan.judge, Stdio::null())?;
    stages.push(output.start(team, &plan.show, records)?);
    let ends = wait(&mut stages);
    let report = output.finish(&ends)?;
    Ok(Done { ends, report, records: None })
}

/// The report, with a copy of its records kept beside it.
fn kept_beside(team: &Team, plan: &Plan, output: &mut Output) -> anyhow::Result<Done> {
    let (mut stages, records) = join(team, &plan.judge, Stdio::null())?;
    let mut report = output.start(team, &plan.show, Stdio::piped())?;
    let input = report.stdin()?;
    stages.push(report);
    let records = tee(records, input);
    let ends = wait(&mut stages);
    let report = output.finish(&ends)?;
    Ok(Done { ends, report, records })
}

/// Starts stages that are joined by pipes, and gives back what the last one writes.
fn join<'a>(
    team: &Team,
    stages: impl IntoIterator<Item = &'a Stage>,
    mut input: Stdio,
) -> anyhow::Result<(Vec<Running>, ChildStdout)> {
    let mut running: Vec<Running> = Vec::new();
    let mut output = None;
    for stage in stages {
        if let Some(output) = output.take() {
            input = Stdio::from(output);
        }
        let mut started = team.start(stage, std::mem::replace(&mut input, Stdio::null()), Stdio::piped())?;
        output = Some(started.stdout()?);
        running.push(started);
    }
    Ok((running, output.context("a plan without stages")?))
}

fn wait(stages: &mut [Running]) -> Ends {
    stages.iter_mut().map(|stage| (stage.program(), stage.wait())).collect()
}

fn with_question(team: &Team, plan: &Plan, question: &Question, output: &mut Output) -> anyhow::Result<Done> {
    // What only narrates may be missing; the mask may not, since a run that was to mask and did not is not complete.
    for stage in question.stages.iter().filter(|stage| stage.program == Program::Mask) {
        team.find(stage.program)?;
    }
    match &question.answer {
        Answer::After(show, place) => report_first(team, plan, question, Some((show.as_ref(), place)), output),
        Answer::Live => report_first(team, plan, question, None, output),
        Answer::Within => answer_within(team, plan, question, output),
    }
}

/// The report; then, when it is out and the status known, the question, and what is shown of the answer where.
fn report_first(
    team: &Team,
    plan: &Plan,
    question: &Question,
    shown: Option<(Option<&Stage>, &Place)>,
    output: &mut Output,
) -> anyhow::Result<Done> {
    let Done { mut ends, report, records } = kept_beside(team, plan, output)?;
    if !matches!(shown, Some((_, Place::Stdout))) {
        let_stdout_go();
    }
    let again = records.clone().filter(|_| plan.summary.is_some());
    let Asked { mask, answer } = ask(team, question, records, &ends);
    ends.extend(mask);
    let shown = answer.and_then(|answer| match shown {
        Some((show, place)) => show_after(team, show, plan, place, answer),
        None => Ok(()),
    });
    if let Err(reason) = shown {
        no_narration(&reason);
    }
    Ok(Done { ends, report, records: again })
}

/// The records; the question; then the report over both. It is made from the same records whatever came of the question.
fn answer_within(team: &Team, plan: &Plan, question: &Question, output: &mut Output) -> anyhow::Result<Done> {
    let (mut stages, mut records) = join(team, &plan.judge, Stdio::null())?;
    let mut kept = Vec::new();
    // What cannot be read has an end that says so.
    let _ = records.by_ref().take(NARRATION_BUFFER as u64 + 1).read_to_end(&mut kept);
    if kept.len() > NARRATION_BUFFER {
        no_narration(&too_large());
        let mut report = output.start(team, &plan.show, Stdio::piped())?;
        let input = report.stdin()?;
        stages.push(report);
        tee(io::Cursor::new(kept).chain(records), input);
        let ends = wait(&mut stages);
        let report = output.finish(&ends)?;
        return Ok(Done { ends, report, records: None });
    }
    let mut ends = wait(&mut stages);
    let Asked { mask, answer } = ask(team, question, Some(kept.clone()), &ends);
    ends.extend(mask);
    match answer {
        Ok(mut answer) => kept.append(&mut answer.lines),
        Err(reason) => no_narration(&reason),
    }
    let mut report = output.start(team, &plan.show, Stdio::piped())?;
    let again = plan.summary.is_some().then(|| kept.clone());
    feed(report.stdin()?, kept);
    ends.push((report.program(), report.wait()));
    let report = output.finish(&ends)?;
    Ok(Done { ends, report, records: again })
}

/// Copies to the report, and keeps a copy up to the bound; `None` over it. A report that ended early (its reader is gone)
/// keeps nobody from judging.
fn tee(mut records: impl Read, report: impl Write) -> Option<Vec<u8>> {
    let (mut report, mut kept) = (Some(report), Some(Vec::new()));
    let mut chunk = vec![0; 1 << 16];
    loop {
        let length = match records.read(&mut chunk) {
            Ok(0) => return kept,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return kept,
        };
        if report.as_mut().is_some_and(|report| report.write_all(&chunk[..length]).is_err()) {
            report = None;
        }
        match &mut kept {
            Some(copy) if copy.len() + length <= NARRATION_BUFFER => copy.extend_from_slice(&chunk[..length]),
            _ => kept = None,
        }
    }
}

fn too_large() -> String {
    format!("the changes are larger than {} MiB", NARRATION_BUFFER >> 20)
}

/// What came of a question.
struct Asked {
    /// How the mask ended, which counts for the run.
    mask: Option<(Program, Ended)>,
    answer: Result<Reply, String>,
}

/// What `flecto-narrate` wrote.
struct Reply {
    /// All of it: for a dry run.
    all: Vec<u8>,
    /// Its `narration` record and its own `warning`s: the lines that were not there before.
    lines: Vec<u8>,
    /// When the whole narration has to be over.
    deadline: Instant,
}

/// Masks the records, then runs payload and narrate over what came, all within a bound on their time. The mask is run to
/// its end first: it counts for the run, and a `flecto-narrate` that hangs must not hold it.
fn ask(team: &Team, question: &Question, kept: Option<Vec<u8>>, ends: &Ends) -> Asked {
    let fail = |reason: String| Asked { mask: None, answer: Err(reason) };
    if let Some(trouble) = culprit(ends) {
        return fail(format!("{trouble}, so the diff is not whole"));
    }
    let Some(mut records) = kept else { return fail(too_large()) };
    for stage in &question.stages {
        if let Err(error) = team.find(stage.program) {
            return fail(error.to_string());
        }
    }
    let deadline = Instant::now() + timeout() + NARRATION_GRACE;
    let (masks, rest): (Vec<&Stage>, Vec<&Stage>) =
        question.stages.iter().partition(|stage| stage.program == Program::Mask);
    let mut mask = None;
    if !masks.is_empty() {
        match through(team, masks, records, deadline) {
            Ok((ended, written)) => {
                mask = ended.first().copied();
                match (blame(&ended), written) {
                    (None, Some(masked)) => records = masked,
                    (trouble, _) => {
                        let reason = trouble.map_or_else(too_large, |trouble| trouble.to_string());
                        return Asked { mask, answer: Err(reason) };
                    }
                }
            }
            Err(error) => {
                let mask = Some((Program::Mask, Ended::Status(Outcome::Trouble as i32)));
                return Asked { mask, answer: Err(error.to_string()) };
            }
        }
    }
    let answer = match through(team, rest, records, deadline) {
        Err(error) => Err(error.to_string()),
        Ok((ended, written)) => match (blame(&ended), written) {
            (Some(trouble), _) => Err(trouble.to_string()),
            (None, None) => Err(Trouble { program: Program::Narrate, ended: Ended::Hung }.to_string()),
            (None, Some(all)) if has_end(&all) || is_dry(question) => {
                Ok(Reply { lines: new_lines(&all), all, deadline })
            }
            (None, Some(_)) => Err(format!("{} gave none", Program::Narrate.name())),
        },
    };
    Asked { mask, answer }
}

/// Sends bytes through stages that are joined by pipes: how each ended, and what the last one wrote, unless it was still
/// writing at the deadline.
fn through<'a>(
    team: &Team,
    stages: impl IntoIterator<Item = &'a Stage>,
    bytes: Vec<u8>,
    deadline: Instant,
) -> anyhow::Result<(Ends, Option<Vec<u8>>)> {
    let (mut running, output) = join(team, stages, Stdio::piped())?;
    if let Some(first) = running.first_mut() {
        feed(first.stdin()?, bytes);
    }
    let written = read_until(output, deadline);
    let ended = running.iter_mut().map(|stage| (stage.program(), stage.wait_until(deadline))).collect();
    Ok((ended, written))
}

/// Who kept the narration from coming: who broke without a word, else the first that ended with a status of its own.
fn blame(ended: &Ends) -> Option<Trouble> {
    let spoke = ended.iter().find(|(_, ended)| !matches!(ended, Ended::Status(0)));
    culprit(ended).or_else(|| spoke.map(|&(program, ended)| Trouble { program, ended }))
}

/// The narration's time, as `flecto-narrate` reads it; it also says when the variable is malformed.
fn timeout() -> Duration {
    let milliseconds = environment::text("FLECTO_EXPLAIN_TIMEOUT_MS").and_then(|text| text.trim().parse().ok());
    // A day is as good as for ever, and no instant overflows by it.
    milliseconds.map_or(NARRATION_TIMEOUT, Duration::from_millis).min(Duration::from_secs(86_400))
}

/// Writes from a thread: a stage that does not read must not stop the clock. A closed pipe is the reader's business.
fn feed(mut input: impl Write + Send + 'static, bytes: Vec<u8>) {
    std::thread::spawn(move || input.write_all(&bytes));
}

/// Everything that comes, up to the end of the stream or the deadline; `None` when that passed or it was far too much.
fn read_until(mut output: impl Read + Send + 'static, deadline: Instant) -> Option<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let limit = 2 * NARRATION_BUFFER as u64;
        let mut all = Vec::new();
        let result = output.by_ref().take(limit).read_to_end(&mut all);
        let _ = send.send(result.ok().filter(|&length| (length as u64) < limit).map(|_| all));
    });
    receive.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok().flatten()
}

/// The lines that `flecto-narrate` added. Its records begin with their type, so no line needs to be parsed.
fn new_lines(all: &[u8]) -> Vec<u8> {
    let is_new = |line: &&[u8]| line.starts_with(br#"{"type":"narration""#);
    all.split_inclusive(|&byte| byte == b'\n').filter(is_new).flatten().copied().collect()
}

/// Whether `flecto-narrate` passed the stream on to its end. Then it has said itself why it added nothing, if it did not.
fn has_end(all: &[u8]) -> bool {
    all.split(|&byte| byte == b'\n').any(|line| line.starts_with(br#"{"type":"end""#))
}

/// Whether the request is shown and not sent: then no record comes out at all.
fn is_dry(question: &Question) -> bool {
    matches!(question.answer, Answer::After(None, _))
}

fn show_after(team: &Team, show: Option<&Stage>, plan: &Plan, place: &Place, reply: Reply) -> Result<(), String> {
    let shown = match show {
        None => reply.all,
        Some(_) if reply.lines.is_empty() => return Ok(()),
        Some(stage) => {
            let deadline = reply.deadline + LAST_RENDERING;
            let mut render = team.start(stage, Stdio::piped(), Stdio::piped()).map_err(|error| error.to_string())?;
            let (input, output) = render.stdin().and_then(|i| Ok((i, render.stdout()?))).map_err(|e| e.to_string())?;
            feed(input, reply.lines);
            let shown = read_until(output, deadline);
            match (render.wait_until(deadline), shown) {
                (Ended::Status(0), Some(shown)) => shown,
                (ended, _) => return Err(Trouble { program: stage.program, ended }.to_string()),
            }
        }
    };
    // A reader that is gone needs no message.
    match place {
        Place::Stderr => drop(io::stderr().lock().write_all(&shown)),
        Place::Stdout => {
            let mut out = io::stdout().lock();
            drop(out.write_all(&shown).and_then(|()| out.flush()));
        }
        Place::File(path) => write_whole(&within(plan, path), &shown).map_err(|error| error.to_string())?,
    }
    Ok(())
}

/// Hands the report to `flecto-post`. The report is out, so nothing that happens here changes how the run ends.
fn post(team: &Team, stage: &Stage, report: Vec<u8>) {
    let started = team.find(stage.program).and_then(|()| team.start(stage, Stdio::piped(), Stdio::null()));
    let ended = started.and_then(|mut running| {
        feed(running.stdin()?, report);
        Ok(running.wait_until(Instant::now() + POST_LIMIT))
    });
    let reason = match ended {
        // With 0 it says itself what failed, with 2 what was wrong.
        Ok(Ended::Status(0 | 2)) => return,
        Ok(ended) => Trouble { program: stage.program, ended }.to_string(),
        Err(error) => error.to_string(),
    };
    tell(&format!("flecto: warning: no comment: {}", escape(&reason)));
}

/// Shows the records once more, as Markdown for the job's summary. The report is out, so nothing that happens here changes
/// how the run ends either.
fn summarize(team: &Team, summary: &Summary, records: Option<Vec<u8>>) {
    let done = || -> Result<(), String> {
        let records = records.ok_or_else(too_large)?;
        let deadline = Instant::now() + SUMMARY_LIMIT;
        for stage in [&summary.show, &summary.append] {
            team.find(stage.program).map_err(|error| error.to_string())?;
        }
        let shown = through(team, [&summary.show], records, deadline).map_err(|error| error.to_string())?;
        // A verdict is no trouble, and what is incomplete says so.
        if let Some(trouble) = culprit(&shown.0) {
            return Err(trouble.to_string());
        }
        let markdown =
            shown.1.ok_or_else(|| Trouble { program: summary.show.program, ended: Ended::Hung }.to_string())?;
        let appended = through(team, [&summary.append], markdown, deadline).map_err(|error| error.to_string())?;
        match appended.0.as_slice() {
            // With 0 it says itself what failed, with 2 what was wrong.
            [(_, Ended::Status(0 | 2))] => Ok(()),
            ended => Err(blame(&ended.to_vec()).map_or_else(String::new, |trouble| trouble.to_string())),
        }
    };
    if let Err(reason) = done() {
        tell(&format!("flecto: warning: no job summary: {}", escape(&reason)));
    }
}

/// The one line that a narration which does not come leaves.
fn no_narration(reason: &str) {
    tell(&format!("No narration: {}", escape(reason)));
}

/// One line on stderr, in one write, so that it does not mix with what a stage says at that moment.
fn tell(line: &str) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// Points fd 1 away from the user's stdout, so that whoever reads it (`| jq`) sees the end of the report as its end.
fn let_stdout_go() {
    #[cfg(unix)]
    if let Ok(nowhere) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(nowhere);
    }
}
