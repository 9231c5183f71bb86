//! P, S8, S9, W4, K1: what is sent, to whom, with which key

use super::{Asker, KEY, narration, prompted, reason};
use crate::support::provider::{Answer, Provider, Request, contains};
use crate::support::{Run, program, run_with};
use serde_json::{Value, json};

/// A dry run of the README's change with these variables and arguments, and no others.
fn dry<const N: usize, const M: usize>(envs: [(&str, &str); N], args: [&str; M]) -> Run {
    let mut command = program("flecto-narrate");
    command.envs(envs).arg("--dry-run").args(args);
    run_with(&mut command, prompted())
}

fn split(run: &Run) -> (Vec<String>, Value) {
    let (head, body) = run.stdout.split_once("\n\n").expect("an empty line");
    (head.lines().map(str::to_string).collect(), serde_json::from_str(body).expect("a JSON body"))
}

#[test]
fn p0_a_flag_beats_the_environment_and_an_empty_variable_is_unset() {
    let provider = |run: &Run| run.stdout.lines().next().unwrap_or_default().to_string();
    let both = [("FLECTO_EXPLAIN_PROVIDER", "openai"), ("FLECTO_EXPLAIN_MODEL", "from-env")];
    assert_eq!(provider(&dry(both, [])), "POST https://api.openai.com/v1/chat/completions");
    let flag = dry(both, ["--provider", "anthropic", "--model", "from-flag"]);
    assert_eq!(provider(&flag), "POST https://api.anthropic.com/v1/messages");
    assert_eq!(split(&flag).1["model"], "from-flag");
    assert_eq!(split(&dry(both, [])).1["model"], "from-env");
    let empty = dry([("FLECTO_EXPLAIN_PROVIDER", "anthropic"), ("FLECTO_EXPLAIN_MODEL", "")], []);
    assert_eq!(split(&empty).1["model"], "claude-opus-5", "the provider's default");
    let none = run_with(program("flecto-narrate").env("FLECTO_EXPLAIN_PROVIDER", ""), prompted());
    assert!(reason(none).starts_with("no provider"));
}

#[test]
fn p0_an_empty_key_is_no_key() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker =
        Asker::new("anthropic", &provider.url()).env("FLECTO_EXPLAIN_API_KEY", "").env("ANTHROPIC_API_KEY", KEY);
    asker.run([]).exits(0);
    assert_eq!(provider.request().header("x-api-key").as_deref(), Some(KEY));
    let none = run_with(
        program("flecto-narrate").env("FLECTO_EXPLAIN_PROVIDER", "anthropic").env("ANTHROPIC_API_KEY", ""),
        prompted(),
    );
    assert!(reason(none).contains("no key for anthropic"));
}

#[test]
fn p1_the_messages_api_is_asked_as_it_wants_to_be() {
    let provider = Provider::new([Answer::anthropic("x")]);
    Asker::anthropic(&provider.url()).run([]).exits(0);
    let request = provider.request();
    assert_eq!(request.line(), "POST /v1/messages HTTP/1.1");
    assert_eq!(request.header("x-api-key").as_deref(), Some(KEY));
    assert_eq!(request.header("anthropic-version").as_deref(), Some("2023-06-01"));
    assert_eq!(request.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(request.header("authorization"), None);
    let body = request.json();
    let fields: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["max_tokens", "messages", "model", "system"], "no sampling parameters, no thinking, no stream");
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("claude-opus-5"), &json!(16000)));
    let messages = body["messages"].as_array().expect("a list");
    assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")), "no prefill");
}

#[test]
fn p1_the_default_url_and_the_order_of_the_keys() {
    let anthropic = [("FLECTO_EXPLAIN_PROVIDER", "anthropic"), ("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")];
    let (head, _) = split(&dry(anthropic, []));
    assert_eq!(head[0], "POST https://api.anthropic.com/v1/messages");
    assert!(head.contains(&"x-api-key: <ANTHROPIC_API_KEY>".to_string()), "{head:?}");
    let own = [("FLECTO_EXPLAIN_PROVIDER", "anthropic"), ("ANTHROPIC_API_KEY", "a"), ("FLECTO_EXPLAIN_API_KEY", "f")];
    assert!(split(&dry(own, [])).0.contains(&"x-api-key: <FLECTO_EXPLAIN_API_KEY>".to_string()));
    let provider = Provider::new([Answer::anthropic("x")]);
    Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN_API_KEY", "first-of-all").run([]).exits(0);
    assert_eq!(provider.request().header("x-api-key").as_deref(), Some("first-of-all"));
    assert!(!provider.got(KEY));
}

