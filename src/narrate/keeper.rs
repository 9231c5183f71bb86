//! Who ends a program of the operator's, and everything that it started? This process, by the program's group; and where this
//! process is killed, a second one of ours, which waits at a pipe that closes then.
//!
//! Without it a model runner that hangs would go on for ever on a CI machine whose job was cancelled: `flecto` ends its stages
//! with KILL, and of that nobody can be told.

#[cfg(unix)]
pub use unix::end_group_with_stdin;
pub(super) use unix::{Keeper, has_ended, own_group};

use std::process::Child;
use std::time::Duration;

/// Waits for a program's end as long as there is time, and says whether it came. It is not reaped where that can be helped.
pub(super) fn await_end(program: &mut Child, is_time: impl Fn() -> bool) -> bool {
    while !has_ended(program) {
        if !is_time() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[cfg(unix)]
mod unix {
    use crate::environment;
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use std::io::{Read as _, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    /// Gives a program a process group of its own.
    pub(in crate::narrate) fn own_group(command: &mut Command) {
        command.process_group(0);
    }

    fn pid(child: &Child) -> Option<Pid> {
        Pid::from_raw(i32::try_from(child.id()).ok()?)
    }

    /// The second process.
    pub(in crate::narrate) struct Keeper(Option<Child>);

    impl Keeper {
        /// Starts it for a program. Where it cannot be started, the program is ended by this process alone.
        pub(in crate::narrate) fn start(program: &Child) -> Keeper {
            let Ok(own) = std::env::current_exe() else { return Keeper(None) };
            let mut command = Command::new(own);
            command.arg(format!("--end-group={}", program.id()));
            environment::withhold_all(&mut command).env_remove(environment::LIFELINE);
            // What a terminal sends to this group (Ctrl-C) must not end the one that cleans up after it.
            command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            Keeper(command.spawn().ok())
        }

        /// Ends the program's group. Before the program is reaped: until then its number is nobody else's.
        pub(in crate::narrate) fn end_group(self, program: &mut Child) {
            if let Some(group) = pid(program) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            if let Some(mut keeper) = self.0 {
                let told = keeper.stdin.take().map(|mut stdin| stdin.write_all(b"."));
                if !matches!(told, Some(Ok(()))) {
                    let _ = keeper.kill();
                }
                let _ = keeper.wait();
            }
        }
    }

    /// Whether a program has ended. It is not reaped.
    pub(in crate::narrate) fn has_ended(program: &mut Child) -> bool {
        let Some(id) = pid(program) else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(rustix::io::retry_on_intr(|| waitid(WaitId::Pid(id), options)), Ok(None))
    }

    /// What the second process does: waits until its stdin ends, and ends the group, unless a byte came before.
    pub fn end_group_with_stdin(group: u32) {
        let told = std::io::stdin().read(&mut [0]);
        if matches!(told, Ok(length) if length > 0) {
            return;
        }
        // Not 0 and 1, which are this process's own group and everybody's.
        if let Some(group) = i32::try_from(group).ok().filter(|&group| group > 1).and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// A console ends its processes together, and a program that closes its pipes is over.
#[cfg(not(unix))]
mod unix {
    use std::process::{Child, Command};

    pub(in crate::narrate) fn own_group(_command: &mut Command) {}

    pub(in crate::narrate) struct Keeper;

    impl Keeper {
        pub(in crate::narrate) fn start(_program: &Child) -> Keeper {
            Keeper
        }

        pub(in crate::narrate) fn end_group(self, program: &mut Child) {
            let _ = program.kill();
        }
    }

    pub(in crate::narrate) fn has_ended(program: &mut Child) -> bool {
        !matches!(program.try_wait(), Ok(None))
    }
}
