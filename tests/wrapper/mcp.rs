//! flecto mcp: the protocol, spoken line by line, and what no argument of a tool can do

use super::kit::changed;
use crate::support::{Repo, Run, run_with};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string() + "\n"
}

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> String {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// Sends messages, closes, and reads everything that came back.
fn talk(repo: &Repo, messages: &[String]) -> (Vec<Value>, Run) {
    let run = run_with(repo.program("flecto").arg("mcp"), messages.concat()).exits(0);
    let answers = run.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON line"));
    (answers.collect(), run)
}

/// What a tool's call gives, and whether it failed.
fn told(repo: &Repo, tool: &str, arguments: Value) -> (String, bool) {
    let (mut answers, _) = talk(repo, &[call(1, tool, arguments)]);
    assert_eq!(answers.len(), 1);
    let result = answers.remove(0)["result"].take();
    assert_eq!(result["content"][0]["type"], "text", "{result}");
    (result["content"][0]["text"].as_str().expect("text").to_string(), result["isError"].as_bool().expect("isError"))
}

#[test]
fn the_protocol_from_the_handshake_to_a_result() {
    let repo = changed();
    let messages = [
        request(0, "server/discover", json!({})),
        request(
            "a",
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        ),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string() + "\n",
        request(1, "ping", json!({})),
        request(2, "tools/list", json!({})),
        "\n\r\n".to_string(),
        call(3, "flecto_check", json!({"targets": ["config/prod.yaml"], "baseline": "origin/main"})),
        request(4, "resources/list", json!({})),
        request(1.5, "initialize", json!({"protocolVersion": "1999-01-01"})),
    ];
    let (answers, run) = talk(&repo, &messages);
    let by_id =
        |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{id}: {answers:?}"));
    assert_eq!(by_id(json!("a"))["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(by_id(json!("a"))["result"]["serverInfo"]["name"], "flecto");
    assert_eq!(by_id(json!(1.5))["result"]["protocolVersion"], "2025-11-25", "an unknown revision gets the newest");
    assert_eq!(by_id(json!(1))["result"], json!({}));
    for id in [0, 4] {
        assert_eq!(by_id(json!(id))["error"]["code"], -32601);
    }
    let tools = by_id(json!(2))["result"]["tools"].as_array().expect("tools").clone();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["flecto_diff", "flecto_check", "flecto_explain"]);
    for tool in &tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["annotations"]["openWorldHint"], false);
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        jsonschema::validator_for(&tool["inputSchema"]).expect("a schema");
    }
    let report: Value =
        serde_json::from_str(by_id(json!(3))["result"]["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(report["verdict"]["failed"], true);
    assert_eq!(report["files"][0]["changes"][0]["path"], "db.pool_size");
    assert_eq!(answers.len(), 7, "notifications and blank lines get no answer: {}", run.stdout);
}

#[test]
fn the_three_tools_compute() {
    let repo = changed();
    let (diff, failed) = told(&repo, "flecto_diff", json!({"targets": ["config"]}));
    let diff: Value = serde_json::from_str(&diff).expect("JSON");
    assert!(!failed && diff["files"][0]["changes"].as_array().is_some_and(|changes| changes.len() == 2), "{diff}");
    assert!(diff["files"][0]["findings"].as_array().is_none_or(Vec::is_empty), "it judges nothing: {diff}");
    let (explained, failed) = told(&repo, "flecto_explain", json!({"file": "config/prod.yaml", "path": "db"}));
    let explained: Value = serde_json::from_str(&explained).expect("JSON");
    assert!(!failed);
    assert_eq!(
        explained["changes"],
        json!([{"path": "db.pool_size", "op": "changed", "before": 5, "after": 20, "type": "number", "direction": "increase", "factor": 4}])
    );
    assert_eq!(explained["findings"][0]["severity"], "warn");
    let (none, failed) = told(&repo, "flecto_explain", json!({"file": "config/prod.yaml", "path": "db.pool"}));
    assert!(failed && none.contains("2 others did: \"db.pool_size\", \"debug\""), "{none}");
    let (strict, _) = told(&repo, "flecto_check", json!({"targets": ["config"], "fail_on": ["removed"]}));
    assert_eq!(serde_json::from_str::<Value>(&strict).expect("JSON")["verdict"]["failed"], false);
    let (clean, failed) = told(&Repo::new(), "flecto_check", json!({"targets": ["config/prod.yaml"]}));
    assert!(!failed && clean.contains("\"changes\": []"), "{clean}");
}

#[test]
fn s2_s4_secrets_are_hidden_and_no_argument_shows_them() {
    let repo = changed();
    let secret = format!("{}{}", "hunter2", "hunter2!");
    repo.write("config/prod.yaml", format!("db:\n  host: db.internal\n  password: {secret}\n"));
    for (tool, arguments) in [
        ("flecto_diff", json!({"targets": ["config"]})),
        ("flecto_check", json!({"targets": ["config"]})),
        ("flecto_explain", json!({"file": "config/prod.yaml"})),
    ] {
        let (text, failed) = told(&repo, tool, arguments);
        assert!(
            !failed && text.contains("db.password") && text.contains("***") && !text.contains(&secret),
            "{tool}: {text}"
        );
    }
    for arguments in [
        json!({"show_secrets": true}),
        json!({"targets": ["config", "--show-secrets"]}),
        json!({"fail_on": ["none", "--show-secrets"]}),
    ] {
        let (text, failed) = told(&repo, "flecto_check", arguments.clone());
        assert!(failed && !text.contains(&secret), "{arguments}: {text}");
    }
}

#[test]
#[cfg(unix)]
fn nothing_outside_the_served_folder_is_read_and_no_argument_is_an_option() {
    let repo = changed();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("x.yaml"), "canary: 4711\n").expect("a file");
    std::os::unix::fs::symlink(outside.path(), repo.path().join("linked")).expect("a link");
    std::os::unix::fs::symlink(outside.path().join("x.yaml"), repo.path().join("config/link.yaml")).expect("a link");
    let absolute = outside.path().join("x.yaml").to_string_lossy().into_owned();
    let name = outside.path().file_name().expect("a name").to_string_lossy().into_owned();
    let up = format!("../{name}/x.yaml");
    for target in [
        absolute.as_str(),
        &up,
        "config/../../x.yaml",
        "linked/x.yaml",
        "linked/*.yaml",
        "~/x.yaml",
        "C:/x.yaml",
        "..\\x.yaml",
        "",
        "a\u{0}b",
        "--output=stolen",
        "-C/",
        ":(top)x",
    ] {
        let (text, failed) = told(&repo, "flecto_diff", json!({"targets": [target]}));
        assert!(failed && !text.contains("4711"), "{target}: {text}");
        let (text, failed) = told(&repo, "flecto_explain", json!({"file": target}));
        assert!(failed && !text.contains("4711"), "{target}: {text}");
    }
    // A link is a fact of its own, and what it points to is not read.
    for target in ["config", "config/link.yaml", "linked", "**/*.yaml"] {
        let (text, _) = told(&repo, "flecto_diff", json!({"targets": [target]}));
        assert!(!text.contains("4711"), "{target}: {text}");
    }
    for revision in
        ["--output=stolen", "-p", "HEAD --all", "HEAD\n", "", "origin/main..HEAD", "nowhere", "HEAD:config/prod.yaml"]
    {
        for side in ["baseline", "to"] {
            let (text, failed) = told(&repo, "flecto_check", json!({"targets": ["config"], side: revision}));
            assert!(failed, "{side} {revision}: {text}");
        }
    }
    // Two files are never compared with each other, tracked or not.
    repo.write("one.yaml", "a: 1\n");
    repo.write("two.yaml", "a: 2\n");
    let (text, _) = told(&repo, "flecto_diff", json!({"targets": ["one.yaml", "two.yaml"]}));
    assert_eq!(text.matches("\"status\": \"added\"").count(), 2, "{text}");
    assert!(!repo.path().join("stolen").exists());
    let alone = tempfile::tempdir().expect("a folder");
    let mut command = crate::support::program("flecto");
    let run =
        run_with(command.arg("mcp").arg("-C").arg(alone.path()), call(1, "flecto_diff", json!({"targets": ["x"]})))
            .exits(0);
    assert!(run.stdout.contains("\"isError\":true"), "{}", run.stdout);
}

#[test]
fn wrong_messages_are_answered_and_the_next_one_is_served() {
    let repo = changed();
    let huge = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":{{\"x\":\"{}\"}}}}\n",
        "x".repeat(3 << 20)
    );
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"params\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    for (message, code) in [
        ("{\n".to_string(), -32700),
        ("\u{0}\u{1}\n".into(), -32700),
        (deep, -32700),
        ("[]\n".into(), -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n".into(), -32600),
        ("7\n".into(), -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n".into(), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n".into(), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n".into(), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1}\n".into(), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}\n".into(), -32600),
        (huge, -32600),
        (request(1, "tools/call", json!({"name": "rm"})), -32602),
        (request(1, "tools/call", json!(7)), -32602),
        (request(1, "\u{1b}[2J", json!({})), -32601),
    ] {
        let (answers, run) = talk(&repo, &[message.clone(), request("after", "ping", json!({}))]);
        let start: String = message.chars().take(60).collect();
        assert!(answers.iter().any(|answer| answer["error"]["code"] == code), "{start}: {answers:?}");
        assert!(answers.iter().any(|answer| answer["id"] == "after" && answer["result"] == json!({})), "{start}");
        assert!(!run.stdout.contains('\u{1b}'));
    }
    let (answers, _) = talk(
        &repo,
        &[
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".to_string(),
            "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n".into(),
        ],
    );
    assert!(answers.is_empty(), "{answers:?}");
    for (arguments, words) in [
        (json!({"targets": "config"}), "`targets` is no list of texts"),
        (json!({"targets": [1]}), "`targets` is no list of texts"),
        (json!({"target": ["config"]}), "no argument \"target\""),
        (json!({"targets": ["config"], "baseline": 1}), "`baseline` is no text"),
        (json!({"targets": ["config"], "merge_base": "yes"}), "`merge_base` is neither"),
        (json!({"targets": ["config"], "fail_on": ["everything"]}), "everything"),
        (json!([]), "the arguments are no object"),
        (json!({"targets": ["nothing/here"]}), "matches no file"),
    ] {
        let (text, failed) = told(&repo, "flecto_check", arguments);
        assert!(failed && text.contains(words), "{text}");
    }
    // A last line that is cut off is one that is wrong, and the end.
    let (answers, _) = talk(&repo, &["{\"jsonrpc\":\"2.0\",\"id\":1,\"meth".to_string()]);
    assert_eq!(answers[0]["error"]["code"], -32700);
}

