//! Where do reviewers see it? Keeps one comment of flecto's on a pull request up to date.
//!
//! The comment is found by its first line, which holds flecto's marker, **and** by its author: whoever quotes the marker owns
//! nothing. Nothing here changes an exit status: what fails is a warning, and the report goes to the job's summary instead
//! where there is one. The token is in the header of requests to the forge's own server and nowhere else.

mod exchange;
mod forge;
mod markdown;
mod place;
mod summary;

use exchange::{Refused, Speaker};
use forge::{Author, Call, Comment};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::Duration;

pub use forge::Forge;
pub use place::Said;

/// How many comments of one pull request are read at most: a page more costs a request, and somebody could write many.
const MAX_PAGES: usize = 100;

/// What to do with a comment.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it goes, as far as the operator says.
    pub said: Said,
    /// How long posting may take in all.
    pub time: Duration,
}

/// What became of the comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// A new one was written.
    Created,
    /// The one of the last run was written anew.
    Updated,
    /// The one of the last run says the same.
    Unchanged,
}

/// A text that is no comment of flecto's: no marker on its first line, or cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoComment(&'static str);

impl std::fmt::Display for NoComment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NoComment {}

/// Whether a text begins as a comment of flecto's does.
pub fn is_comment(body: &str) -> bool {
    markdown::marker(body).is_some()
}

/// Checks that a text is a whole comment of flecto's.
///
/// # Errors
/// When it is none.
pub fn check(body: &str) -> Result<(), NoComment> {
    if !is_comment(body) {
        return Err(NoComment("the input is no comment; make it with flecto-render --format pr-comment"));
    }
    if body.trim_end().lines().next_back() != Some(markdown::END) {
        return Err(NoComment("the comment is cut off; the program that wrote it did not finish"));
    }
    Ok(())
}

/// Writes the comment, or writes it anew.
///
/// # Errors
/// Why it is not there, as one line without the token.
pub fn upsert(options: &Options, body: &str) -> Result<Posted, String> {
    let place = place::find(&options.said)?;
    let Some((_, token)) = &place.token else {
        return Err(format!("no token; set {}", place::token_names(place.forge)[0]));
    };
    if !crate::http::is_header_value(token) {
        return Err("the token holds characters that no token has".into());
    }
    let speaker = Speaker::new(&place, token, options.time);
    post(&speaker, body).map_err(|refused| refused.why)
}

/// The requests that [`upsert`] would send if there were no comment yet, with the token replaced by its variable's name.
/// Sends nothing and needs no token.
///
/// # Errors
/// A place that is not known.
pub fn dry_run(options: &Options, body: &str) -> Result<String, String> {
    let place = place::find(&options.said)?;
    let forge = place.forge;
    let body = markdown::fit(&forge.dress(body), forge.longest());
    let mut out = String::new();
    for call in [forge.list(&place.path), forge.create(&place.path, &body)] {
        let _ = writeln!(out, "{} {}{}", call.method, place.api, call.path);
        for (name, value) in forge.headers() {
            let _ = writeln!(out, "{name}: {value}");
        }
        let token = place.token.as_ref().map_or(place::token_names(forge)[0], |(name, _)| name);
        let (name, value) = forge.authorization(&format!("<{token}>"));
        let _ = writeln!(out, "{name}: {value}");
        if !call.body.is_empty() {
            let _ = writeln!(out, "content-type: application/json");
        }
        let _ = writeln!(out, "\n{}", crate::json::harden(&call.body));
    }
    Ok(out)
}

/// Puts a report into the job's summary: a comment of flecto's without its marks, or any other Markdown as it is. Appends,
/// because the file is the whole step's.
///
/// # Errors
/// Why it is not there: no room for all of it, a link, a file that cannot be written, or no report.
pub fn summarize(path: &std::path::Path, body: &str) -> Result<(), String> {
    let text = markdown::content(body);
    if text.trim().is_empty() {
        return Err("there is no report; the program that was to write it did not finish".into());
    }
    summary::append(path, &text)
}

fn post(speaker: &Speaker<'_>, body: &str) -> Result<Posted, Refused> {
    let forge = speaker.place.forge;
    let marker = markdown::marker(body).unwrap_or(markdown::MARKER);
    let fitting = markdown::fit(&forge.dress(body), forge.longest());
    let before = list(speaker)?;
    let candidates: Vec<&Comment> =
        before.iter().filter(|comment| markdown::begins_with(&comment.body, marker)).collect();
    let mut me = None;
    if !candidates.is_empty() {
        let known = me.insert(identity(speaker));
        if let Some(posted) = update(speaker, &candidates, known, &fitting)? {
            return Ok(posted);
        }
    }
    let refused = match speaker.ask(&forge.create(&speaker.place.path, &fitting)) {
        Ok(_) => return Ok(Posted::Created),
        Err(refused) => refused,
    };
    if refused.status == Some(422) && refused.why.to_ascii_lowercase().contains("too long") {
        let shorter = markdown::fit(&fitting, fitting.len() / 3);
        return speaker.ask(&forge.create(&speaker.place.path, &shorter)).map(|_| Posted::Created);
    }
    if !refused.is_uncertain() {
        return Err(refused);
    }
    // It may be there all the same: a forge was seen to store a comment and then to answer 500. A second one is worse than
    // none, so it is looked for before it is written again.
    let known: HashSet<&str> = before.iter().map(|comment| comment.id.as_str()).collect();
    let after = list(speaker).map_err(|_| refused.clone())?;
    let new: Vec<&Comment> = after
        .iter()
        .filter(|comment| !known.contains(comment.id.as_str()) && markdown::begins_with(&comment.body, marker))
        .collect();
    if !new.is_empty() {
        let me = me.unwrap_or_else(|| identity(speaker));
        if let Some(posted) = update(speaker, &new, &me, &fitting)? {
            return Ok(if posted == Posted::Unchanged { Posted::Created } else { posted });
        }
    }
    speaker.ask(&forge.create(&speaker.place.path, &fitting)).map(|_| Posted::Created)
}

