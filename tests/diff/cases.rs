//! The cases of the shared test data, through the program that judges them.

use crate::support;
use std::process::Command;

#[test]
fn every_case_has_its_right_answer() {
    let Some(tool) = support::shared("tools/check-cases") else { return };
    let Some(data) = support::shared("data/cases/dev.ndjson") else { return };
    let mut command = support::clean(Command::new("python3"));
    command
        .arg(tool)
        .args(["--verbose", "--format", "yaml,k8s,json,toml,ini,dotenv"])
        .arg("--bin")
        .arg(support::bin_dir())
        .arg("--data")
        .arg(data);
    support::run(&mut command).exits(0);
}
