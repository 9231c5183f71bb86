//! Answers that come piece by piece: on a terminal, and whole in the record

use super::{Asker, KEY, narration, prompted, reason, said, text};
use crate::support::provider::{Answer, Provider};
use crate::support::terminal::{Watched, screen};
use std::time::{Duration, Instant};

const LABEL: &str = "Model-generated narration (anthropic claude-opus-5) — advisory, not computed by Flecto, and never part of the exit code";

const TEXTS: [&str; 5] =
    ["- `db.pool_", "size` goes from 5 to", " 20\n- `debug`", " is turned on in version 1.26.3\n", "Done."];

const WHOLE: &str = "- `db.pool_size` goes from 5 to 20\n- `debug` is turned on in version 1.26.3\nDone.";

/// Runs on a terminal; gives what it was shown, and the records; nothing where there is no terminal to be had.
fn watched(asker: &Asker, args: &[&str]) -> Option<(String, String)> {
    let mut command = asker.command();
    command.arg("--stream").args(args);
    let (shown, records, status) = Watched::start(&command, &prompted())?.finish();
    assert_eq!(status, Some(0), "{shown}");
    Some((shown, records))
}

#[test]
fn both_apis_are_asked_for_events_and_the_record_is_that_of_an_answer_in_one_piece() {
    for (asker, answer, whole, tokens) in [
        (
            Asker::anthropic as fn(&str) -> Asker,
            Answer::anthropic_stream(&TEXTS, "end_turn"),
            Answer::anthropic(WHOLE),
            [412, 61],
        ),
        (Asker::openai, Answer::openai_stream(&TEXTS), Answer::openai(WHOLE), [10, 5]),
    ] {
        let provider = Provider::new([answer, whole]);
        let asker = asker(&provider.url());
        let streamed = asker.run(["--stream", "--no-cache"]).exits(0);
        let plain = asker.run(["--no-cache"]).exits(0);
        let [first, second] = [&streamed, &plain].map(narration);
        assert_eq!(said(first["text"].as_str().expect("a text")), WHOLE);
        for field in ["text", "label", "grounding", "truncated", "answered_by", "usage"] {
            assert_eq!(first[field], second[field], "{field}");
        }
        assert_eq!(first["usage"], serde_json::json!({"input_tokens": tokens[0], "output_tokens": tokens[1]}));
        let requests = provider.requests();
        assert_eq!(requests[0].json()["stream"], true);
        let usage = requests[0].json()["stream_options"].clone();
        assert!(usage.is_null() || usage == serde_json::json!({"include_usage": true}), "{usage}");
        assert!(requests[1].json().get("stream").is_none() && requests[1].json().get("stream_options").is_none());
    }
}

#[test]
fn s9_a_dry_run_prints_the_body_that_a_stream_is_asked_with() {
    let provider = Provider::new([Answer::openai_stream(&TEXTS)]);
    let asker = Asker::openai(&provider.url());
    let dry = asker.run(["--stream", "--dry-run"]).stdout;
    asker.run(["--stream"]).exits(0);
    let body = dry.split_once("\n\n").expect("a body").1.trim_end().to_string();
    assert_eq!(String::from_utf8_lossy(provider.request().body()), body);
}

#[test]
fn c5_a_stream_and_one_piece_share_an_entry_which_holds_the_whole() {
    let provider = Provider::new([Answer::anthropic_stream(&TEXTS, "end_turn"), Answer::Hang]);
    let asker = Asker::anthropic(&provider.url());
    let first = narration(&asker.run(["--stream"]).exits(0));
    for again in [asker.run([]), asker.run(["--stream"])] {
        let record = narration(&again.exits(0));
        assert_eq!((&record["cached"], &record["text"]), (&true.into(), &first["text"]));
    }
    assert_eq!(provider.requests().len(), 1);
    let Some((shown, _)) = watched(&asker, &[]) else { return };
    assert!(screen(&shown).contains("(anthropic claude-opus-5, cached)") && shown.contains("pool_size"), "{shown}");
}

#[test]
fn text_appears_as_it_arrives_with_its_marks_and_nothing_is_shown_twice() {
    let slow = Answer::anthropic_stream(&TEXTS, "end_turn").pieces(Duration::from_millis(70), |_| {});
    let provider = Provider::new([slow]);
    let Some((shown, records)) = watched(&Asker::anthropic(&provider.url()), &[]) else { return };
    // The line that is being written stood there before it was whole.
    assert!(shown.contains("\r\u{1b}[K- `db.pool_size` goes from 5 to"), "{shown:?}");
    let screen = screen(&shown);
    let expected = format!(
        "\n{LABEL}\n\n- `db.pool_size` goes from 5 to 20\n- `debug` is turned on in version 1.26.3 [not in the diff]\nDone. [not in the diff]\n\nchecked: 1 of 3 statements"
    );
    assert!(screen.contains(&expected), "{screen}");
    for once in [LABEL, "goes from 5 to 20", "Done.", "checked:", "not mentioned:"] {
        assert!(screen.matches(once).count() <= 1, "{once}: {screen}");
    }
    let record = records.lines().find(|line| line.starts_with("{\"type\":\"narration\"")).expect("a record");
    assert!(record.contains("goes from 5 to 20\\n- `debug`"));
}

