#!/usr/bin/env python3
"""Runs flecto-narrate against real stand-ins for the providers' servers, and says what came of it.

    tests/narrate/servers.py --bin target/debug --gate http://127.0.0.1:4090
    tests/narrate/servers.py --bin target/debug --llmock http://127.0.0.1:4010

--gate    a strict stand-in for both APIs: POST BASE/s/SCENARIO/v1/messages and BASE/s/SCENARIO/v1/chat/completions play a
          scenario each, GET BASE/log gives every request as JSON lines, POST BASE/reset clears them. Its key is `sk-gate`.
--llmock  `pip install llmock; llmock serve --port 4010`: its verdict on retries and time-outs.

Every run must end within its time-out with exit status 0 and one narration or one `No narration:` line; no key, no thought and
no character that acts may be in what it wrote; no request may be refused for its form; and what was sent must be what the dry
run printed. Exit status 1 where one of them does not hold.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

ANTHROPIC = """ok two-texts thinking only-thinking max-tokens ctx refusal-empty refusal-partial refusal-null-details fallback
fallback-also-refused empty blank tool-use pause"""
OPENAI = """ok max-tokens filter refusal null blank reasoning-ate-budget reasoning-content reasoning think-tags think-unclosed
think-no-open think-channel tool-calls"""
BOTH = """no-choices choices-null content-parts err200 list str finish-null finish-unknown no-usage new-stop new-block redir-301
redir-302 redir-303 redir-307 redir-308 rate429 rate429-once rate429-day rate429-date quota429 overloaded server500 html502
err-echo-key err-flat err-string err-detail hang drip short-body huge bomb gzip not-json bom bad-utf8 deep sse-unasked hdr-esc"""
CHANGE = ("replicas: 2\nimage: api:1.4\n", "replicas: 4\nimage: api:1.5\n")
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def prompt(programs):
    """The stream that flecto-narrate reads."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, text in zip(("old.yaml", "new.yaml"), CHANGE):
            names.append(os.path.join(folder, name))
            with open(names[-1], "w") as file:
                file.write(text)
        diff = subprocess.run([f"{programs}/flecto-diff", "--no-index", *names], stdout=subprocess.PIPE, check=True)
        filled = subprocess.run([f"{programs}/flecto-payload"], input=diff.stdout, stdout=subprocess.PIPE, check=True)
        return filled.stdout


def fetch(url, data=None):
    with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=30) as answer:
        return answer.read()


