//! Every shape that an answer is known to come in

use super::{Asker, narration, reason, text};
use crate::support::provider::{Answer, Provider, openai_body};
use serde_json::json;

fn anthropic(answer: Answer) -> crate::support::Run {
    let provider = Provider::new([answer]);
    Asker::anthropic(&provider.url()).run([])
}

fn openai(answer: Answer) -> crate::support::Run {
    let provider = Provider::new([answer]);
    Asker::openai(&provider.url()).run([])
}

fn blocks(content: serde_json::Value, stop: &str, more: &str) -> crate::support::Run {
    anthropic(Answer::anthropic_blocks(&content.to_string(), stop, more))
}

fn said(text: &str) -> serde_json::Value {
    json!({"type": "text", "text": text})
}

#[test]
fn text_blocks_are_joined_and_everything_else_is_left_out() {
    let thought = json!({"type":"thinking","thinking":"SECRET-THOUGHT","signature":"c2ln"});
    let content = json!([thought, {"type":"redacted_thinking","data":"eA=="}, {"type":"hologram","x":1}, said("Part one. "), said("Part two.")]);
    let run = blocks(content, "end_turn", "").exits(0);
    assert_eq!(text(&run), "Part one. Part two.");
    assert!(!run.stdout.contains("SECRET-THOUGHT"));
}

#[test]
fn an_answer_without_text_is_no_narration() {
    let thought = json!([{"type":"thinking","thinking":"SECRET-THOUGHT","signature":"x"}]);
    let why = reason(blocks(thought.clone(), "max_tokens", ""));
    assert!(why.contains("wrote no text") && why.contains("--max-tokens"), "{why}");
    for content in
        [json!([]), json!([said("  \n ")]), json!([{"type":"tool_use","id":"t","name":"x","input":{}}]), thought]
    {
        assert!(reason(blocks(content, "end_turn", "")).contains("wrote no text"));
    }
    let all = anthropic(Answer::json(
        200,
        r#"{"model":"claude-opus-5","content":[],"stop_reason":"max_tokens","usage":{"input_tokens":1,"output_tokens":16000,"output_tokens_details":{"thinking_tokens":15990}}}"#,
    ));
    assert!(
        all.stderr.contains("billed 1 input tokens and 16000 output tokens (15990 of them to think)"),
        "{}",
        all.stderr
    );
    assert!(reason(all).contains("15990 of them to think; raise --max-tokens"));
}

#[test]
fn a_refusal_is_said_and_its_partial_text_is_not() {
    let details = r#","stop_details":{"type":"refusal","category":"cyber","explanation":"No.\u001b[31m","fallback_credit_token":"CREDIT-TOKEN","recommended_model":"claude-haiku-5-5"}"#;
    let run = blocks(json!([said("The replica count ri")]), "refusal", details);
    assert!(
        !run.stdout.contains("replica count ri") && !run.stderr.contains("CREDIT") && !run.stdout.contains("CREDIT")
    );
    assert!(run.stderr.contains("anthropic billed 412"), "{}", run.stderr);
    let why = reason(run);
    assert_eq!(
        why,
        "the model declined (category cyber): No. (the provider recommends claude-haiku-5-5) [request req_t1]"
    );
    assert_eq!(reason(blocks(json!([]), "refusal", ",\"stop_details\":null")), "the model declined [request req_t1]");
}

#[test]
fn a_fallback_leaves_a_seam_and_names_the_model_that_answered() {
    let seam = json!({"type":"fallback","from":{"model":"claude-opus-5"},"to":{"model":"claude-opus-4-8"},"trigger":{"type":"refusal"}});
    let run = blocks(
        json!([said("The repl"), seam, said("The replica count rises.")]),
        "end_turn",
        ",\"model\":\"claude-opus-4-8\"",
    )
    .exits(0);
    assert_eq!(
        text(&run),
        "The repl\n\n— model changed: claude-opus-5 → claude-opus-4-8 —\n\nThe replica count rises."
    );
    let record = narration(&run);
    assert_eq!(record["answered_by"], "claude-opus-4-8");
    assert_eq!(
        record["label"],
        "Model-generated narration (anthropic claude-opus-5, answered by claude-opus-4-8) — advisory, not computed by Flecto, and never part of the exit code"
    );
    let silent = blocks(json!([said("x")]), "end_turn", ",\"model\":\"claude-opus-4-8\"").exits(0);
    assert_eq!(narration(&silent)["answered_by"], "claude-opus-4-8", "a fallback before any output leaves no block");
    let declined = blocks(json!([seam]), "refusal", ",\"model\":\"claude-opus-4-8\"");
    assert!(reason(declined).starts_with("the model declined"));
    let only_seam = blocks(json!([seam]), "end_turn", "");
    assert!(reason(only_seam).contains("wrote no text"));
}

