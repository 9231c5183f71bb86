//! Which comment is flecto's own: by its first line and by its author.

use super::{MARKER, comment, on_github, post};
use crate::support::forge::{Accident, Api, Forge, Paging};

#[test]
fn f1_one_comment_is_written_and_then_kept_up_to_date() {
    let forge = Forge::new(Api::Github, "me");
    assert!(post(&mut on_github(&forge), &comment("first")).stderr.contains("comment written"));
    assert!(post(&mut on_github(&forge), &comment("second")).stderr.contains("comment updated"));
    assert!(post(&mut on_github(&forge), &comment("second")).stderr.contains("up to date"));
    let stored = forge.comments();
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].body, comment("second"));
    assert_eq!((forge.count("POST"), forge.count("PATCH")), (1, 1));
    assert!(forge.seen().iter().all(|seen| seen.path.starts_with("/repos/o/r/issues/") || seen.path == "/graphql"));
}

#[test]
fn f1_somebody_who_quotes_the_marker_owns_nothing() {
    let forge = Forge::new(Api::Github, "me").comment("mallory", comment("hijacked"));
    let forge = forge.comment("me", format!("look at this:\n{MARKER}\n"));
    post(&mut on_github(&forge), &comment("ours"));
    assert_eq!(forge.count("PATCH"), 0);
    let stored = forge.comments();
    assert_eq!(stored.len(), 3);
    assert_eq!(stored[0].body, comment("hijacked"));
    assert_eq!((stored[2].user, stored[2].body.as_str()), ("me", comment("ours").as_str()));
    post(&mut on_github(&forge), &comment("ours again"));
    assert_eq!(forge.comments()[2].body, comment("ours again"));
    assert_eq!(forge.comments().len(), 3);
}

#[test]
fn f1_with_a_token_that_cannot_ask_who_it_is_the_ci_bot_is_meant() {
    let forge = Forge::new(Api::Github, "github-actions[bot]").anonymous();
    let forge = forge.comment("github-actions", comment("a person of that name"));
    let forge = forge.comment("github-actions[bot]", comment("old"));
    post(&mut on_github(&forge), &comment("new"));
    let bodies: Vec<String> = forge.comments().into_iter().map(|stored| stored.body).collect();
    assert_eq!(bodies, [comment("a person of that name"), comment("new")]);
}

#[test]
fn f1_comments_of_other_instances_are_left_alone() {
    let named =
        |name: &str, text: &str| comment(text).replace(MARKER, &format!("{MARKER}<!-- flecto:instance {name} -->"));
    let forge = Forge::new(Api::Github, "me").comment("me", comment("no name")).comment("me", named("prod", "prod"));
    post(&mut on_github(&forge), &named("staging", "staging"));
    post(&mut on_github(&forge), &named("prod", "prod 2"));
    post(&mut on_github(&forge), &comment("no name 2"));
    let bodies: Vec<String> = forge.comments().into_iter().map(|stored| stored.body).collect();
    assert_eq!(bodies, [comment("no name 2"), named("prod", "prod 2"), named("staging", "staging")]);
}

#[test]
fn f1_the_comment_is_found_on_any_page_with_few_requests() {
    for paging in [Paging::Link, Paging::Silent, Paging::Ignored] {
        let mut forge = Forge::new(Api::Github, "me").paging(paging);
        for n in 0..130 {
            forge = forge.comment("mallory", format!("c{n}"));
        }
        let forge = forge.comment("me", format!("{MARKER}\nold"));
        post(&mut on_github(&forge), &comment("new"));
        let seen = forge.seen();
        assert_eq!(seen.last().expect("a request").method, "PATCH", "{paging:?}");
        assert!(seen.len() <= 4, "{paging:?}: {}", seen.len());
        assert_eq!(forge.comments().len(), 131);
        assert_eq!(forge.comments()[130].body, comment("new"));
    }
}

#[test]
fn f1_a_comment_that_is_stored_although_the_answer_is_an_error_is_not_written_twice() {
    for accident in [Accident::DoneBut(500), Accident::DoneBut(502)] {
        let forge = Forge::new(Api::Github, "me").accident("POST", accident);
        let run = post(&mut on_github(&forge), &comment("once"));
        assert!(run.stderr.contains("comment written"), "{}", run.stderr);
        assert_eq!(forge.count("POST"), 1);
        assert_eq!(forge.comments().len(), 1);
    }
    let forge = Forge::new(Api::Github, "me").accident("POST", Accident::Close);
    post(&mut on_github(&forge), &comment("lost and written again"));
    assert_eq!((forge.count("POST"), forge.comments().len()), (2, 1));
}

#[test]
fn a_comment_that_was_deleted_meanwhile_is_written_again() {
    let gone = Accident::Answer(404, Vec::new(), "{\"message\":\"Not Found\"}".into());
    let forge = Forge::new(Api::Github, "me").comment("me", comment("old")).accident("PATCH", gone);
    post(&mut on_github(&forge), &comment("new"));
    assert_eq!((forge.count("PATCH"), forge.count("POST")), (1, 1));
}
