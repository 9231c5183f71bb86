//! C5, C6: answers that are kept, and what is never kept

use super::{Asker, KEY, narration, reason, text};
use crate::payload::{change, file, stream};
use crate::support::filter;
use crate::support::provider::{Answer, Provider, contains};
use std::path::Path;

fn once_then_error(text: &str) -> Provider {
    Provider::new([Answer::anthropic(text), Answer::error(400, "asked again")])
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[test]
fn c5_an_identical_request_is_answered_from_the_cache() {
    let provider = once_then_error("It grows.\n\n- `a`");
    let asker = Asker::anthropic(&provider.url());
    let (first, second) = (narration(&asker.run([]).exits(0)), narration(&asker.run([]).exits(0)));
    assert_eq!((&first["text"], &first["usage"]), (&second["text"], &second["usage"]));
    assert_eq!((&first["cached"], &second["cached"]), (&false.into(), &true.into()));
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn c5_it_lies_where_the_documents_say_and_moves_with_its_variables() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker = Asker::anthropic(&provider.url());
    asker.run([]).exits(0);
    assert_eq!(asker.entries().len(), 1);
    for (variable, below) in [("XDG_CACHE_HOME", "flecto/explain"), ("FLECTO_EXPLAIN_CACHE_DIR", "")] {
        let dir = tempfile::tempdir().expect("a folder");
        let place = dir.path().join("new").to_string_lossy().into_owned();
        let asker = Asker::anthropic(&provider.url()).env(variable, &place);
        asker.run([]).exits(0);
        assert_eq!(std::fs::read_dir(Path::new(&place).join(below)).expect("the cache").count(), 1);
        assert!(asker.entries().is_empty());
    }
    let relative = Asker::anthropic(&provider.url()).env("XDG_CACHE_HOME", "relative");
    relative.run([]).exits(0);
    assert_eq!(relative.entries().len(), 1, "a relative XDG_CACHE_HOME is ignored");
}

#[test]
fn c5_no_cache_neither_looks_nor_writes() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker = Asker::anthropic(&provider.url());
    asker.run(["--no-cache"]).exits(0);
    assert!(asker.entries().is_empty());
    asker.run([]).exits(0);
    assert_eq!(narration(&asker.run(["--no-cache"]).exits(0))["cached"], false);
    assert_eq!(provider.requests().len(), 3);
}

#[test]
#[cfg(unix)]
fn c6_files_are_0600_in_a_folder_0700_and_hold_neither_key_nor_request() {
    let provider = once_then_error("It grows.");
    let asker = Asker::anthropic(&provider.url());
    asker.run([]).exits(0);
    let entries = asker.entries();
    assert_eq!(entries.len(), 1, "nothing temporary is left");
    assert_eq!((mode(&entries[0]), mode(entries[0].parent().expect("a folder"))), (0o600, 0o700));
    let bytes = std::fs::read(&entries[0]).expect("an entry");
    let name = entries[0].file_name().expect("a name").to_string_lossy().into_owned();
    for canary in [KEY, "db.pool_size", "claude opus"] {
        assert!(!contains(&bytes, canary) && !name.contains(canary));
    }
    assert!(name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit()));
}

#[test]
#[cfg(unix)]
fn c6_a_folder_that_is_open_is_closed_and_one_of_somebody_else_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let provider = Provider::new([Answer::anthropic("x")]);
    let dir = tempfile::tempdir().expect("a folder");
    let open = |name: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir(&path).expect("a folder");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).expect("open");
        path
    };
    let (own, shared) = (open("own"), open("shared"));
    std::fs::write(shared.join("somebody's.txt"), "x").expect("a file");
    let asker =
        |path: &Path| Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_CACHE_DIR", &path.to_string_lossy());
    asker(&own).run([]).exits(0);
    assert_eq!(mode(&own), 0o700);
    assert!(reason(asker(&shared).run([])).contains("is open to others and holds other files"));
    assert_eq!(mode(&shared), 0o777);
}

#[test]
fn n2_a_cache_that_cannot_be_written_is_one_line() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("file");
    std::fs::write(&file, "x").expect("a file");
    for place in [file.clone(), file.join("below")] {
        let asker = Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_CACHE_DIR", &place.to_string_lossy());
        let why = reason(asker.run([]));
        assert!(why.starts_with("the cache folder") && why.contains("--no-cache"), "{why}");
        assert!(provider.connections().is_empty(), "nothing is paid for that cannot be kept");
    }
    let asker = Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_CACHE_DIR", &file.to_string_lossy());
    narration(&asker.run(["--no-cache"]).exits(0));
}

#[test]
fn c6_everything_that_shapes_the_answer_is_in_the_name() {
    let providers = [Provider::new([Answer::anthropic("x")]), Provider::new([Answer::anthropic("x")])];
    let base = || Asker::anthropic(&providers[0].url());
    let asker = base();
    let total = || providers[0].requests().len() + providers[1].requests().len();
    asker.run([]).exits(0);
    assert_eq!(total(), 1);
    asker.run(["--model", "claude-haiku-5-5"]).exits(0);
    asker.run(["--max-tokens", "5"]).exits(0);
    let other = filter("flecto-payload", [] as [&str; 0], &stream(&[file("a"), change("a", "b", 1.into(), 2.into())]));
    asker.run_on([], &other.stdout).exits(0);
    assert_eq!(total(), 4, "model, output cap, diff");
    let mut moved = base().env("FLECTO_EXPLAIN_API_URL", &providers[1].url());
    moved.home = asker.home;
    moved.run([]).exits(0);
    assert_eq!(total(), 5, "url");
    let mut rekeyed = moved.env("ANTHROPIC_API_KEY", "another-key-entirely");
    rekeyed.run([]).exits(0);
    assert_eq!(total(), 6, "key");
    rekeyed = rekeyed.env("ANTHROPIC_API_KEY", KEY);
    assert_eq!(narration(&rekeyed.run([]).exits(0))["cached"], true);
}

