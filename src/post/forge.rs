//! How does each forge want it? The shapes of five comment APIs: where the list is, how a comment is written, whose it is.
//!
//! GitHub: docs.github.com/rest/issues/comments. Gitea and Forgejo have the same under `/api/v1`. GitLab:
//! docs.gitlab.com/api/notes. Bitbucket Cloud: developer.atlassian.com/cloud/bitbucket/rest/api-group-pullrequests. Azure DevOps:
//! learn.microsoft.com/rest/api/azure/devops/git/pull-request-threads.

use super::markdown;
use serde_json::{Value, json};
use std::borrow::Cow;

/// A forge's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Forge {
    /// GitHub and GitHub Enterprise
    Github,
    /// Gitea and Forgejo
    Gitea,
    /// GitLab
    Gitlab,
    /// Bitbucket Cloud
    Bitbucket,
    /// Azure DevOps
    Azure,
}

/// A comment that is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comment {
    /// What its URL ends in.
    pub(super) id: String,
    /// Who wrote it.
    pub(super) author: Author,
    /// Its text.
    pub(super) body: String,
}

/// An account. Ids are compared where both sides have one: a person can be called as a bot is, but for the `[bot]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Author {
    /// The account's id, as text.
    pub(super) id: Option<String>,
    /// Its name.
    pub(super) login: Option<String>,
    /// Whether the forge says that it is a program.
    pub(super) bot: bool,
}

impl Author {
    /// Whether `self`, who the token belongs to, wrote as `other`.
    pub(super) fn is(&self, other: &Author) -> bool {
        if let (Some(mine), Some(theirs)) = (&self.id, &other.id) {
            return mine == theirs;
        }
        let (Some(mine), Some(theirs)) = (&self.login, &other.login) else { return false };
        let name = |login: &str| login.strip_suffix("[bot]").unwrap_or(login).to_ascii_lowercase();
        mine == theirs || (other.bot && name(mine) == name(theirs))
    }
}

/// A request: method, path with query (or a whole URL) and JSON body.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// `GET`, `POST`, …
    pub(super) method: &'static str,
    /// What comes after the API's URL.
    pub(super) path: String,
    /// The body; empty for none.
    pub(super) body: String,
}

impl Call {
    pub(super) fn get(path: impl Into<String>) -> Call {
        Call { method: "GET", path: path.into(), body: String::new() }
    }

    fn with(method: &'static str, path: String, body: &Value) -> Call {
        Call { method, path, body: body.to_string() }
    }
}

/// How many comments a page is asked for.
pub(super) const PAGE: usize = 100;

