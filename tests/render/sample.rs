//! The stream that every format is shown with: some twenty records, at least one of each kind that there is.

use crate::support::{Run, filter};

/// A short stream, as `flecto-diff | flecto-policy` writes one for the README's change.
pub(crate) const README: &str = concat!(
    r#"{"type":"start","version":1,"baseline":"origin/main","commit":"0123456789abcdef0123456789abcdef01234567"}"#,
    "\n",
    r#"{"type":"file","file":"config/prod.yaml","format":"yaml","status":"modified"}"#,
    "\n",
    r#"{"type":"change","file":"config/prod.yaml","path":"db.pool_size","op":"changed","before":5,"after":20,"line":3,"column":14,"end_line":3,"before_line":3}"#,
    "\n",
    r#"{"type":"finding","file":"config/prod.yaml","path":"db.pool_size","rule":"pool-size-doubled","pack":"default","severity":"warn","message":"Pool size increased from 5 to 20 (>=2x).","line":3,"column":14,"end_line":3}"#,
    "\n",
    r#"{"type":"change","file":"config/prod.yaml","path":"debug","op":"changed","before":false,"after":true,"line":4,"column":8,"end_line":4,"before_line":4}"#,
    "\n",
    r#"{"type":"finding","file":"config/prod.yaml","path":"debug","rule":"dangerous-toggle","pack":"default","severity":"error","message":"Potentially dangerous toggle enabled.","line":4,"column":8,"end_line":4}"#,
    "\n",
    r#"{"type":"verdict","fail_on":["policy"],"failed":true,"error":1,"warn":1,"info":0,"accepted":0,"added":0,"removed":0,"changed":2,"reordered":0}"#,
    "\n",
    r#"{"type":"end","files":1,"differing":1,"changes":2,"errors":0,"complete":true}"#,
    "\n",
);

/// One record of each kind, with odd values, and an incomplete run.
pub(crate) const TWENTY: &str = concat!(
    r#"{"type":"start","version":1,"baseline":"origin/main","to":"HEAD","x-tool":"ours"}"#,
    "\n",
    r#"{"type":"file","file":"a/new.env","format":"dotenv","status":"added"}"#,
    "\n",
    r#"{"type":"change","file":"a/new.env","path":"LOG_LEVEL","op":"added","after":"debug","line":1,"column":11,"end_line":1}"#,
    "\n",
    r#"{"type":"file","file":"a/old.json","format":"json","status":"removed"}"#,
    "\n",
    r#"{"type":"change","file":"a/old.json","path":"$","op":"removed","before":{"x":[1,"1",null],"y":{}},"before_line":1}"#,
    "\n",
    r#"{"type":"file","file":"broken.yaml","format":"yaml","status":"error","side":"after","error":"12:3: mapping values are not allowed here"}"#,
    "\n",
    r#"{"type":"file","file":"deploy/api.yaml","format":"yaml","kind":"kubernetes","status":"renamed","from":"deploy/web.yaml"}"#,
    "\n",
    r#"{"type":"change","file":"deploy/api.yaml","document":"Deployment/prod/api","path":"spec.replicas","op":"changed","before":3,"after":"3","line":9,"column":13,"end_line":9,"before_line":9}"#,
    "\n",
    r#"{"type":"finding","file":"deploy/api.yaml","document":"Deployment/prod/api","path":"spec.replicas","rule":"type-changed","severity":"info","message":"A number became a string.","line":9,"column":13,"end_line":9,"my-field":[1, 2]}"#,
    "\n",
    r#"{"type":"change","file":"deploy/api.yaml","document":"Deployment/prod/api","path":"spec.args","op":"reordered","before":["a","b"],"after":["b","a"],"line":11,"column":5,"end_line":12}"#,
    "\n",
    r#"{"type":"change","file":"deploy/api.yaml","document":"Secret/prod/db","path":"data.token","op":"changed","before":"<encrypted:sops:0123456789ab>","after":"<no longer encrypted>","line":20,"column":10,"end_line":20}"#,
    "\n",
    r#"{"type":"finding","file":"deploy/api.yaml","document":"Secret/prod/db","path":"data.token","rule":"no-longer-encrypted","pack":"default","severity":"error","message":"An encrypted value is now in the clear.","line":20,"column":10,"end_line":20,"accepted":{"by":"accept file","reason":"rotated, see runbook"}}"#,
    "\n",
    r#"{"type":"change","file":"deploy/api.yaml","document":"Secret/prod/db","path":"big","op":"changed","before":{"$flecto":"int","text":"12345678901234567890123"},"after":{"$flecto":"date","text":"2033-12-20"},"note":"another type","line":21,"column":6,"end_line":21}"#,
    "\n",
    r#"{"type":"change","file":"deploy/api.yaml","document":"ConfigMap/prod/app","path":"data['app.yaml']!server.port","op":"changed","before":80,"after":8080,"line":31,"column":13,"end_line":31,"line_hash":"0123456789abcdef:1"}"#,
    "\n",
    r#"{"type":"finding","file":"deploy/api.yaml","document":"ConfigMap/prod/app","path":"data['app.yaml']!server.port","rule":"port-changed","pack":"default","severity":"warn","message":"The port changed from 80 to 8080.","template":"The port changed from {before} to {after}.","before":80,"after":8080,"line":31,"column":13,"end_line":31,"line_hash":"0123456789abcdef:1"}"#,
    "\n",
    r#"{"type":"change","file":"deploy/api.yaml","document":"ConfigMap/prod/app","path":"data['app.yaml']!db.password","op":"changed","before":"***","after":"***","line":32,"column":15,"end_line":32}"#,
    "\n",
    r#"{"type":"file","file":"layout.yaml","format":"yaml","status":"modified"}"#,
    "\n",
    r#"{"type":"mine","of":"a filter of the user's","n":1.0}"#,
    "\n",
    r#"{"type":"verdict","fail_on":["error"],"failed":false,"error":0,"warn":1,"info":1,"accepted":1,"added":1,"removed":1,"changed":5,"reordered":1}"#,
    "\n",
    r#"{"type":"end","files":9,"differing":4,"changes":8,"errors":1,"complete":false}"#,
    "\n",
    r#"{"type":"payload","version":1,"system":"s","user":"u"}"#,
    "\n",
    r#"{"type":"warning","stage":"diff","message":"duplicate keys in a.yaml: the last one counts"}"#,
    "\n",
    r#"{"type":"warning","stage":"narrate","message":"No narration: over budget"}"#,
    "\n",
);

/// What a model said, as a record.
pub(crate) const NARRATION: &str = concat!(
    r#"{"type":"narration","provider":"anthropic","model":"claude-opus-5","label":"Model-generated narration (anthropic claude-opus-5) — advisory, not computed by Flecto, and never part of the exit code","text":"- The pool is four times as large.\n- `debug` is on.\n","cached":false,"truncated":false}"#,
    "\n",
);

/// Renders a stream. The format `rich` is the rich style of `text`.
pub(crate) fn render(args: impl AsRef<[&'static str]>, input: &str) -> Run {
    let rich = ["--format", "text", "--style", "rich"];
    match args.as_ref() {
        ["--format", "rich", rest @ ..] => filter("flecto-render", [&rich, rest].concat(), input),
        args => filter("flecto-render", args, input),
    }
}