class Asker:
    def __init__(self, programs, key):
        self.program, self.key, self.stream = f"{programs}/flecto-narrate", key, prompt(programs)
        self.wrong, self.runs, self.narrations, self.longest = [], 0, 0, 0.0

    def ask(self, provider, url, *words, timeout=4000, model="gate"):
        home = tempfile.mkdtemp()
        environment = {
            "PATH": os.environ["PATH"], "HOME": home, "FLECTO_EXPLAIN_PROVIDER": provider, "FLECTO_EXPLAIN_API_URL": url,
            "FLECTO_EXPLAIN_API_KEY": self.key, "FLECTO_EXPLAIN_MODEL": model, "FLECTO_EXPLAIN_TIMEOUT_MS": str(timeout),
        }
        start = time.monotonic()
        run = subprocess.run([self.program, "--no-cache", *words], input=self.stream, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        took = time.monotonic() - start
        return run.returncode, run.stdout.decode(), run.stderr.decode(), took

    def judge(self, what, outcome, timeout=4000):
        status, stdout, stderr, took = outcome
        self.runs += 1
        self.longest = max(self.longest, took)
        said = [json.loads(line) for line in stdout.splitlines() if line.startswith('{"type":"narration"')]
        reasons = [line for line in stderr.splitlines() if line.startswith("No narration: ")]
        self.narrations += len(said)
        shown = stderr + "".join(record["text"] + record["label"] for record in said)
        for holds, claim in [
            (status == 0, f"exit status {status}"),
            (len(said) + len(reasons) == 1, f"{len(said)} narrations and {len(reasons)} reasons"),
            (self.key not in stdout + stderr, "the key is in what it wrote"),
            ("SECRET-THOUGHT" not in stdout + stderr, "a thought is shown"),
            (not ACTS.search(shown), "a character that acts is shown"),
            (took < timeout / 1000 + 5, f"it took {took:.1f} s"),
        ]:
            if not holds:
                self.wrong.append(f"{what}: {claim}")
        print(f"{what:44} {took:5.1f} s  {reasons[0][:150] if reasons else repr(said[0]['text'][:90]) if said else '?'}", flush=True)
        return said, reasons


def gate(asker, base):
    requests = refused = 0
    for provider, scenarios in [("anthropic", ANTHROPIC + " " + BOTH), ("openai", OPENAI + " " + BOTH)]:
        for scenario in scenarios.split():
            for words in [[], ["--stream"]]:
                url = f"{base}/s/{scenario}" + ("" if provider == "anthropic" else "/v1")
                fetch(f"{base}/reset", b"")
                dry = asker.ask(provider, url, *words, "--dry-run")[1].partition("\n\n")[2].rstrip("\n")
                what = f"{provider} {scenario} {' '.join(words)}"
                said, reasons = asker.judge(what, asker.ask(provider, url, *words))
                log = [json.loads(line) for line in fetch(f"{base}/log").decode().splitlines()]
                requests += len(log)
                if not log or any(request["body"] != dry for request in log):
                    asker.wrong.append(f"{what}: what was sent is not what the dry run printed")
                form = ["Extra inputs", "Field required", "Input should", "header is required", "content-type must", "at the same time"]
                if scenario != "err-detail" and any(word in "".join(reasons) for word in form):
                    refused += 1
                    asker.wrong.append(f"{what}: refused for its form")
                if scenario in ("ok", "bom", "two-texts", "reasoning-content", "think-tags") and not said:
                    asker.wrong.append(f"{what}: no narration")
    for effort in ["low", "high"]:
        for provider, end in [("anthropic", ""), ("openai", "/v1")]:
            asker.judge(f"{provider} ok --effort {effort}", asker.ask(provider, f"{base}/s/ok{end}", "--effort", effort))
    fetch(f"{base}/reset", b"")
    said, _ = asker.judge("openai swaps the cap's name", asker.ask("openai", f"{base}/s/ok/v1", model="gpt-5-mini"))
    if not said:
        asker.wrong.append("the cap's name was not swapped")
    azure = f"{base}/s/ok/openai/deployments/d?api-version=2026-01-01"
    said, _ = asker.judge("openai azure", asker.ask("openai", azure))
    if not said:
        asker.wrong.append("azure: no narration")
    print(f"\n{requests} requests, {refused} refused for their form")


def llmock(asker, base):
    faults = [
        ("fine", []),
        ("429 once", [{"type": "fail", "status": 429, "retry_after": 1, "times": 1}]),
        ("500 twice", [{"type": "fail", "status": 500, "times": 2}]),
        ("401", [{"type": "fail", "status": 401, "times": 9}]),
        ("529 for ever", [{"type": "fail", "status": 529, "times": 99}]),
        ("truncate", [{"type": "stream_fault", "kind": "truncate"}]),
        ("disconnect", [{"type": "stream_fault", "kind": "disconnect"}]),
        ("malformed", [{"type": "stream_fault", "kind": "malformed"}]),
        ("stall", [{"type": "stream_fault", "kind": "stall", "stall_seconds": 2}]),
    ]
    breaks = {"truncate", "disconnect", "malformed"}
    for provider, url in [("anthropic", f"{base}/anthropic"), ("openai", f"{base}/v1")]:
        for name, behaviors in faults:
            for words in [[], ["--stream"]]:
                if not words and (name in breaks or name == "stall"):
                    continue
                fetch(f"{base}/_llmock/reset", b"")
                if behaviors:
                    request = urllib.request.Request(f"{base}/_llmock/scenario", json.dumps({"behaviors": behaviors}).encode(),
                                                     {"content-type": "application/json"})
                    urllib.request.urlopen(request, timeout=30).read()
                what = f"llmock {provider} {name} {' '.join(words)}"
                said, _ = asker.judge(what, asker.ask(provider, url, *words, timeout=15000), timeout=15000)
                if said and name in breaks:
                    asker.wrong.append(f"{what}: a broken stream is narrated")
                verdict = json.loads(fetch(f"{base}/_llmock/verdict"))
                # Of a broken stream it minds that it is not asked for again. That is meant: an answer that was begun is billed,
                # and may stand on a terminal.
                if verdict["findings"] and name not in breaks and name != "stall":
                    asker.wrong.append(f"{what}: {json.dumps(verdict['findings'])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder of the programs")
    parser.add_argument("--gate")
    parser.add_argument("--llmock")
    arguments = parser.parse_args()
    asker = Asker(arguments.bin, "sk-gate")
    if arguments.gate:
        gate(asker, arguments.gate.rstrip("/"))
    if arguments.llmock:
        llmock(asker, arguments.llmock.rstrip("/"))
    print(f"{asker.runs} runs: {asker.narrations} narrations, {asker.runs - asker.narrations} reasons; the longest took {asker.longest:.1f} s")
    for wrong in asker.wrong:
        print(f"WRONG {wrong}")
    sys.exit(1 if asker.wrong or not asker.runs else 0)


if __name__ == "__main__":
    main()
