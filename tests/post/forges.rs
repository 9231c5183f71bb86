//! The five APIs: each writes a comment, finds it again, and leaves the others alone.

use super::{MARKER, comment, post, token};
use crate::support::forge::{Api, Forge, Paging};
use crate::support::program;
use std::process::Command;

fn upserts(forge: &Forge, command: impl Fn() -> Command, write: &str, rewrite: &str) {
    let run = post(&mut command(), &comment("first"));
    assert!(run.stderr.contains("comment written"), "{}", run.stderr);
    let run = post(&mut command(), &comment("second"));
    assert!(run.stderr.contains("comment updated"), "{}", run.stderr);
    let stored = forge.comments();
    assert_eq!(stored.len(), 2, "somebody else's, and ours");
    assert!(stored[0].body.contains("hijacked"));
    assert!(stored[1].body.contains("second"), "{}", stored[1].body);
    let seen = forge.seen();
    let paths: Vec<String> = seen.iter().map(|seen| format!("{} {}", seen.method, seen.path)).collect();
    assert!(paths.iter().any(|path| path == write), "{paths:?}");
    assert!(paths.iter().any(|path| path == rewrite), "{paths:?}");
}

#[test]
fn f1_gitea_and_forgejo() {
    for variable in ["GITEA_ACTIONS", "FORGEJO_ACTIONS"] {
        let forge = Forge::new(Api::Github, "me").paging(Paging::Ignored).comment("mallory", comment("hijacked"));
        let command = || {
            let mut command = program("flecto-post");
            command
                .env("GITHUB_ACTIONS", "true")
                .env(variable, "true")
                .env("GITHUB_API_URL", format!("{}/api/v1", forge.url()));
            command.env("GITHUB_REPOSITORY", "o/r").env("GITHUB_REF", "refs/pull/7/head").env("GITEA_TOKEN", token());
            command
        };
        upserts(
            &forge,
            command,
            "POST /api/v1/repos/o/r/issues/7/comments",
            "PATCH /api/v1/repos/o/r/issues/comments/2",
        );
        assert!(forge.seen().iter().all(|seen| !seen.path.contains("graphql")));
    }
}

#[test]
fn f1_github_enterprise_asks_its_own_graphql() {
    let forge = Forge::new(Api::Github, "me").comment("mallory", comment("hijacked"));
    let command = || {
        let mut command = super::on_github(&forge);
        command.env("GITHUB_API_URL", format!("{}/api/v3", forge.url()));
        command
    };
    upserts(&forge, command, "POST /api/v3/repos/o/r/issues/7/comments", "PATCH /api/v3/repos/o/r/issues/comments/2");
    assert!(forge.seen().iter().any(|seen| seen.path == "/api/graphql"));
}

#[test]
fn f1_gitlab() {
    let forge = Forge::new(Api::Gitlab, "me").comment("mallory", comment("hijacked"));
    let command = || {
        let mut command = program("flecto-post");
        command.env("GITLAB_CI", "true").env("CI_API_V4_URL", format!("{}/api/v4", forge.url()));
        command.env("CI_PROJECT_ID", "42").env("CI_MERGE_REQUEST_IID", "7").env("GITLAB_TOKEN", token());
        command
    };
    upserts(
        &forge,
        command,
        "POST /api/v4/projects/42/merge_requests/7/notes",
        "PUT /api/v4/projects/42/merge_requests/7/notes/2",
    );
    assert!(forge.seen().iter().all(|seen| seen.head.to_lowercase().contains("private-token: ")));
    let forge = Forge::new(Api::Gitlab, "me").anonymous().comment("mallory", comment("hijacked"));
    let mut command = program("flecto-post");
    command.env("GITLAB_CI", "true").env("CI_API_V4_URL", forge.url()).env("CI_PROJECT_ID", "42");
    command.env("CI_MERGE_REQUEST_IID", "7").env("GITLAB_TOKEN", token());
    let run = post(&mut command, &comment("x"));
    assert!(run.stderr.contains("does not say whose the token is"), "{}", run.stderr);
    assert_eq!(forge.comments()[0].body, comment("hijacked"));
}

#[test]
fn f1_bitbucket_cloud_without_html() {
    let forge = Forge::new(Api::Bitbucket, "me").comment("mallory", "[flecto]: # \"flecto:pr-comment\"\n\nhijacked");
    let command = |forge: &Forge| {
        let mut command = program("flecto-post");
        command.env("BITBUCKET_WORKSPACE", "w").env("BITBUCKET_REPO_SLUG", "r").env("BITBUCKET_PR_ID", "7");
        command.env("BITBUCKET_TOKEN", token()).args(["--api-url", &format!("{}/2.0", forge.url())]);
        command
    };
    upserts(
        &forge,
        || command(&forge),
        "POST /2.0/repositories/w/r/pullrequests/7/comments",
        "PUT /2.0/repositories/w/r/pullrequests/7/comments/2",
    );
    assert!(!forge.comments()[1].body.contains('<') && !forge.comments()[1].body.contains(MARKER));
    // Who it is cannot always be asked there; the forge refuses to change somebody else's.
    let forge = Forge::new(Api::Bitbucket, "me")
        .anonymous()
        .comment("mallory", "[flecto]: # \"flecto:pr-comment\"\n\nhijacked");
    post(&mut command(&forge), &comment("first"));
    post(&mut command(&forge), &comment("second"));
    let bodies: Vec<String> = forge.comments().into_iter().map(|stored| stored.body).collect();
    assert!(bodies.len() == 2 && bodies[0].contains("hijacked") && bodies[1].contains("second"), "{bodies:?}");
}

#[test]
fn f1_azure_devops() {
    let forge = Forge::new(Api::Azure, "me").comment("mallory", comment("hijacked"));
    let command = || {
        let mut command = program("flecto-post");
        command.env("TF_BUILD", "True").env("SYSTEM_COLLECTIONURI", format!("{}/org/", forge.url()));
        command.env("SYSTEM_TEAMPROJECT", "my project").env("BUILD_REPOSITORY_ID", "0f-1");
        command.env("SYSTEM_PULLREQUEST_PULLREQUESTID", "7").env("SYSTEM_ACCESSTOKEN", token());
        command
    };
    let place = "/org/my%20project/_apis/git/repositories/0f-1/pullRequests/7/threads";
    upserts(
        &forge,
        command,
        &format!("POST {place}?api-version=7.1"),
        &format!("PATCH {place}/2/comments/1?api-version=7.1"),
    );
}