#[test]
fn p2_chat_completions_are_asked_as_they_want_to_be() {
    let provider = Provider::new([Answer::openai("It grows.")]);
    let run = Asker::openai(&format!("{}/v1", provider.url())).run([]).exits(0);
    let request = provider.request();
    assert_eq!(request.line(), "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}")));
    assert_eq!((request.header("x-api-key"), request.header("anthropic-version")), (None, None));
    let body = request.json();
    let fields: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["max_tokens", "messages", "model"]);
    assert_eq!((&body["messages"][0]["role"], &body["messages"][1]["role"]), (&json!("system"), &json!("user")));
    assert_eq!(narration(&run)["model"], "local-model");
    let (head, body) = split(&dry([("FLECTO_EXPLAIN_PROVIDER", "openai")], ["--model", "m"]));
    assert_eq!(head[0], "POST https://api.openai.com/v1/chat/completions");
    assert!(head.contains(&"authorization: Bearer <OPENAI_API_KEY>".to_string()), "{head:?}");
    assert!(body["max_tokens"].is_null() && body["max_completion_tokens"] == 16000, "OpenAI's own servers");
    let no_model = run_with(program("flecto-narrate").env("FLECTO_EXPLAIN_PROVIDER", "openai"), prompted());
    assert!(reason(no_model).contains("no model for openai"));
}

#[test]
fn p3_a_server_that_takes_no_key_is_sent_none() {
    for (name, answer) in [("openai", Answer::openai("x")), ("anthropic", Answer::anthropic("x"))] {
        let provider = Provider::new([answer]);
        let asker = Asker::new(name, &provider.url()).env("FLECTO_EXPLAIN_MODEL", "m").env("OPENAI_API_KEY", "");
        narration(&asker.run([]).exits(0));
        let request = provider.request();
        assert_eq!((request.header("authorization"), request.header("x-api-key")), (None, None));
    }
    let shown = dry(
        [("FLECTO_EXPLAIN_PROVIDER", "openai"), ("FLECTO_EXPLAIN_API_URL", "http://127.0.0.1:1")],
        ["--model", "m"],
    );
    assert!(!shown.stdout.contains("authorization"), "{}", shown.stdout);
}

#[test]
fn p3_a_loopback_url_never_goes_through_a_proxy() {
    let (provider, proxy) = (Provider::new([Answer::openai("x")]), Provider::new([Answer::error(502, "proxied")]));
    let mut asker = Asker::openai(&provider.url());
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        asker = asker.env(name, &proxy.url());
    }
    narration(&asker.run([]).exits(0));
    assert_eq!((provider.requests().len(), proxy.connections().len()), (1, 0));
}

#[test]
fn p3_without_a_key_nothing_is_sent_to_a_default_url() {
    for name in ["anthropic", "openai"] {
        let proxy = Provider::new([Answer::CloseRead]);
        let mut command = program("flecto-narrate");
        command.env("FLECTO_EXPLAIN_PROVIDER", name).env("FLECTO_EXPLAIN_MODEL", "m").env("HTTPS_PROXY", proxy.url());
        let why = reason(run_with(&mut command, prompted()));
        assert!(why.contains(&format!("no key for {name}")), "{why}");
        assert!(proxy.connections().is_empty());
    }
}

#[test]
fn p4_fallbacks_are_asked_for_at_the_first_party_url_with_its_model_alone() {
    let beta = "anthropic-beta: server-side-fallback-2026-07-01".to_string();
    let opted = |run: &Run| {
        let (head, body) = split(run);
        assert_eq!(head.contains(&beta), body["fallbacks"] == "default", "the header and the field go together");
        head.contains(&beta)
    };
    let anthropic = ("FLECTO_EXPLAIN_PROVIDER", "anthropic");
    assert!(opted(&dry([anthropic], [])));
    assert!(opted(&dry([anthropic, ("FLECTO_EXPLAIN_API_URL", "https://api.anthropic.com/")], [])));
    assert!(!opted(&dry([anthropic], ["--model", "claude-haiku-5-5"])));
    for url in [
        "https://api.anthropic.com.evil.example",
        "http://api.anthropic.com",
        "https://gateway.example",
        "http://127.0.0.1:9",
    ] {
        assert!(!opted(&dry([anthropic, ("FLECTO_EXPLAIN_API_URL", url)], [])), "{url}");
    }
    let openai = dry(
        [("FLECTO_EXPLAIN_PROVIDER", "openai"), ("FLECTO_EXPLAIN_API_URL", "https://api.anthropic.com")],
        ["--model", "claude-opus-5"],
    );
    assert!(!opted(&openai));
}

