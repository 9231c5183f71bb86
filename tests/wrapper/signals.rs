//! Nothing outlives the wrapper, however it ends.

use super::kit::{Kit, STAGES, asking, changed, eventually};
use crate::support::provider::{Answer, Provider};
use crate::support::{Repo, run};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Starts a command with the signals as a person's shell has them. Whoever starts the tests in the background of a script
/// has INT ignored, all that it starts inherits that, and flecto rightly keeps it.
fn start(command: &Command) -> Child {
    let mut env = Command::new("env");
    env.arg("--default-signal=INT,TERM,HUP").arg(command.get_program()).args(command.get_args()).env_clear();
    env.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = command.get_current_dir() {
        env.current_dir(dir);
    }
    env.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("flecto")
}

/// How it ended; it has half a minute.
#[track_caller]
fn end(child: &mut Child) -> std::process::ExitStatus {
    eventually("an end", || child.try_wait().expect("a child"))
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill").success());
}

#[test]
fn a_signal_in_mid_run_leaves_no_process_and_is_what_flecto_dies_of() {
    let line = ["ci", "config/prod.yaml", "--explain", "--no-cache"];
    let repo = changed();
    for (name, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        for (stage, how) in STAGES.into_iter().zip(["hang", "stop", "stop", "hang", "stop", "hang"]) {
            let kit = Kit::new().replace(stage);
            let provider = Provider::new([Answer::openai("x")]);
            let mut flecto = start(asking(kit.flecto(&repo, how).args(line), &provider));
            kit.wait_for(&format!("{stage}.pid"));
            signal(&flecto, name);
            let status = end(&mut flecto);
            assert_eq!(status.signal(), Some(number), "{name} while {stage} does {how}: {status:?}");
            kit.is_deserted();
        }
    }
}

#[test]
fn a_signal_while_a_model_thinks_leaves_no_process() {
    let (kit, repo) = (Kit::new(), changed());
    let provider = Provider::new([Answer::Hang]);
    let mut flecto = start(asking(kit.flecto(&repo, "").args(["explain", "config/prod.yaml"]), &provider));
    eventually("a request", || (!provider.requests().is_empty()).then_some(()));
    signal(&flecto, "-TERM");
    assert_eq!(end(&mut flecto).signal(), Some(15));
    kit.is_deserted();
}

#[test]
fn killed_outright_while_a_model_thinks_the_stages_end_too() {
    let (kit, repo) = (Kit::new(), changed());
    let provider = Provider::new([Answer::Hang]);
    let mut flecto = start(asking(kit.flecto(&repo, "").args(["explain", "config/prod.yaml"]), &provider));
    eventually("a request", || (!provider.requests().is_empty()).then_some(()));
    assert!(kit.alive().len() >= 2, "flecto and flecto-narrate: {:?}", kit.alive());
    signal(&flecto, "-KILL");
    end(&mut flecto);
    kit.is_deserted();
}

/// A repository whose diff is longer than any pipe holds.
fn large() -> Repo {
    let repo = Repo::new();
    let lines = |value: u32| (0..20_000).map(|n| format!("key_{n}: {value}\n")).collect::<String>();
    repo.write("config/large.yaml", lines(1));
    repo.commit("large");
    repo.write("config/large.yaml", lines(2));
    repo
}

#[test]
fn killed_outright_while_a_stage_waits_for_its_reader_it_ends_too() {
    // The reader is no program of ours, and lives on: what is looked for is what wrote to it.
    for stage in ["flecto-policy", "flecto-render"] {
        let (kit, repo) = (Kit::new().replace(stage), large());
        let mut flecto = start(kit.flecto(&repo, "hang").args(["ci", "config"]));
        let reader = kit.wait_for(&format!("{stage}.pid"));
        std::thread::sleep(Duration::from_millis(200));
        signal(&flecto, "-KILL");
        end(&mut flecto);
        let ours = || kit.alive().into_iter().filter(|command| !command.starts_with("sleep")).collect::<Vec<_>>();
        eventually("they end", || ours().is_empty().then_some(()));
        let _ = Command::new("kill").args(["-KILL", reader.trim()]).status();
        kit.is_deserted();
    }
}

#[test]
fn a_signal_leaves_no_half_written_file() {
    let (kit, repo) = (Kit::new().replace("flecto-policy"), changed());
    let mut flecto = start(kit.flecto(&repo, "hang").args(["ci", "config", "-o", "report.txt"]));
    kit.wait_for("flecto-policy.pid");
    signal(&flecto, "-TERM");
    end(&mut flecto);
    let names = std::fs::read_dir(repo.path()).expect("a folder").flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, [".git", "config"]);
}

#[test]
fn a_hangup_that_nohup_ignores_stays_ignored() {
    let (kit, repo) = (Kit::new().replace("flecto-policy"), changed());
    let command = kit.flecto(&repo, "hang");
    let mut nohup = Command::new("sh");
    nohup.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(command.get_program()).args(["ci", "config"]);
    nohup.envs(command.get_envs().filter_map(|(k, v)| Some((k, v?)))).current_dir(repo.path());
    let mut flecto = start(&nohup);
    kit.wait_for("flecto-policy.pid");
    signal(&flecto, "-HUP");
    std::thread::sleep(Duration::from_millis(200));
    assert!(flecto.try_wait().expect("a child").is_none(), "it went on");
    signal(&flecto, "-TERM");
    assert_eq!(end(&mut flecto).signal(), Some(15));
    kit.is_deserted();
}

#[test]
fn a_stage_ends_when_its_lifeline_closes_and_not_when_the_variable_strays() {
    // No pipe has this number here: the variable strayed in from elsewhere, and must not end anything.
    let stray = crate::support::run_with(crate::support::program("flecto-render").env("FLECTO_LIFELINE", "77"), "");
    assert!(!stray.stderr.contains("killed"), "{}", stray.stderr);
}

#[test]
fn a_stage_refuses_a_wrapper_of_another_version() {
    let run = run(crate::support::program("flecto-render").env("FLECTO_WRAPPER", "99.0.0")).exits(2);
    assert!(run.stderr.contains("99.0.0") && run.stderr.contains("one release"), "{}", run.stderr);
}