#[test]
fn c6_who_lacks_the_key_can_neither_plant_nor_alter_an_entry() {
    let provider = Provider::new([Answer::anthropic("It grows.")]);
    let asker = Asker::anthropic(&provider.url());
    asker.run([]).exits(0);
    let entry = asker.entries().remove(0);
    let good = std::fs::read_to_string(&entry).expect("an entry");
    let (tag, content) = good.split_once('\n').expect("two lines");
    let other_tag = tag.replace(['0', '1', '2', '3'], "e");
    let forged: Vec<Vec<u8>> = vec![
        good.replace("grows", "is safe").into_bytes(),
        format!("{other_tag}\n{content}").into_bytes(),
        content.as_bytes().to_vec(),
        good.as_bytes()[..good.len() / 2].to_vec(),
        Vec::new(),
        b"\xff\xfe\x00".to_vec(),
        format!("\n{content}").into_bytes(),
        vec![b'0'; 3 << 20],
    ];
    for (at, bytes) in forged.into_iter().enumerate() {
        std::fs::write(&entry, bytes).expect("a forged entry");
        let run = asker.run([]).exits(0);
        assert_eq!((narration(&run)["cached"].clone(), text(&run)), (false.into(), "It grows.".into()), "forgery {at}");
    }
    assert_eq!(provider.requests().len(), 9);
    assert_eq!(narration(&asker.run([]).exits(0))["cached"], true, "the honest entry is back");
}

#[test]
fn c6_an_entry_under_another_name_is_foreign() {
    let provider = Provider::new([Answer::anthropic("first"), Answer::anthropic("second"), Answer::anthropic("third")]);
    let asker = Asker::anthropic(&provider.url());
    asker.run([]).exits(0);
    let first = asker.entries().remove(0);
    asker.run(["--max-tokens", "5"]).exits(0);
    let second = asker.entries().into_iter().find(|path| *path != first).expect("a second entry");
    std::fs::copy(&first, &second).expect("replayed under another name");
    assert_eq!(text(&asker.run(["--max-tokens", "5"]).exits(0)), "third");
}

#[test]
#[cfg(unix)]
fn c6_links_and_pipes_in_the_cache_are_not_followed() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker = Asker::anthropic(&provider.url());
    asker.run([]).exits(0);
    let entry = asker.entries().remove(0);
    let outside = asker.home.path().join("outside");
    std::fs::rename(&entry, &outside).expect("moved");
    std::os::unix::fs::symlink(&outside, &entry).expect("a link");
    let before = std::fs::read(&outside).expect("the file");
    assert_eq!(narration(&asker.run([]).exits(0))["cached"], false);
    assert_eq!(std::fs::read(&outside).expect("the file"), before, "the link was replaced, its target not written");
    std::fs::remove_file(&entry).expect("removed");
    assert!(std::process::Command::new("mkfifo").arg(&entry).status().expect("mkfifo").success());
    assert_eq!(narration(&asker.run([]).exits(0))["cached"], false);
}

#[test]
fn c6_refused_empty_cut_off_and_odd_answers_are_never_kept() {
    let half = r#"[{"type":"text","text":"The pool gr"}]"#;
    for answer in [
        Answer::anthropic_refusal(),
        Answer::anthropic_blocks("[]", "end_turn", ""),
        Answer::anthropic_blocks(half, "max_tokens", ""),
        Answer::anthropic_blocks(half, "pause_turn", ""),
        Answer::anthropic_blocks(half, "brand_new", ""),
        Answer::error(500, "x"),
        Answer::html(),
        Answer::invalid_utf8(),
    ] {
        let provider = Provider::new([answer.clone()]);
        let asker = Asker::anthropic(&provider.url());
        asker.run([]).exits(0);
        assert!(asker.entries().is_empty(), "{answer:?}");
    }
}

#[test]
#[cfg(unix)]
fn c6_without_an_api_key_a_random_one_of_the_users_names_and_signs() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let keyless = || Asker::new("anthropic", &provider.url());
    let (one, two) = (keyless(), keyless());
    one.run([]).exits(0);
    two.run([]).exits(0);
    assert_ne!(one.entries()[0].file_name(), two.entries()[0].file_name(), "a key for each user");
    assert_eq!(narration(&one.run([]).exits(0))["cached"], true);
    let key = one.home.path().join(".config/flecto/cache-key");
    assert_eq!((mode(&key), mode(key.parent().expect("a folder"))), (0o600, 0o700));
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("opened");
    assert_eq!(narration(&one.run([]).exits(0))["cached"], false, "a key that others could read is replaced");
    let nowhere = keyless();
    std::fs::write(nowhere.home.path().join(".config"), "a file").expect("a file");
    narration(&nowhere.run([]).exits(0));
    assert!(nowhere.entries().is_empty(), "no key, no cache");
    let asker = keyless().env("HOME", "");
    assert!(asker.run([]).exits(0).stderr.contains("billed"), "no home, no cache, and all the same a narration");
}