#[test]
fn p5_urls_are_joined_whatever_their_slashes_and_refused_with_a_password() {
    for (url, expected) in [
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/chat/completions"),
        ("http://127.0.0.1:1/v1///", "http://127.0.0.1:1/v1/chat/completions"),
        ("https://x.example/a/b", "https://x.example/a/b/chat/completions"),
        (
            "https://x.example/openai/deployments/d?api-version=1",
            "https://x.example/openai/deployments/d/chat/completions?api-version=1",
        ),
    ] {
        let run = dry([("FLECTO_EXPLAIN_PROVIDER", "openai"), ("FLECTO_EXPLAIN_API_URL", url)], ["--model", "m"]);
        assert_eq!(run.stdout.lines().next(), Some(format!("POST {expected}").as_str()));
    }
    for url in [
        "https://user:hunter2@x.example",
        "https://user@x.example",
        "ftp://x.example",
        "x.example",
        "https://x.example/#a",
    ] {
        let provider = Asker::anthropic(url);
        let run = provider.run([]);
        assert!(!run.stderr.contains("hunter2"));
        let why = reason(run);
        assert!(why.starts_with("FLECTO_EXPLAIN_API_URL"), "{why}");
    }
}

#[test]
fn p5_a_key_over_plain_http_to_another_machine_is_warned_of() {
    // 192.0.2.0/24 is for documentation: nobody is there.
    let asker = Asker::anthropic("http://192.0.2.1:9").env("FLECTO_EXPLAIN_TIMEOUT_MS", "300");
    let run = asker.run([]);
    assert!(run.stderr.contains("warning: the API key goes to 192.0.2.1 over plain http"), "{}", run.stderr);
    let provider = Provider::new([Answer::anthropic("x")]);
    assert!(!Asker::anthropic(&provider.url()).run([]).stderr.contains("plain http"));
}

#[test]
fn azure_gets_its_own_header_and_keeps_its_query() {
    let provider = Provider::new([Answer::openai("x")]);
    let url = format!("{}/openai/deployments/d?api-version=2024-10-21", provider.url());
    narration(&Asker::openai(&url).run([]).exits(0));
    let request = provider.request();
    assert_eq!(request.line(), "POST /openai/deployments/d/chat/completions?api-version=2024-10-21 HTTP/1.1");
    assert_eq!((request.header("api-key").as_deref(), request.header("authorization")), (Some(KEY), None));
}

#[test]
fn s8_a_dry_run_prints_the_request_alone_and_sends_nothing() {
    let provider = Provider::new([Answer::Hang]);
    let run = Asker::anthropic(&provider.url()).run(["--dry-run"]).exits(0);
    assert!(run.stdout.starts_with(&format!("POST {}/v1/messages\n", provider.url())), "{}", run.stdout);
    assert!(run.stdout.contains("\nx-api-key: <ANTHROPIC_API_KEY>\n"));
    assert!(!run.stdout.contains(KEY) && run.stderr.is_empty(), "{}", run.stderr);
    assert!(run.stdout.ends_with("}\n") && !run.stdout.contains("\"type\":\"start\""));
    let json = Asker::anthropic(&provider.url()).run(["--dry-run", "--format", "json"]).exits(0);
    let object: Value = serde_json::from_str(&json.stdout).expect("one object");
    assert_eq!((&object["method"], &object["headers"]["x-api-key"]), (&json!("POST"), &json!("<ANTHROPIC_API_KEY>")));
    let body = run.stdout.split_once("\n\n").expect("a body").1;
    assert_eq!(object["body"].as_str().expect("a string"), body.trim_end_matches('\n'));
    assert!(provider.connections().is_empty());
}

#[test]
fn s8_a_dry_run_needs_no_key() {
    let (head, _) = split(&dry([("FLECTO_EXPLAIN_PROVIDER", "anthropic")], []).exits(0));
    assert!(head.contains(&"x-api-key: <ANTHROPIC_API_KEY>".to_string()));
}