/// All comments, page after page. Gitea gives all of them on every page, so a page that brings nothing new is the last.
fn list(speaker: &Speaker<'_>) -> Result<Vec<Comment>, Refused> {
    let forge = speaker.place.forge;
    let mut all: Vec<Comment> = Vec::new();
    let mut seen = HashSet::new();
    let mut call = forge.list(&speaker.place.path);
    for page in 1..=MAX_PAGES {
        let (json, answer) = speaker.ask(&call)?;
        let Some(comments) = forge.comments(&json) else {
            return Err(Refused { status: None, why: format!("{} sent no list of comments", forge.name()) });
        };
        let count = comments.len();
        let fresh: Vec<Comment> = comments.into_iter().filter(|comment| seen.insert(comment.id.clone())).collect();
        let nothing_new = fresh.is_empty();
        all.extend(fresh);
        let next = match forge {
            Forge::Bitbucket => json["next"].as_str().map(str::to_string),
            Forge::Azure => None,
            _ => match answer.header("link") {
                Some(link) => next_link(link),
                // No header and no more than was asked for: there may be more behind a full page.
                None if count == forge::PAGE => {
                    Some(call.path.replace(&format!("&page={page}"), &format!("&page={}", page + 1)))
                }
                None => None,
            },
        };
        match next {
            Some(next) if !nothing_new => call = Call::get(next),
            _ => return Ok(all),
        }
    }
    // Ours may be among those that were not read, and a second one is worse than none.
    Err(Refused { status: None, why: format!("there are more comments than flecto reads ({MAX_PAGES} pages)") })
}

/// The target of `rel="next"` (RFC 8288).
fn next_link(header: &str) -> Option<String> {
    header.split(',').find_map(|part| {
        let (target, parameters) = part.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| matches!(parameter.trim(), "rel=\"next\"" | "rel=next"));
        is_next.then(|| target.to_string())
    })
}

/// Who the token writes as; several where the forge does not say.
fn identity(speaker: &Speaker<'_>) -> Vec<Author> {
    let forge = speaker.place.forge;
    // api.github.com/graphql; on an Enterprise server …/api/v3 and …/api/graphql.
    let api = speaker.place.api.to_string();
    let graphql = api.strip_suffix("/v3").map_or_else(|| format!("{api}/graphql"), |base| format!("{base}/graphql"));
    for call in forge.who(&graphql) {
        if let Ok((answer, _)) = speaker.ask(&call)
            && let Some(author) = forge.identity(&answer)
        {
            return vec![author];
        }
    }
    forge.ci_identity()
}

/// Writes our own comment among the candidates anew; `None` when none is ours.
fn update(
    speaker: &Speaker<'_>,
    candidates: &[&Comment],
    me: &[Author],
    body: &str,
) -> Result<Option<Posted>, Refused> {
    let forge = speaker.place.forge;
    if me.is_empty() && !forge.guards_comments() {
        let why =
            format!("{} does not say whose the token is, so no comment can be known to be flecto's own", forge.name());
        return Err(Refused { status: None, why });
    }
    for comment in candidates {
        if !me.is_empty() && !me.iter().any(|author| author.is(&comment.author)) {
            continue;
        }
        if comment.body.replace("\r\n", "\n").trim_end() == body.trim_end() {
            return Ok(Some(Posted::Unchanged));
        }
        match speaker.ask(&forge.update(&speaker.place.path, &comment.id, body)) {
            Ok(_) => return Ok(Some(Posted::Updated)),
            // Somebody else's after all, or gone in the meantime.
            Err(refused) if me.is_empty() && matches!(refused.status, Some(401 | 403 | 404)) => {}
            Err(refused) if refused.status == Some(404) => {}
            Err(refused) => return Err(refused),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_read_from_the_header() {
        let header = "<https://x/a?page=1>; rel=\"prev\", <https://x/a?page=3>; rel=\"next\", <https://x/a?page=9>; rel=\"last\"";
        assert_eq!(next_link(header).as_deref(), Some("https://x/a?page=3"));
        assert_eq!(next_link("<https://x/a?page=1>; rel=\"last\""), None);
    }

    #[test]
    fn a_comment_that_is_cut_off_is_none() {
        assert!(check("<!-- flecto:pr-comment -->\nx\n<!-- flecto:end -->\n").is_ok());
        assert!(check("<!-- flecto:pr-comment -->\nx\n").is_err());
        assert!(check("x <!-- flecto:pr-comment -->\n<!-- flecto:end -->\n").is_err());
    }
}