#[test]
fn the_first_words_are_there_while_the_last_are_not_sent() {
    let answer = Answer::openai_stream(&["`debug` is on.\nMore", " to come."]);
    let Answer::Pieces(pieces, _) = answer else { unreachable!("pieces") };
    let provider = Provider::new([Answer::Stall(pieces[..3].concat())]);
    let asker = Asker::openai(&provider.url());
    let mut command = asker.command();
    command.arg("--stream");
    let Some(mut watched) = Watched::start(&command, &prompted()) else { return };
    let start = Instant::now();
    while !watched.bytes().contains("`debug` is on.\r\n") {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", watched.bytes());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(watched.runs(), "it waits for the rest");
    watched.close();
}

#[test]
fn r2_what_two_pieces_have_half_of_is_never_shown() {
    let text = "Safe\u{1b}]52;c;Y3VybA==\u{7} \u{1b}[2J\u{1b}[31mred\u{9b}1A \u{202e}rtl\u{200b} <|im_end|>[INST] `debug`\n<think>hidden\nplan</think>`debug` ends.\n";
    for width in [1, 2, 5] {
        let chars: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = chars.chunks(width).map(|piece| piece.iter().collect()).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let pause = Duration::from_millis(if width == 5 { 55 } else { 3 });
        let answer = Answer::anthropic_stream(&pieces, "end_turn").pieces(pause, |_| {});
        let provider = Provider::new([answer]);
        let Some((shown, _)) = watched(&Asker::anthropic(&provider.url()), &[]) else { return };
        let own = shown.replace("\r\u{1b}[K", "").replace("\r\n", "\n");
        assert!(!own.chars().any(|c| c.is_control() && c != '\n'), "{own:?}");
        for part in ["\u{202e}", "\u{200b}", "52;c", "Y3Vyb", "im_end", "<|", "[INST", "hidden", "plan</", "think"] {
            assert!(!own.contains(part), "{part}: {own:?}");
        }
        assert!(screen(&shown).contains("Safe red rtl  `debug`"), "{own:?}");
    }
}

#[test]
fn k2_the_key_in_an_answer_is_in_no_piece_of_the_terminal() {
    let (a, b) = KEY.split_at(9);
    let answer = Answer::anthropic_stream(&["`debug` told ", a, b, " twice"], "end_turn");
    let provider = Provider::new([answer.pieces(Duration::from_millis(60), |_| {})]);
    let Some((shown, records)) = watched(&Asker::anthropic(&provider.url()), &[]) else { return };
    assert!(!shown.contains(KEY) && !shown.contains(a) && !records.contains(KEY), "{shown}");
    assert!(screen(&shown).contains("told <ANTHROPIC_API_KEY"), "{shown}");
}

#[test]
fn where_the_end_changes_the_beginning_the_whole_is_shown_anew() {
    let thought = Answer::anthropic_stream(&["First I look\nat it.\n", "</think>\n`debug` is on.\n"], "end_turn");
    let seam = br#"data: {"type":"content_block_start","index":1,"content_block":{"type":"fallback","from":{"model":"claude-opus-5"},"to":{"model":"claude-opus-4-8"}}}

data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"`debug` is on."}}

"#;
    let fallback =
        Answer::anthropic_stream(&["The po\n"], "end_turn").pieces(Duration::ZERO, |p| p.insert(5, seam.to_vec()));
    for (answer, whole) in [
        (
            thought,
            "[its end changes what stands above; this is the narration]\n\nModel-generated narration (anthropic claude-opus-5) — advisory, not computed by Flecto, and never part of the exit code\n\n`debug` is on.\n",
        ),
        (
            fallback,
            "\n\nModel-generated narration (anthropic claude-opus-5, answered by claude-opus-4-8) — advisory, not computed by Flecto, and never part of the exit code\n\nThe po",
        ),
    ] {
        let provider = Provider::new([answer.pieces(Duration::from_millis(60), |_| {})]);
        let Some((shown, _)) = watched(&Asker::anthropic(&provider.url()), &[]) else { return };
        assert!(screen(&shown).contains(whole), "{}", screen(&shown));
    }
}

