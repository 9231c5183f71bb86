//! Which pull request of which repository on which forge? From the options, else from what the CI system says.

use super::forge::Forge;
use crate::environment::text as variable;
use crate::http::Url;
use serde_json::Value;
use std::io::Read as _;

/// GitHub sends events of up to 25 MB.
const MAX_EVENT: u64 = 32 << 20;

/// What the operator said.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The forge.
    pub forge: Option<Forge>,
    /// The API's URL.
    pub api_url: Option<String>,
    /// The repository, in the forge's own words: `owner/name`, a project's id or path, `project/repository`.
    pub repository: Option<String>,
    /// The number of the pull request.
    pub pull_request: Option<u64>,
}

/// Where a comment goes.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) forge: Forge,
    pub(super) api: Url,
    /// The path of the pull request's comments below the API's URL, without the last word.
    pub(super) path: String,
    /// The variable that holds the token, and the token.
    pub(super) token: Option<(&'static str, String)>,
}

/// The variables that a forge's token is looked for in.
pub(super) fn token_names(forge: Forge) -> &'static [&'static str] {
    match forge {
        Forge::Github => &["GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_ENTERPRISE_TOKEN"],
        Forge::Gitea => &["GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"],
        Forge::Gitlab => &["GITLAB_TOKEN", "GITLAB_PRIVATE_TOKEN"],
        Forge::Bitbucket => &["BITBUCKET_TOKEN"],
        Forge::Azure => &["SYSTEM_ACCESSTOKEN"],
    }
}

/// Finds the place.
///
/// # Errors
/// What is not known, and how to say it.
pub(super) fn find(said: &Said) -> Result<Place, String> {
    let forge =
        said.forge.or_else(detect).ok_or("no CI system that is known; say --forge, --repository and --pull-request")?;
    if said.api_url.is_none() {
        one_host(forge)?;
    }
    let api = said.api_url.clone().or_else(|| api_url(forge));
    let api = api.ok_or("the address of the forge's API is not known; say --api-url")?;
    let api = Url::parse(&api).map_err(|wrong| format!("the API's url {wrong}"))?;
    if !api.is_https() && !api.is_loopback() {
        return Err("the API's url is plain http to another machine, which would show the token to all between".into());
    }
    let number = match said.pull_request {
        Some(number) => number,
        None => pull_request(forge)?,
    };
    let repository = said.repository.clone().or_else(|| repository(forge));
    let repository = repository.ok_or("the repository is not known; say --repository")?;
    let path = path(forge, &repository, number)?;
    let token = token_names(forge).iter().find_map(|name| Some((*name, variable(name)?)));
    Ok(Place { forge, api, path, token })
}

fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| !value.eq_ignore_ascii_case("false") && value != "0")
}

fn detect() -> Option<Forge> {
    if is_set("GITHUB_ACTIONS") || is_set("GITEA_ACTIONS") || is_set("FORGEJO_ACTIONS") {
        let foreign = is_set("GITEA_ACTIONS")
            || is_set("FORGEJO_ACTIONS")
            || variable("GITHUB_API_URL").is_some_and(|url| url.trim_end_matches('/').ends_with("/api/v1"));
        return Some(if foreign { Forge::Gitea } else { Forge::Github });
    }
    if is_set("GITLAB_CI") {
        return Some(Forge::Gitlab);
    }
    if variable("BITBUCKET_WORKSPACE").is_some() {
        return Some(Forge::Bitbucket);
    }
    is_set("TF_BUILD").then_some(Forge::Azure)
}

fn api_url(forge: Forge) -> Option<String> {
    match forge {
        Forge::Github => Some(variable("GITHUB_API_URL").unwrap_or_else(|| "https://api.github.com".into())),
        Forge::Gitea => {
            variable("GITHUB_API_URL").or_else(|| Some(format!("{}/api/v1", variable("GITHUB_SERVER_URL")?)))
        }
        Forge::Gitlab => variable("CI_API_V4_URL"),
        Forge::Bitbucket => Some("https://api.bitbucket.org/2.0".into()),
        Forge::Azure => variable("SYSTEM_COLLECTIONURI"),
    }
}

/// The API is that of the server that the CI system names: the token goes to no other host because of a variable alone.
fn one_host(forge: Forge) -> Result<(), String> {
    let (server, api) = match forge {
        Forge::Github | Forge::Gitea => ("GITHUB_SERVER_URL", "GITHUB_API_URL"),
        Forge::Gitlab => ("CI_SERVER_URL", "CI_API_V4_URL"),
        Forge::Bitbucket | Forge::Azure => return Ok(()),
    };
    let host = |name: &str| variable(name).and_then(|url| Some(Url::parse(&url).ok()?.host().to_string()));
    match (host(server), host(api)) {
        (Some(own), Some(other)) if other != own && other != format!("api.{own}") => {
            Err(format!("{api} names another host than {server}; say --api-url if that is right"))
        }
        _ => Ok(()),
    }
}