impl Forge {
    /// How it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Forge::Github => "GitHub",
            Forge::Gitea => "Gitea",
            Forge::Gitlab => "GitLab",
            Forge::Bitbucket => "Bitbucket",
            Forge::Azure => "Azure DevOps",
        }
    }

    /// The longest comment, in bytes. GitHub's is 65,536 of an unnamed unit; Gitea's was not found below 300,000; GitLab
    /// subtracts a little from a million; the others are from their documentation.
    pub(super) fn longest(self) -> usize {
        match self {
            Forge::Github => 65_536,
            Forge::Gitea => 250_000,
            Forge::Gitlab => 900_000,
            Forge::Bitbucket => 32_000,
            Forge::Azure => 140_000,
        }
    }

    /// The header that carries the token.
    pub(super) fn authorization(self, token: &str) -> (String, String) {
        match self {
            Forge::Gitlab => ("private-token".into(), token.into()),
            _ => ("authorization".into(), format!("Bearer {token}")),
        }
    }

    /// The other headers.
    pub(super) fn headers(self) -> Vec<(String, String)> {
        let mut headers = vec![
            ("accept".to_string(), "application/json".to_string()),
            ("user-agent".to_string(), concat!("flecto/", env!("CARGO_PKG_VERSION")).to_string()),
        ];
        if self == Forge::Github {
            headers[0].1 = "application/vnd.github+json".into();
            headers.push(("x-github-api-version".into(), "2022-11-28".into()));
        }
        headers
    }

    /// The comments of a pull request, from the first page on. `place` is the path of the pull request's comments.
    pub(super) fn list(self, place: &str) -> Call {
        Call::get(match self {
            Forge::Github | Forge::Gitea => format!("{place}/comments?per_page={PAGE}&page=1"),
            Forge::Gitlab => format!("{place}/notes?per_page={PAGE}&page=1&sort=asc&order_by=created_at"),
            Forge::Bitbucket => format!("{place}/comments?pagelen={PAGE}"),
            Forge::Azure => format!("{place}/threads?api-version=7.1"),
        })
    }

    /// The comments of one page that a person or program wrote.
    pub(super) fn comments(self, page: &Value) -> Option<Vec<Comment>> {
        let items = match self {
            Forge::Github | Forge::Gitea | Forge::Gitlab => page.as_array()?,
            Forge::Bitbucket => page["values"].as_array()?,
            Forge::Azure => {
                let mut out = Vec::new();
                for thread in page["value"].as_array()?.iter().filter(|thread| thread["isDeleted"] != true) {
                    for comment in thread["comments"].as_array().into_iter().flatten() {
                        let id = format!("{}/comments/{}", text(&thread["id"])?, text(&comment["id"])?);
                        let shown = comment["isDeleted"] != true && comment["commentType"] != "system";
                        out.extend(shown.then(|| Comment {
                            id,
                            author: author(&comment["author"], "uniqueName"),
                            body: comment["content"].as_str().unwrap_or_default().to_string(),
                        }));
                    }
                }
                return Some(out);
            }
        };
        let comment = |item: &Value| {
            let (who, login, body) = match self {
                Forge::Gitlab => (&item["author"], "username", &item["body"]),
                Forge::Bitbucket => (&item["user"], "nickname", &item["content"]["raw"]),
                _ => (&item["user"], "login", &item["body"]),
            };
            let skipped = item["system"] == true || item["deleted"] == true;
            let body = body.as_str().unwrap_or_default().to_string();
            Some((!skipped).then_some(Comment { id: text(&item["id"])?, author: author(who, login), body }))
        };
        items.iter().map(comment).collect::<Option<Vec<_>>>().map(|all| all.into_iter().flatten().collect())
    }

    /// Writes a new comment.
    pub(super) fn create(self, place: &str, body: &str) -> Call {
        match self {
            Forge::Github | Forge::Gitea => Call::with("POST", format!("{place}/comments"), &json!({ "body": body })),
            Forge::Gitlab => Call::with("POST", format!("{place}/notes"), &json!({ "body": body })),
            Forge::Bitbucket => Call::with("POST", format!("{place}/comments"), &json!({ "content": { "raw": body } })),
            Forge::Azure => Call::with(
                "POST",
                format!("{place}/threads?api-version=7.1"),
                &json!({ "comments": [{ "parentCommentId": 0, "content": body, "commentType": 1 }], "status": 4 }),
            ),
        }
    }

    /// Writes a comment anew.
    pub(super) fn update(self, place: &str, id: &str, body: &str) -> Call {
        match self {
            Forge::Github | Forge::Gitea => {
                // Comments of all pull requests and issues of a repository have one address.
                let issues = place.rsplit_once('/').map_or(place, |(issues, _)| issues);
                Call::with("PATCH", format!("{issues}/comments/{id}"), &json!({ "body": body }))
            }
            Forge::Gitlab => Call::with("PUT", format!("{place}/notes/{id}"), &json!({ "body": body })),
            Forge::Bitbucket => {
                Call::with("PUT", format!("{place}/comments/{id}"), &json!({ "content": { "raw": body } }))
            }
            Forge::Azure => {
                Call::with("PATCH", format!("{place}/threads/{id}?api-version=7.1"), &json!({ "content": body }))
            }
        }
    }

    /// The questions that tell whose the token is, in the order in which they are asked.
    pub(super) fn who(self, graphql: &str) -> Vec<Call> {
        match self {
            Forge::Github => vec![
                Call::with("POST", graphql.to_string(), &json!({ "query": "{viewer{login databaseId}}" })),
                Call::get("/user"),
            ],
            Forge::Gitea | Forge::Gitlab | Forge::Bitbucket => vec![Call::get("/user")],
            Forge::Azure => vec![Call::get("/_apis/connectionData")],
        }
    }

    /// The answer to one of [`Forge::who`].
    pub(super) fn identity(self, answer: &Value) -> Option<Author> {
        let who = match self {
            Forge::Github if answer["data"]["viewer"].is_object() => {
                let viewer = &answer["data"]["viewer"];
                Author {
                    id: text(&viewer["databaseId"]),
                    login: viewer["login"].as_str().map(str::to_string),
                    bot: false,
                }
            }
            Forge::Github | Forge::Gitea => author(answer, "login"),
            Forge::Gitlab => author(answer, "username"),
            Forge::Bitbucket => author(answer, "nickname"),
            Forge::Azure => author(&answer["authenticatedUser"], "subjectDescriptor"),
        };
        (who.id.is_some() || who.login.is_some()).then_some(who)
    }

    /// Who a token is when the forge does not say: that of its own CI.
    pub(super) fn ci_identity(self) -> Vec<Author> {
        let named = |login: &str| Author { id: None, login: Some(login.into()), bot: self == Forge::Github };
        match self {
            Forge::Github => vec![named("github-actions[bot]")],
            Forge::Gitea => vec![named("gitea-actions"), named("forgejo-actions")],
            Forge::Gitlab | Forge::Bitbucket | Forge::Azure => Vec::new(),
        }
    }

    /// Whether the forge itself refuses to change somebody else's comment, so that trying is safe.
    pub(super) fn guards_comments(self) -> bool {
        matches!(self, Forge::Bitbucket | Forge::Azure)
    }

    /// The comment as the forge can show it. Bitbucket knows no HTML.
    pub(super) fn dress(self, body: &str) -> Cow<'_, str> {
        if self == Forge::Bitbucket { Cow::Owned(markdown::without_html(body)) } else { Cow::Borrowed(body) }
    }
}

fn author(value: &Value, login: &str) -> Author {
    Author {
        id: text(&value["id"]).or_else(|| text(&value["uuid"])),
        login: value[login].as_str().map(str::to_string),
        bot: value["type"] == "Bot",
    }
}

/// An id: a number or a string.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.is_empty() && text.len() < 200 => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_who_is_called_like_the_bot_is_not_the_bot() {
        let author =
            |id: Option<&str>, login: &str, bot| Author { id: id.map(str::to_string), login: Some(login.into()), bot };
        let viewer = author(None, "github-actions", false);
        assert!(viewer.is(&author(None, "github-actions[bot]", true)));
        assert!(!author(None, "github-actions[bot]", true).is(&author(None, "github-actions", false)));
        assert!(!author(Some("1"), "me", false).is(&author(Some("2"), "me", false)));
        assert!(author(Some("1"), "old-name", false).is(&author(Some("1"), "me", false)));
    }
}