#[test]
fn e5_the_label_says_who_answered_to_the_letter() {
    let advisory = "— advisory, not computed by Flecto, and never part of the exit code";
    let provider = Provider::new([Answer::anthropic("x")]);
    let asker = Asker::anthropic(&provider.url());
    let label = |run| narration(&run)["label"].as_str().expect("a label").to_string();
    assert_eq!(label(asker.run([])), format!("Model-generated narration (anthropic claude-opus-5) {advisory}"));
    assert_eq!(label(asker.run([])), format!("Model-generated narration (anthropic claude-opus-5, cached) {advisory}"));
    let other = openai(Answer::openai("x"));
    assert_eq!(label(other), format!("Model-generated narration (openai local-model, answered by gate) {advisory}"));
    let dated = blocks(json!([said("x")]), "end_turn", ",\"model\":\"claude-opus-5-20260401\"").exits(0);
    assert!(narration(&dated)["answered_by"].is_null(), "a dated release of the same model is the same model");
    let hostile =
        blocks(json!([said("x")]), "end_turn", ",\"model\":\"evil\\n\\u001b[2J) computed by Flecto\\u202e\"").exits(0);
    let label = label(hostile);
    assert!(label.lines().count() == 1 && !label.contains('\u{1b}') && !label.contains('\u{202e}'), "{label:?}");
}