fn repository(forge: Forge) -> Option<String> {
    match forge {
        Forge::Github | Forge::Gitea => variable("GITHUB_REPOSITORY"),
        Forge::Gitlab => variable("CI_PROJECT_ID"),
        Forge::Bitbucket => Some(format!("{}/{}", variable("BITBUCKET_WORKSPACE")?, variable("BITBUCKET_REPO_SLUG")?)),
        Forge::Azure => Some(format!("{}/{}", variable("SYSTEM_TEAMPROJECT")?, variable("BUILD_REPOSITORY_ID")?)),
    }
}

/// The path under the API's URL. What the words may be is checked, and what is left is encoded: nothing in them can lead to
/// another address.
fn path(forge: Forge, repository: &str, number: u64) -> Result<String, String> {
    let unusable = || format!("the repository is not one that {} could have; it looks like owner/name", forge.name());
    let parts: Vec<&str> = repository.split('/').collect();
    let word = |part: &&str| {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ' | '{' | '}');
        !part.is_empty() && **part != *"." && **part != *".." && part.chars().all(fits)
    };
    if !parts.iter().all(word) {
        return Err(unusable());
    }
    match (forge, parts.as_slice()) {
        (Forge::Gitlab, _) => Ok(format!("/projects/{}/merge_requests/{number}", encode(repository))),
        (Forge::Github | Forge::Gitea, [owner, name]) => {
            Ok(format!("/repos/{}/{}/issues/{number}", encode(owner), encode(name)))
        }
        (Forge::Bitbucket, [owner, name]) => {
            Ok(format!("/repositories/{}/{}/pullrequests/{number}", encode(owner), encode(name)))
        }
        (Forge::Azure, [project, name]) => {
            Ok(format!("/{}/_apis/git/repositories/{}/pullRequests/{number}", encode(project), encode(name)))
        }
        _ => Err(unusable()),
    }
}

fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

fn pull_request(forge: Forge) -> Result<u64, String> {
    let of = |name: &str| variable(name).and_then(|number| number.parse::<u64>().ok());
    let number = match forge {
        Forge::Github | Forge::Gitea => github_number(),
        Forge::Gitlab => of("CI_MERGE_REQUEST_IID"),
        Forge::Bitbucket => of("BITBUCKET_PR_ID"),
        Forge::Azure => of("SYSTEM_PULLREQUEST_PULLREQUESTID"),
    };
    number.ok_or_else(|| "this run belongs to no pull request; say --pull-request if it does".to_string())
}

/// `refs/pull/7/merge`; else the event: a pull request, a comment on one, a run that one started; else a merge queue's
/// `gh-readonly-queue/main/pr-7-…`. With `pull_request_target` the reference is the base branch, so the event counts.
fn github_number() -> Option<u64> {
    let reference = variable("GITHUB_REF").unwrap_or_default();
    if let Some(rest) = reference.strip_prefix("refs/pull/")
        && let Some((number, "merge" | "head")) = rest.split_once('/')
    {
        return number.parse().ok();
    }
    let from_event = || {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(variable("GITHUB_EVENT_PATH")?).ok()?;
        file.take(MAX_EVENT).read_to_end(&mut bytes).ok()?;
        let event: Value = serde_json::from_slice(&bytes).ok()?;
        event["pull_request"]["number"]
            .as_u64()
            .or_else(|| event["issue"]["number"].as_u64().filter(|_| event["issue"]["pull_request"].is_object()))
            .or_else(|| event["workflow_run"]["pull_requests"][0]["number"].as_u64())
    };
    let from_queue = || {
        let branch = reference.strip_prefix("refs/heads/gh-readonly-queue/")?;
        let last = branch.rsplit('/').next()?.strip_prefix("pr-")?;
        last.split('-').next()?.parse().ok()
    };
    from_event().or_else(from_queue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_cannot_lead_elsewhere() {
        for bad in ["a", "a/b/c", "../b", "a/..", "a/b?x", "a/b#", "a%2f/b", "/b", "a/b\n", "a:b/c"] {
            assert!(path(Forge::Github, bad, 1).is_err(), "{bad}");
        }
        assert_eq!(path(Forge::Github, "o/r.x", 7).as_deref(), Ok("/repos/o/r.x/issues/7"));
        assert_eq!(path(Forge::Gitlab, "g/s/p", 7).as_deref(), Ok("/projects/g%2Fs%2Fp/merge_requests/7"));
        assert_eq!(
            path(Forge::Azure, "my project/0f-1", 7).as_deref(),
            Ok("/my%20project/_apis/git/repositories/0f-1/pullRequests/7")
        );
    }
}