#[test]
fn s9_the_bytes_that_a_dry_run_prints_are_those_that_are_sent() {
    for (asker, answer) in
        [(Asker::anthropic as fn(&str) -> Asker, Answer::anthropic("x")), (Asker::openai, Answer::openai("x"))]
    {
        let provider = Provider::new([answer]);
        let asker = asker(&provider.url());
        let shown = asker.run(["--dry-run"]).exits(0);
        narration(&asker.run([]).exits(0));
        let request: Request = provider.request();
        let (head, body) = shown.stdout.split_once("\n\n").expect("a body");
        assert_eq!(request.body(), body.strip_suffix('\n').expect("a newline").as_bytes());
        for line in head.lines().skip(1) {
            let (name, value) = line.split_once(": ").expect("a header");
            let sent = request.header(name).expect("the header is sent");
            assert_eq!(sent, value.replace("<ANTHROPIC_API_KEY>", KEY).replace("<OPENAI_API_KEY>", KEY), "{name}");
        }
        let sent_head = String::from_utf8_lossy(&request.raw).split("\r\n\r\n").next().expect("a head").to_string();
        // Beyond what is printed, only what HTTP itself needs.
        let names: Vec<String> =
            sent_head.lines().skip(1).map(|l| l.split(':').next().unwrap_or("").to_lowercase()).collect();
        for name in names {
            let printed = head.lines().any(|line| line.starts_with(&format!("{name}: ")));
            assert!(printed || ["host", "content-length"].contains(&name.as_str()), "{name} is sent and not printed");
        }
    }
}

#[test]
fn w4_a_redirect_is_refused_and_named_by_its_host() {
    for status in [301, 302, 303, 307, 308] {
        let thief = Provider::new([Answer::anthropic("stolen")]);
        let location = format!("{}/steal?secret=s3cr3t-path", thief.url());
        let provider = Provider::new([Answer::redirect(status, &location)]);
        let run = Asker::anthropic(&provider.url()).run([]);
        assert!(!run.stderr.contains("s3cr3t-path"));
        let why = reason(run);
        assert!(why.contains(&format!("redirect to host 127.0.0.1:{}", thief.port())), "{why}");
        assert_eq!((provider.connections().len(), thief.connections().len()), (1, 0), "{status}");
    }
    let nowhere = Provider::new([Answer::redirect(302, "/login")]);
    assert!(reason(Asker::anthropic(&nowhere.url()).run([])).contains("another place of the same server"));
}

#[test]
fn w3_a_switch_turns_every_narration_off() {
    for word in ["0", "false", "off", "OFF", "False"] {
        let provider = Provider::new([Answer::anthropic("x")]);
        let run = Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN", word).run([]);
        assert_eq!(reason(run), "FLECTO_EXPLAIN turns it off");
        assert!(provider.connections().is_empty());
    }
    for word in ["", "1", "true"] {
        let provider = Provider::new([Answer::anthropic("x")]);
        narration(&Asker::anthropic(&provider.url()).env("FLECTO_EXPLAIN", word).run([]).exits(0));
    }
}

#[test]
fn k1_a_key_cannot_bring_a_header_of_its_own() {
    for key in ["abcdefgh\r\nx-injected: 1", "abcdefgh\n", "abcdefghé", "abc\u{7f}defgh", "\tabcdefgh"] {
        let provider = Provider::new([Answer::anthropic("x")]);
        let why = reason(Asker::anthropic(&provider.url()).env("ANTHROPIC_API_KEY", key).run([]));
        assert!(why.starts_with("the key in ANTHROPIC_API_KEY") && !why.contains("abc"), "{why}");
        assert!(provider.connections().is_empty());
    }
}

#[test]
fn k1_a_diff_that_holds_the_key_is_not_sent() {
    let provider = Provider::new([Answer::anthropic("x")]);
    let input = prompted().replace("db.pool_size", KEY);
    let run = Asker::anthropic(&provider.url()).run_on([], &input.replace("\"file\"", "\"f\""));
    assert!(run.stderr.contains("the diff holds the API key itself"), "{}", run.stderr);
    assert!(provider.connections().is_empty());
    let dry = Asker::anthropic(&provider.url()).run_on(["--dry-run"], &input);
    assert!(!contains(dry.stdout.as_bytes(), KEY));
}