#[test]
fn results_are_bounded_and_say_so() {
    let repo = Repo::new();
    let text = |value: &str| {
        (0..6000).map(|n| format!("key_{n}: {value} and more words to fill a line\n")).collect::<String>()
    };
    repo.write("config/large.yaml", text("a"));
    repo.commit("large");
    repo.write("config/large.yaml", text("b"));
    let (said, failed) = told(&repo, "flecto_diff", json!({"targets": ["config/large.yaml"]}));
    assert!(failed && said.contains("KiB") && said.len() < 300, "{}", said.len());
    let (one, failed) = told(&repo, "flecto_explain", json!({"file": "config/prod.yaml"}));
    assert!(failed && one.contains("nothing changed in this file"), "{one}");
}

#[test]
fn k1_no_key_reaches_a_call_and_no_model_is_asked() {
    let repo = changed();
    let provider = crate::support::provider::Provider::new([crate::support::provider::Answer::openai("x")]);
    let mut command = repo.program("flecto");
    super::kit::asking(command.arg("mcp"), &provider).env("FLECTO_EXPLAIN_API_KEY", "a canary key");
    let run = run_with(&mut command, call(1, "flecto_explain", json!({"file": "config/prod.yaml"}))).exits(0);
    assert!(
        run.stdout.contains("pool_size") && !run.stdout.contains("canary") && run.stderr.is_empty(),
        "{}",
        run.stderr
    );
    assert!(provider.connections().is_empty());
}

#[test]
#[cfg(unix)]
fn a_call_that_is_cancelled_gets_no_answer_and_nothing_is_left_behind() {
    let kit = super::kit::Kit::new().replace("flecto-policy");
    let repo = changed();
    let mut command = kit.flecto(&repo, "hang");
    let mut child =
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("flecto");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut say = |text: String| input.write_all(text.as_bytes()).and_then(|()| input.flush()).expect("a reader");
    say(call(1, "flecto_check", json!({"targets": ["config"]})));
    let first = kit.wait_for("flecto-policy.pid");
    say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}).to_string() + "\n");
    say(request(2, "ping", json!({})));
    let mut line = String::new();
    output.read_line(&mut line).expect("an answer");
    assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON")["id"], 2, "the cancelled call is not answered");
    say(call(3, "flecto_check", json!({"targets": ["config"]})));
    super::kit::eventually("the next call is worked on", || {
        Some(kit.left("flecto-policy.pid")).filter(|id| *id != first && id.ends_with('\n'))
    });
    // Killed outright: what it started goes with it.
    let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).status();
    let _ = child.wait();
    kit.is_deserted();
}