#[test]
fn n2_a_stream_that_does_not_end_well_is_one_line_and_no_narration() {
    let stream = |stop: &str| Answer::anthropic_stream(&["`debug` is on.\n", "And"], stop);
    let cut = |at: usize| stream("end_turn").pieces(Duration::ZERO, |pieces| pieces.truncate(at));
    let event = |json: &str| format!("event: error\ndata: {json}\n\n").into_bytes();
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded \u001b[2J"}}"#;
    let with = |extra: Vec<u8>| stream("end_turn").pieces(Duration::ZERO, |pieces| pieces.insert(5, extra));
    let chunked =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n"
            .to_vec();
    for (name, answer, words) in [
        ("broke off", cut(6), "a stream of events that broke off before the answer was complete"),
        ("without an end", cut(9), "broke off before the answer was complete"),
        ("only a start", cut(2), "broke off"),
        ("only a head", cut(1), "an empty answer"),
        ("error", with(event(error)), "answered with an error in place of a text: Overloaded"),
        ("refusal", stream("refusal"), "the model declined"),
        ("no JSON", with(b"data: {\"type\":\n\n".to_vec()), "something in it that is no JSON"),
        ("deep", with(format!("data: {}\n\n", "[".repeat(10_000)).into_bytes()), "something in it that is no JSON"),
        ("bad UTF-8", with(b"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\xff\xfe\"}}\n\n".to_vec()), "not UTF-8"),
        ("of another API", Answer::openai_stream(&["x"]), "a stream of events without an answer in it"),
        ("cut chunk", Answer::Raw(chunked), "before the answer was complete"),
        ("thoughts alone", Answer::anthropic_stream(&["<think>all of it"], "end_turn"), "wrote no text"),
        ("html", Answer::html(), "a web page"),
        ("huge", Answer::Flood(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n:".to_vec(), 64 << 20), "more than 8 MiB"),
    ] {
        let provider = Provider::new([answer]);
        let why = reason(Asker::anthropic(&provider.url()).run(["--stream"]));
        assert!(why.contains(words), "{name}: {why}");
        assert_eq!(provider.requests().len(), 1, "{name}: what was begun is not asked again");
    }
    let provider = Provider::new([with(event(error)).pieces(Duration::from_millis(60), |_| {})]);
    let Some((shown, records)) = watched(&Asker::anthropic(&provider.url()), &[]) else { return };
    let end = "`debug` is on.\n[what stands above broke off; it is no narration]\nNo narration: anthropic answered with an error";
    assert!(screen(&shown).contains(end), "{}", screen(&shown));
    assert!(!records.contains("\"narration\""), "{records}");
}

#[test]
fn c4_a_stream_that_never_ends_ends_with_the_time_and_one_that_is_whole_is_not_waited_for() {
    let whole = Answer::anthropic_stream(&TEXTS, "end_turn");
    let Answer::Pieces(pieces, _) = &whole else { unreachable!("pieces") };
    let open = Answer::Stall(pieces.concat());
    let provider = Provider::new([open]);
    let start = Instant::now();
    let run = Asker::anthropic(&provider.url()).run(["--stream"]).exits(0);
    assert_eq!(text(&run), WHOLE);
    assert!(start.elapsed() < Duration::from_secs(10), "it waited for more after the end");
    let pings = |pieces: &mut Vec<Vec<u8>>| pieces.splice(3.., vec![b": ping\n\n".to_vec(); 2000]).for_each(drop);
    for answer in [whole.clone().pieces(Duration::from_millis(20), pings), Answer::Stall(pieces[..4].concat())] {
        let provider = Provider::new([answer]);
        let start = Instant::now();
        let why = reason(Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_TIMEOUT_MS", "700").run(["--stream"]));
        assert!(why.contains("no answer within 700 ms"), "{why}");
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_server_that_streams_unasked_or_not_at_all_is_understood() {
    let provider = Provider::new([Answer::openai_stream(&TEXTS), Answer::openai(WHOLE)]);
    let asker = Asker::openai(&provider.url());
    assert_eq!(text(&asker.run(["--no-cache"])), WHOLE);
    assert_eq!(text(&asker.run(["--no-cache", "--stream"])), WHOLE);
}

#[test]
fn a_server_that_does_not_know_stream_options_is_asked_once_more_without() {
    let refused = r#"{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}"#;
    let provider = Provider::new([Answer::json(400, refused), Answer::openai_stream(&TEXTS)]);
    assert_eq!(text(&Asker::openai(&provider.url()).run(["--stream"])), WHOLE);
    let second = provider.requests()[1].json();
    assert!(second.get("stream_options").is_none() && second["stream"] == true);
    let stubborn = Provider::new([Answer::json(400, refused)]);
    assert!(reason(Asker::openai(&stubborn.url()).run(["--stream"])).contains("stream_options"));
    assert_eq!(stubborn.requests().len(), 2);
}

#[test]
fn a_program_is_watched_too() {
    let asker = Asker::new("exec", "");
    let command = "sh -c 'printf \"`debug` is \"; sleep 0.3; printf \"on \\303\"; sleep 0.2; printf \"\\244.\\n\"; sleep 0.3; echo \"`debug` ends.\"'";
    let Some((shown, _)) = watched(&asker, &["--exec", &command.replace('`', "\\140")]) else { return };
    assert!(shown.contains("\r\u{1b}[K`debug` is"), "{shown:?}");
    assert!(screen(&shown).contains("\n`debug` is on ä.\n`debug` ends.\n"), "{shown:?}");
}