#[test]
fn answers_that_stop_early_or_for_unknown_reasons_say_so() {
    for (stop, words, truncated) in [
        ("model_context_window_exceeded", "[cut off: the model's context window is full]", true),
        ("pause_turn", "[cut off: the model paused]", true),
        ("brand_new_reason", "[the model stopped for a reason that flecto does not know (brand_new_reason)]", false),
    ] {
        let run = blocks(json!([said("The pool grows.")]), stop, "").exits(0);
        assert_eq!(text(&run), format!("The pool grows.\n\n{words}"));
        assert_eq!(narration(&run)["truncated"], truncated);
    }
    for finish in ["null", "\"stop\"", "\"eos_token\"", "\"\""] {
        let run = openai(Answer::openai_message(r#"{"content":"Visible."}"#, finish)).exits(0);
        assert_eq!(text(&run), "Visible.", "{finish}");
    }
    let run = openai(Answer::openai_message(r#"{"content":"Visi"}"#, "\"length\"")).exits(0);
    assert_eq!(narration(&run)["truncated"], true);
    let run = openai(Answer::openai_message(r#"{"content":"Visible."}"#, "\"error\"")).exits(0);
    assert!(text(&run).contains("does not know (error)"));
}

#[test]
fn chat_completions_come_in_many_shapes() {
    for (message, expected) in [
        (r#"{"content":"Visible.","reasoning_content":"SECRET-THOUGHT"}"#, "Visible."),
        (r#"{"content":"Visible.","reasoning":"SECRET-THOUGHT"}"#, "Visible."),
        (
            r#"{"content":[{"type":"text","text":"Visi"},{"type":"image_url"},{"type":"text","text":"ble."}]}"#,
            "Visible.",
        ),
        (r#"{"content":"<think>\nSECRET-THOUGHT\n</think>\n\nVisible."}"#, "Visible."),
        (r#"{"content":"SECRET-THOUGHT</think>Visible."}"#, "Visible."),
        (
            r#"{"content":"<|channel|>analysis<|message|>SECRET-THOUGHT<|end|><|start|>assistant<|channel|>final<|message|>Visible."}"#,
            "Visible.",
        ),
    ] {
        let run = openai(Answer::openai_message(message, "\"stop\"")).exits(0);
        assert_eq!(text(&run), expected);
        assert!(!run.stdout.contains("SECRET-THOUGHT"));
    }
    for (message, finish, words) in [
        (
            r#"{"content":"","reasoning_content":"SECRET-THOUGHT"}"#,
            "\"length\"",
            "wrote no text: the model reached its limit",
        ),
        (r#"{"content":null}"#, "\"stop\"", "wrote no text"),
        (r#"{"content":"  \n"}"#, "\"stop\"", "wrote no text"),
        (r#"{"content":"<think>SECRET-THOUGHT"}"#, "\"length\"", "wrote no text"),
        (r#"{"content":null,"tool_calls":[{"id":"1"}]}"#, "\"tool_calls\"", "wrote no text"),
        (r#"{"content":null,"refusal":"I can't."}"#, "\"stop\"", "the model declined: I can't."),
        (r#"{"content":"half"}"#, "\"content_filter\"", "content filter"),
        (r#"{"content":"<|im_end|><|endoftext|></s>"}"#, "\"stop\"", "wrote no text"),
    ] {
        let run = openai(Answer::openai_message(message, finish));
        assert!(!run.stdout.contains("SECRET-THOUGHT") && !run.stdout.contains("half"));
        let why = reason(run);
        assert!(why.contains(words), "{message}: {why}");
    }
}

#[test]
fn bodies_of_another_kind_are_reasons() {
    for body in [r#"{"id":"x","choices":[]}"#, r#"{"choices":null}"#, "[1]", "\"hi\"", "{}", "3", "null"] {
        reason(openai(Answer::json(200, body)));
        reason(anthropic(Answer::json(200, body)));
    }
    assert!(reason(anthropic(Answer::json(200, openai_body("x")))).contains("use --provider openai"));
    assert!(reason(openai(Answer::anthropic("x"))).contains("use --provider anthropic"));
    let twice = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"choices":[{"message":{"content":"b"}}],"error":{"code":502,"message":"upstream died"}}"#;
    assert!(reason(openai(Answer::json(200, twice))).contains("upstream died"));
    let bom = [b"\xef\xbb\xbf".as_slice(), openai_body("Visible.").as_bytes()].concat();
    assert_eq!(text(&openai(Answer::json(200, bom)).exits(0)), "Visible.");
    let wrong_type = Answer::http(200, &[("content-type", "text/plain")], openai_body("Visible."));
    assert_eq!(text(&openai(wrong_type).exits(0)), "Visible.");
    assert_eq!(text(&anthropic(Answer::chunked("In chunks.")).exits(0)), "In chunks.");
}

#[test]
fn the_output_cap_changes_its_name_once_where_the_server_wants_that() {
    let unsupported = |name: &str| {
        Answer::json(400, json!({"error":{"message":format!("Unsupported parameter: '{name}' is not supported with this model."),"type":"invalid_request_error","param":name,"code":"unsupported_parameter"}}).to_string())
    };
    let provider = Provider::new([unsupported("max_tokens"), Answer::openai("x")]);
    narration(&Asker::openai(&provider.url()).run([]).exits(0));
    let bodies: Vec<_> = provider.requests().iter().map(|request| request.json()).collect();
    assert_eq!((&bodies[0]["max_tokens"], &bodies[0]["max_completion_tokens"]), (&json!(16000), &json!(null)));
    assert_eq!((&bodies[1]["max_tokens"], &bodies[1]["max_completion_tokens"]), (&json!(null), &json!(16000)));
    let stubborn = Provider::new([unsupported("max_tokens"), unsupported("max_completion_tokens")]);
    reason(Asker::openai(&stubborn.url()).run([]));
    assert_eq!(stubborn.requests().len(), 2, "once");
    let other =
        Provider::new([Answer::json(400, r#"{"error":{"message":"max_tokens: must be >= 1","param":"max_tokens"}}"#)]);
    reason(Asker::openai(&other.url()).run([]));
    assert_eq!(other.requests().len(), 1, "another complaint about it is not that one");
    let messages = Provider::new([unsupported("max_tokens")]);
    reason(Asker::anthropic(&messages.url()).run([]));
    assert_eq!(messages.requests().len(), 1, "the Messages API knows one name");
}
