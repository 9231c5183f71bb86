//! Was this program started by the wrapper, and by the right one? What a stage does about it before anything else.
//!
//! Two variables, that only the wrapper sets and only for its own stages. `FLECTO_WRAPPER` is its version: a stage of
//! another release refuses, so that half an upgrade is an error and not a wrong report, and nobody pays a process for
//! asking. `FLECTO_LIFELINE` is the number of an inherited pipe that the wrapper alone holds open: when it closes, the
//! wrapper is gone (killed outright: it could not end its stages), and the stage ends too. Started by hand, a stage finds
//! neither and does nothing.

use crate::environment::{LIFELINE, WRAPPER};
#[cfg(unix)]
use crate::outcome::Outcome;

/// Refuses a wrapper of another version, and starts to watch the lifeline.
///
/// # Errors
/// When the versions differ; the sentence names both.
pub(super) fn meet_wrapper() -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    if let Some(wrapper) = std::env::var_os(WRAPPER)
        && wrapper != version
    {
        anyhow::bail!(
            "this is version {version}, but the flecto that started it is {}; install both from one release",
            wrapper.to_string_lossy()
        );
    }
    if let Some(number) = crate::environment::text(LIFELINE).and_then(|text| text.parse::<u32>().ok())
        && number > 2
    {
        watch(number);
    }
    Ok(())
}

/// Ends this process when the pipe closes. `/dev/fd` opens an inherited descriptor by its number without `unsafe`; where
/// it cannot (no `/proc`), or where the number is no pipe (the variable strayed into another program's child), nothing is
/// watched: the closing of their pipes still ends most stages.
#[cfg(unix)]
fn watch(number: u32) {
    use std::io::Read as _;
    use std::os::unix::fs::FileTypeExt as _;
    let path = format!("/dev/fd/{number}");
    if !std::fs::metadata(&path).is_ok_and(|data| data.file_type().is_fifo()) {
        return;
    }
    let Ok(mut pipe) = std::fs::File::open(path) else { return };
    let watcher = std::thread::Builder::new().name("lifeline".into()).stack_size(64 << 10);
    // Without a thread to spare the stage still does its work.
    let _ = watcher.spawn(move || {
        loop {
            match pipe.read(&mut [0]) {
                // Without a word: every stage would say the same, and the shell has said who was killed.
                Ok(0) => end(),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
}

/// By a signal first: a wrapper that was itself started by a program of ours ends its stages then.
#[cfg(unix)]
fn end() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
    std::thread::sleep(std::time::Duration::from_millis(500));
    std::process::exit(Outcome::Trouble as i32)
}

#[cfg(not(unix))]
fn watch(_number: u32) {}
