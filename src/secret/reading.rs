//! Can this value be a secret at all? References, sentinels and the words that configuration has where a secret could be.
//!
//! References are a grammar that must match the whole value. "Contains `${`" was rejected: `${PW:-hunter2}` contains it, and
//! so may a password.

use super::opaque;
use super::words::{self, Strength};

/// Whether a text is a mask, a sentinel of ours, or what a person or another tool puts there instead: nothing is left to hide.
pub(super) fn is_masked(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.bytes().all(|b| b == b'*' || b == b'.' || b == b'#')
        || text.chars().all(|c| c == '•' || c == '●')
        || text.len() >= 3 && text.bytes().all(|b| b == b'x' || b == b'X')
        || is_redaction(text)
        || text.starts_with("<encrypted:") && text.ends_with('>') && !text[1..].contains('<')
        || text == crate::value::WITHHELD
        || {
            let inner = text.trim_matches(|c: char| "<>[](){}*_-".contains(c));
            inner.len() < 24
                && [
                    "redacted",
                    "masked",
                    "hidden",
                    "removed",
                    "filtered",
                    "omitted",
                    "sanitized",
                    "scrubbed",
                    "secret removed",
                ]
                .iter()
                .any(|word| inner.eq_ignore_ascii_case(word))
        }
}

/// `[REDACTED:name]`, with a number where two were equal.
fn is_redaction(text: &str) -> bool {
    text.strip_prefix("[REDACTED").and_then(|rest| rest.split_once(']')).is_some_and(|(name, rest)| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b':' || b == b'-')
            && (rest.is_empty() || rest.strip_prefix('#').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())))
    })
}

/// Whether the whole text is a reference to a value that stands elsewhere, with no literal default in it.
pub(super) fn is_reference(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > 4096 {
        return false;
    }
    // `!vault |`: the head of a block that a line reader sees alone.
    if matches!(text, "!vault |" | "!vault |-" | "!vault >") {
        return true;
    }
    // An argument of a script: `$1`, `$@`.
    if text.len() <= 3
        && text.strip_prefix('$').is_some_and(|rest| {
            matches!(rest, "@" | "*" | "#" | "?") || !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
        })
    {
        return true;
    }
    // Quotes that a template puts around: `"{{ vault_db_password }}"`.
    if let Some(inner) = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        && inner.starts_with(['{', '$', '%', '<'])
    {
        return is_reference(inner);
    }
    // Several references in a row, joined by punctuation: `${A}:${B}`.
    let mut rest = text;
    let mut any = false;
    while !rest.is_empty() {
        let Some(length) = one_reference(rest) else { return false };
        any = true;
        rest = &rest[length..];
        let glue = rest.bytes().take_while(|b| b":/.-_@ ,".contains(b)).count();
        rest = &rest[glue..];
        if rest == "#" && text.starts_with("#{") {
            // `#{DB_PASSWORD}#`, as release pipelines replace it.
            rest = "";
        }
    }
    any
}

/// The length of the reference that the text begins with. One with a literal in it is none.
fn one_reference(text: &str) -> Option<usize> {
    let balanced = |open: &str, close: &str| -> Option<usize> {
        let inner = text.strip_prefix(open)?;
        let end = matching(inner, open, close)?;
        let body = &inner[..end];
        (!has_literal(body)).then_some(open.len() + end + close.len())
    };
    let simple = |open: &str, close: &str| -> Option<usize> {
        let inner = text.strip_prefix(open)?;
        let end = inner.find(close)?;
        let body = &inner[..end];
        let fine = !body.is_empty()
            && body.len() < 200
            && body.chars().all(|c| c.is_alphanumeric() || " _-.:/|,()#'\"[]".contains(c))
            && !opaque::is_opaque(body);
        fine.then_some(open.len() + end + close.len())
    };
    // `$(< /run/secrets/db)`, `${!NAME}`.
    if let Some(inner) = text.strip_prefix("$(<").and_then(|inner| inner.strip_suffix(')')) {
        return is_file_path(inner).then_some(text.len());
    }
    if let Some(inner) = text.strip_prefix("${!").and_then(|inner| inner.strip_suffix('}')) {
        return inner.bytes().all(|b| b.is_ascii_uppercase() || b == b'_').then_some(text.len());
    }
    let doubled =
        ["${{", "{{", "{%", "<%=", "<%", "#{", "${", "$(", "@{", "%{", "((", "[[", "$[", "!{", "$__env{", "$__vault{"];
    let closing = ["}}", "}}", "%}", "%>", "%>", "}", "}", ")", "}", "}", "))", "]]", "]", "}", "}", "}"];
    for (open, close) in doubled.iter().zip(closing) {
        if text.starts_with(open) {
            return balanced(open, close);
        }
    }
    if text.starts_with('<') {
        // `<your-password>`: words, not what an XML element holds.
        return simple("<", ">").filter(|length| text[*length..].is_empty() || !text[*length..].contains("</"));
    }
    if text.starts_with('%') {
        return simple("%", "%");
    }
    if text.starts_with("__") {
        return simple("__", "__").filter(|_| text.bytes().all(|b| !b.is_ascii_lowercase()));
    }
    // A tag that a parser has left in the text: `!secret wifi_password`, `!Ref DbPassword`.
    if let Some((tag, name)) = text.strip_prefix('!').and_then(|rest| rest.split_once(' ')) {
        const TAGS: &[&str] = &[
            "secret",
            "env",
            "env_var",
            "vault",
            "Ref",
            "GetAtt",
            "ImportValue",
            "Sub",
            "reference",
            "include",
            "var",
            "file",
            "ref",
            "sops",
            "ssm",
            "Join",
            "Select",
            "FindInMap",
            "Base64",
        ];
        let fine = TAGS.contains(&tag)
            && name.len() < 200
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-/:[], ${}'\"".contains(&b))
            && !name.split(|c: char| !c.is_ascii_alphanumeric()).any(opaque::is_opaque);
        return fine.then_some(text.len());
    }
    if let Some(name) = text.strip_prefix('@').and_then(|rest| rest.strip_suffix('@'))
        && name.len() > 2
        && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    {
        return Some(text.len());
    }
    if text.starts_with("@@") {
        return simple("@@", "@@");
    }
    if let Some(name) = text
        .strip_prefix('$')
        .filter(|name| !name.starts_with('_') && !name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("env:")))
    {
        // One case only: `$DB_PASSWORD` is a variable, `$uperS3cret` is not.
        let length = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let word = name[..length].trim_end_matches('_');
        let first = word.bytes().next()?;
        let upper = word.bytes().all(|b| !b.is_ascii_lowercase()) && first.is_ascii_uppercase();
        let lower = word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') && first.is_ascii_lowercase();
        // `$oidc.okta.clientSecret`, `$secret:db.password`: names joined by dots.
        let dotted = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_.:-".contains(b)).count();
        let parts: Vec<&str> = name[..dotted].split(['.', ':', '-']).collect();
        if dotted > length
            && dotted < 100
            && name[..dotted].contains('.')
            && parts.iter().all(|part| part.len() > 1 && part.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_'))
            && parts.last().is_some_and(|last| words::named(last).is_some() || last.contains('_'))
        {
            return Some(1 + dotted);
        }
        // `$P` alone: nobody's password is that short.
        let one = (word.len() > 1 || name.len() == 1)
            && (upper || lower && (word.contains('_') || words::named(word).is_some()));
        return (one && word.len() < 64).then_some(1 + length);
    }
    // `secret/data/app#password`: a path in a store, and the field there.
    if let Some((path, field)) = text.split_once('#')
        && words::named(field).is_some()
        && field.bytes().all(|b| b.is_ascii_lowercase() || b"_-".contains(&b))
        && path.contains('/')
        && path.bytes().all(|b| b.is_ascii_lowercase() || b"/_-.".contains(&b))
    {
        return Some(text.len());
    }
    let schemes = [
        "op://",
        "vault:",
        "arn:",
        "secretref:",
        "secretref+",
        "ref+",
        "ssm:",
        "ssm://",
        "awssm:",
        "azurekv:",
        "gcpsecretmanager:",
        "secret://",
        "awssm://",
        "awsps://",
        "gcpsm://",
        "gsm://",
        "sm://",
        "secretsmanager:",
        "gcp:secretmanager:",
        "$env:",
        "$Env:",
        "keyvault:",
        "akv://",
        "azkv://",
        "file://",
        "file:",
        "env:",
        "env://",
        "env.",
        "env(",
        "env[",
        "process.env.",
        "os.environ",
        "os.getenv(",
        "getenv(",
        "$_POST[",
        "$_GET[",
        "$_REQUEST[",
        "$_SERVER[",
        "$_ENV[",
        "$_SESSION[",
        "@env:",
        "@/run/",
        "@/etc/",
        "@/var/",
        "ephemeral.",
        "each.value.",
        "System.getenv(",
        "System.getProperty(",
        "ENV[",
        "ENV.fetch(",
        "secrets.",
        "var.",
        "local.",
        "data.",
        "module.",
        "vars.",
        "params.",
        "projects/",
        "doppler://",
        "bws://",
        "keyring:",
        "keychain:",
        "pass:",
        "infisical://",
        "akeyless:",
        "conjur:",
        "bao:",
        "hcvault://",
        "vault://",
        "vaulted:",
        "kubernetes://",
        "k8s://",
        "k8s:",
        "config.",
        "lookup(",
        "lookup('",
        "@Microsoft.KeyVault(",
        "resolve:",
        "random_password.",
        "aws_secretsmanager",
        "kms:",
        "sops:",
        "from_env:",
        "cmd:",
        "script:",
        "include:",
        "context.",
        "self.",
        "this.",
        "settings.",
        "input.",
        "inputs.",
        "steps.",
        "needs.",
        "github.",
        "matrix.",
        "azurerm_",
        "google_",
        "aws_",
        "pulumi:",
        "fn::",
        "cfn:",
        "imported:",
        "output:",
        "outputs.",
        "parameters(",
        "variables(",
        "[parameters(",
        "[variables(",
        "[concat(",
        "reference(",
        "listKeys(",
        "[listKeys(",
        "[reference(",
        "${",
        "secret:",
    ];
    let scheme = schemes.iter().find(|scheme| text.starts_with(*scheme))?;
    let body = &text[scheme.len()..];
    let word = body.split_whitespace().next().unwrap_or("");
    if word.is_empty() || body.len() > 512 || body.contains('\n') {
        return None;
    }
    let call = scheme.ends_with('(') || scheme.ends_with('[') || scheme.ends_with('\'');
    let shaped = if call {
        text.ends_with(|c| ")]".contains(c)) && !has_default(body)
    } else {
        word.len() == body.len()
            && word.chars().all(|c| c.is_alphanumeric() || "/_.-:#?=&+@,*[]()'\"{}$".contains(c))
            && (scheme.starts_with("arn")
                || body.split(['/', ':', '#', '.', '?', '=', '-', '_']).all(|part| !opaque::is_opaque(part)))
            && dotted_words(scheme, word)
    };
    shaped.then_some(text.len())
}

/// What stands after `var.` or `env.` must be a name; after `pass:` too (`openssl -passin pass:hunter2` is none).
fn dotted_words(scheme: &str, word: &str) -> bool {
    match scheme {
        "pass:" => word.contains('/'),
        "secret:" => {
            word.bytes().all(|b| b.is_ascii_lowercase() || b"/_-.:".contains(&b)) && word.contains(['/', '-', '_'])
        }
        "vault:" | "env:" | "ssm:" | "k8s:" | "file:" => !word.is_empty(),
        _ if scheme.ends_with('.') => {
            word.split('.').all(|part| {
                !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-[]'\"*".contains(&b))
            }) && !word.bytes().next().is_some_and(|b| b.is_ascii_digit())
        }
        _ => true,
    }
}

/// Where the bracket that `open` opened is closed, counted in nested pairs of it.
fn matching(inner: &str, open: &str, close: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let (open, close) = (open.as_bytes(), close.as_bytes());
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(close) {
            if depth == 0 {
                // `{{ {} }}}`: the last of the closing run is ours.
                return Some(at);
            }
            depth -= 1;
            at += close.len();
        } else if bytes[at..].starts_with(open) {
            depth += 1;
            at += open.len();
        } else {
            at += 1;
        }
    }
    None
}

/// Whether the inside of a reference holds a literal: a default (`:-x`, `?: 'x'`, `| default "x"`, `|| 'x'`).
fn has_literal(body: &str) -> bool {
    let whole = body;
    if has_default(whole) {
        return true;
    }
    // `${PW:?must be set}` says what is wrong, not what the value is.
    let body = body.split_once(":?").or_else(|| body.split_once('?')).map_or(body, |(name, _)| name);
    if has_default(body) {
        return true;
    }
    // `$(echo hunter2)` is a command, and `{cr4zy}` no reference: only names, paths, calls and quoted names are.
    let fine = |c: char| c.is_alphanumeric() || " _-.:/|,()#'\"[]$@+*&=\\\n\t{}~`".contains(c);
    if !body.chars().all(fine) || body.trim().is_empty() {
        return true;
    }
    body.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).any(opaque::is_opaque)
}

/// Whether a reference gives a default that is a literal.
fn has_default(body: &str) -> bool {
    literal_default(body).is_some()
}

/// The literal that a reference falls back to, if it has one.
pub(super) fn literal_default(body: &str) -> Option<&str> {
    let marks =
        [":-", ":=", ":+", "?:", "||", "??", "default(", "default ", "default:", "default=", "or ", "coalesce", "-"];
    for mark in marks {
        if mark == "-" {
            // `${PW-hunter2}`: only right after a name.
            let name = body.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            let name_is_upper = name > 0 && body[..name].bytes().all(|b| !b.is_ascii_lowercase());
            if name_is_upper && body[name..].starts_with('-') && body.len() > name + 1 {
                let literal = &body[name + 1..];
                if is_literal(literal) {
                    return Some(literal);
                }
            }
            continue;
        }
        let mut from = 0;
        while let Some(at) = body[from..].find(mark) {
            let start = from + at;
            let after = &body[start + mark.len()..];
            from = start + mark.len();
            let word_start = start == 0
                || !body.as_bytes()[start - 1].is_ascii_alphanumeric()
                || !mark.as_bytes()[0].is_ascii_alphabetic();
            if word_start && is_literal(after) {
                return Some(after.trim());
            }
        }
    }
    // `x ? 'hunter2' : ''`: what a condition chooses.
    if let Some(at) = body.find(" ? ")
        && let Some(quote) = body[at + 3..].chars().next().filter(|c| matches!(c, '"' | '\''))
        && let Some(length) = body[at + 4..].find(quote)
        && is_literal(&body[at + 3..at + 5 + length])
    {
        return Some(&body[at + 3..at + 5 + length]);
    }
    if let Some(literal) = second_argument(body) {
        return Some(literal);
    }
    // `${PW:hunter2}` of Spring: a colon after a dotted name.
    let name = body.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"_.-".contains(b)).count();
    if name > 0 && name < body.len() && body.as_bytes()[name] == b':' {
        let after = &body[name + 1..];
        let source = SOURCES.contains(&body[..name].to_ascii_lowercase().as_str());
        let name_only = source && !opaque::is_opaque(after);
        if !name_only && !after.starts_with([':', '-', '?', '=', '+']) && is_literal(after) {
            return Some(after);
        }
    }
    None
}

/// `'PW', 'hunter2'`: a variable's name in quotes, as `getenv` and `fetch` take it, and the literal that stands in for it.
fn second_argument(body: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(comma) = body[from..].find(',').map(|at| from + at) {
        from = comma + 1;
        let before = body[..comma].trim_end();
        let Some(quote) = before.chars().next_back().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let name = &before[super::formats::floor(before, before.len().saturating_sub(128))..before.len() - 1];
        let name = &name[name.rfind(quote).map_or(0, |at| at + 1)..];
        let variable = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        let after = &body[comma + 1..super::formats::floor(body, comma + 1 + 1024)];
        let after = after.trim_start_matches(' ');
        let Some(close) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let Some(length) = after[1..].find(close) else { continue };
        if variable && is_literal(&after[..length + 2]) {
            return Some(&after[..length + 2]);
        }
    }
    None
}

/// Where a reference with a colon looks its name up: `${env:API_KEY}`.
const SOURCES: &[&str] = &[
    "env",
    "sys",
    "ssm",
    "sm",
    "secrets",
    "secret",
    "vault",
    "file",
    "self",
    "param",
    "cf",
    "git",
    "aws",
    "opt",
    "custom",
    "s3",
    "sops",
    "context",
    "ctx",
    "base64",
    "k8s",
    "gcp",
    "azure",
    "kv",
    "keyvault",
    "configmap",
    "docker",
    "sd",
    "spring",
    "systemproperties",
    "prop",
    "bundle",
    "main",
    "event",
    "cfg",
    "resolve",
    "secretsmanager",
    "aws_secretsmanager",
    "directory",
    "dir",
    "securestore",
    "keystore",
    "properties",
    "sealed",
    "op",
    "conjur",
    "key",
];

/// Whether what stands after a default's mark is a text of its own rather than a name, a reference or nothing.
fn is_literal(after: &str) -> bool {
    let text = after.trim().trim_end_matches([')', '}', ' ']).trim();
    let text = text.trim_start_matches('(').trim();
    if text.is_empty() || text.starts_with('$') || text.starts_with(['.', '?']) {
        return false;
    }
    let quoted = text.starts_with(['"', '\'', '`']);
    let inner = text.trim_matches(['"', '\'', '`', ' ']);
    if inner.is_empty() || is_masked(inner) || is_plain_word(inner, Strength::Strong) {
        return false;
    }
    // After `or`, `||` and the like an unquoted dotted name is another reference.
    quoted || !inner.contains(['.', ' ', '(']) || opaque::is_opaque(inner)
}

/// Words that stand where a secret could and are none.
const PLAIN: &[&str] = &[
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "none",
    "null",
    "nil",
    "undefined",
    "unset",
    "empty",
    "enabled",
    "disabled",
    "enable",
    "disable",
    "required",
    "optional",
    "basic",
    "bearer",
    "digest",
    "oauth",
    "oauth2",
    "oidc",
    "saml",
    "opaque",
    "same-origin",
    "include",
    "omit",
    "string",
    "str",
    "text",
    "integer",
    "int",
    "number",
    "boolean",
    "bool",
    "object",
    "array",
    "secretstr",
    "bytes",
    "inherit",
    "prompt",
    "ask",
    "stdin",
    "keyring",
    "keychain",
    "generate",
    "generated",
    "auto",
    "autogenerate",
    "random",
    "n/a",
    "na",
    "tbd",
    "todo",
    "fixme",
    "client_secret_basic",
    "client_secret_post",
    "client_secret_jwt",
    "private_key_jwt",
    "tls_client_auth",
    "authorization_code",
    "not-set",
    "notset",
    "not_set",
    "nan",
    "~",
    "-",
    "encrypted",
    "external",
    "kubernetes",
    "secretkeyref",
    "secretref",
    "always",
    "on_create",
    "on_change",
    "ifnotpresent",
    "if_not_present",
    "never",
    "header",
    "cookie",
    "query",
    "write-only",
    "readonly",
    "read-only",
    "write",
    "read",
    "userpass",
    "approle",
    "await",
    "async",
    "function",
    "lambda",
    "raise",
    "return",
    "throw",
    "break",
    "continue",
    "skip",
    "deny",
    "string!",
    "string?",
    "str | none",
    "string | null",
    "string | undefined",
    "text not null",
];

/// More of them under a name that is as often a mode (`auth`, `pass`).
const PLAIN_MODES: &[&str] = &[
    "jwt",
    "ldap",
    "kerberos",
    "ntlm",
    "token",
    "apikey",
    "api-key",
    "api_key",
    "password",
    "mtls",
    "tls",
    "ssl",
    "starttls",
    "cert",
    "certificate",
    "x509",
    "iam",
    "rbac",
    "abac",
    "acl",
    "sasl",
    "plain",
    "login",
    "cram-md5",
    "scram",
    "scram-sha-1",
    "scram-sha-256",
    "scram-sha-512",
    "gssapi",
    "anonymous",
    "public",
    "private",
    "session",
    "user",
    "default",
    "lax",
    "strict",
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "bcrypt",
    "argon2",
    "argon2id",
    "pbkdf2",
    "scrypt",
    "ident",
    "trust",
    "peer",
    "reject",
    "pam",
    "radius",
    "internal",
    "local",
    "remote",
    "managed",
    "system",
    "identity",
    "managedidentity",
    "workload-identity",
    "service-account",
    "serviceaccount",
    "hs256",
    "rs256",
    "es256",
    "eddsa",
    "passthrough",
    "through",
    "pass",
    "warn",
    "warning",
    "error",
    "fail",
    "failed",
    "passed",
    "ok",
    "mixed",
    "both",
    "all",
    "any",
    "github",
    "gitlab",
    "google",
    "azure",
    "aws",
    "gcp",
    "okta",
    "auth0",
    "keycloak",
    "dex",
    "cognito",
    "firebase",
    "forward",
    "forwardauth",
    "proxy",
    "htpasswd",
    "file",
    "database",
    "db",
    "webauthn",
    "2fa",
    "mfa",
    "otp",
    "key",
    "keys",
    "sso",
    "cas",
    "nextauth",
    "passport",
    "devise",
    "express",
    "sanctum",
    "custom",
    "simple",
    "inline",
    "psk",
    "psk2",
    "sae",
    "wpa",
    "wpa2",
    "wpa3",
    "wpa-psk",
    "wpa2-psk",
    "wpa-eap",
    "wpa2",
    "wep",
    "owe",
    "open",
    "psk-mixed",
    "sae-mixed",
    "psk2+ccmp",
    "psk2+aes",
    "psk2+tkip",
    "psk+ccmp",
    "shared",
    "ccmp",
    "tkip",
    "aes",
    "hash",
    "hashed",
    "inheader",
    "inparams",
    "in_header",
    "in_params",
    "query-string",
    "optional_no_ca",
    "verify_if_given",
    "on_request",
    "windows",
    "passkeys",
    "magic-link",
    "magic_link",
    "client_credentials",
    "hs512",
    "es384",
    "rs512",
    "ps256",
    "secret",
    "eap",
    "eap-tls",
    "eap-mschapv2",
    "mschapv2",
    "xauth",
    "pubkey",
    "sha384",
    "signed",
    "unsigned",
    "scram-sha-256-plus",
];

/// Whether a text is one of the closed words, a duration, a size, a version or the like.
pub(super) fn is_plain_word(text: &str, strength: Strength) -> bool {
    let text = text.trim().trim_end_matches([';', ',']);
    let lower = text.to_ascii_lowercase();
    PLAIN.contains(&lower.as_str())
        || lower.contains(", ") && lower.split(", ").all(|part| PLAIN.contains(&part))
        || strength < Strength::Strong && PLAIN_MODES.contains(&lower.as_str())
        || is_duration(text)
        || is_version(text)
        || is_bound(text)
        || is_rule(text)
}

/// `required|min:8|confirmed`, `^.{8,64}$`, `varchar(255)`, `struct { … }`: what a value must be, and not what it is.
fn is_rule(text: &str) -> bool {
    let rules = text.contains('|')
        && text.split('|').all(|rule| {
            let name = rule.split(':').next().unwrap_or("");
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        })
        && text.split('|').any(|rule| {
            matches!(
                rule.split(':').next().unwrap_or(""),
                "required" | "nullable" | "sometimes" | "string" | "min" | "max" | "confirmed" | "present" | "filled"
            )
        });
    let pattern = text.starts_with('^') && text.ends_with('$') && text.contains(['.', '[', '\\', '(']);
    let column = text.split_once('(').is_some_and(|(kind, size)| {
        matches!(
            kind.to_ascii_lowercase().as_str(),
            "varchar" | "char" | "nvarchar" | "varbinary" | "binary" | "character varying" | "text" | "string"
        ) && size
            .trim_end_matches(" not null")
            .trim_end_matches(" NOT NULL")
            .strip_suffix(')')
            .is_some_and(|size| size.bytes().all(|b| b.is_ascii_digit()))
    });
    rules || pattern || column || text.starts_with("struct {")
}

/// A version or a range of them: `^9.0.2`, `~> 1.2`, `>=3`, `1.2.3-rc.1`. Three numbers at least where no sign says it.
fn is_version(text: &str) -> bool {
    let bare = text.trim_start_matches(['^', '~', '>', '<', '=', ' ', 'v']);
    let signed = bare.len() < text.len();
    let numbers =
        bare.split(['.', '-', '+']).take_while(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    let count = numbers.count();
    let short = bare.split(['.', '-', '+']).all(|part| part.len() <= 10);
    let tail = bare.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase() || b".-+*".contains(&b));
    let marked = text.starts_with(['^', '~', '>', '<']) && signed;
    bare.bytes().next().is_some_and(|b| b.is_ascii_digit())
        && short
        && tail
        && bare.len() <= 32
        && (count >= 3 && bare.contains('.') && bare.matches('.').count() >= 2 || marked && count >= 1)
}

/// What a statement has in the place of a value: `?`, `:token`, `%s`, `{token}`.
fn is_bound(text: &str) -> bool {
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') && words::named(text).is_some()
    };
    // `%{WORD:token}`: a pattern of grok.
    let grok = text.strip_prefix("%{").and_then(|text| text.strip_suffix('}')).is_some_and(|inner| {
        inner.starts_with(|c: char| c.is_ascii_uppercase())
            && inner.split(':').all(|part| part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_[]@.".contains(&b)))
    });
    grok || matches!(text, "?" | "%s" | "%d" | "%v" | "%q" | "$1" | "$2" | "$3" | "{}")
        || text.strip_prefix(':').is_some_and(name)
        || ["{", "%{", "%X{", "%mdc{", "%("].iter().any(|open| {
            let close = if open.ends_with('(') { ")s" } else { "}" };
            text.strip_prefix(open).and_then(|text| text.strip_suffix(close)).is_some_and(name)
        })
}

/// `30s`, `1h30m`, `15m`, `P1D`, `7 days`.
fn is_duration(text: &str) -> bool {
    let units = [
        "ns", "us", "µs", "ms", "s", "sec", "secs", "m", "min", "mins", "h", "hr", "hrs", "d", "w", "y", "day", "days",
        "hours", "hour", "minutes", "seconds", "weeks", "months", "years",
    ];
    let mut rest = text.strip_prefix('P').map_or(text, |rest| rest);
    if rest.is_empty() {
        return false;
    }
    let mut any = false;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        if digits == 0 {
            return false;
        }
        rest = rest[digits..].trim_start();
        let letters: usize = rest.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
        let unit = &rest[..letters];
        if letters == 0 || !(units.contains(&unit.to_lowercase().as_str())) {
            return false;
        }
        rest = rest[letters..].trim_start_matches(['T', ' ']);
        any = true;
    }
    any
}

/// A path of a file: absolute, from home, from here, or of a drive, in plain words. A base64 text may begin with a slash,
/// so a segment that looks random makes it none.
pub(super) fn is_file_path(text: &str) -> bool {
    let mut text = text.trim();
    if text.len() > 1024 || text.contains(['\n', '\t']) {
        return false;
    }
    // `{{ cert_dir }}/key.pem`, `${HOME}/.ssh/id`: a reference to the folder.
    if let Some(length) = one_reference(text).filter(|length| text[*length..].starts_with(['/', '\\'])) {
        text = &text[length..];
    }
    // `/secrets:ro`: a mount and how it may be used.
    if let Some(path) = [":ro", ":rw", ":z", ":Z"].iter().find_map(|how| text.strip_suffix(how)) {
        text = path;
    }
    // `ta.key 1`: a file and how it is used.
    if let Some((file, how)) = text.split_once(' ')
        && how.len() <= 2
        && how.bytes().all(|b| b.is_ascii_digit())
    {
        text = file;
    }
    let (rooted, body) = if let Some(rest) = text.strip_prefix("~/") {
        (true, rest)
    } else if let Some(rest) = text.strip_prefix("./").or_else(|| text.strip_prefix("../")) {
        (true, rest)
    } else if let Some(rest) = text.strip_prefix('/') {
        (true, rest)
    } else if text.as_bytes().get(1) == Some(&b':')
        && text.as_bytes().get(2).is_some_and(|b| b"\\/".contains(b))
        && text.as_bytes()[0].is_ascii_alphabetic()
    {
        (true, &text[3..])
    } else {
        (false, text)
    };
    let parts: Vec<&str> = body.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let plain = |part: &&str| {
        part.chars().all(|c| c.is_alphanumeric() || "._-+*${}()@:~% ".contains(c))
            && !opaque::is_opaque(part)
            && !is_mixed_junk(part)
    };
    // `db-pw:/etc/app/pw`: a name and the file that holds it.
    if let Some((name, file)) = text.split_once(":/")
        && !rooted
        && name.len() > 1
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.".contains(&b))
        && !file.starts_with('/')
    {
        return is_file_path(&text[name.len() + 1..]);
    }
    if parts.is_empty() || !parts.iter().all(plain) {
        return false;
    }
    let extension =
        parts.last().and_then(|last| last.rsplit_once('.')).map(|(stem, ext)| (stem, ext.to_ascii_lowercase()));
    let known = extension.as_ref().is_some_and(|(_, ext)| FILE_ENDS.contains(&ext.as_str()));
    if rooted {
        let first = parts[0];
        const ROOTS: &[&str] = &[
            "run",
            "etc",
            "var",
            "opt",
            "home",
            "root",
            "usr",
            "tmp",
            "mnt",
            "secrets",
            "vault",
            "srv",
            "data",
            "app",
            "config",
            "proc",
            "dev",
            "Users",
            "private",
            "keys",
            "certs",
            "ssl",
            "tls",
            "etc",
            "workspace",
            "code",
            "bitnami",
            "docker-entrypoint-initdb.d",
        ];
        return known
            || ROOTS.contains(&first)
            || text.starts_with('~')
            || text.starts_with('.')
            || parts.len() >= 3
            || parts.len() == 2
                && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_lowercase() || b"-_.".contains(&b)));
    }
    known && !text.contains(' ')
        || parts.len() >= 3
            && parts.iter().all(|part| {
                part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.{}$".contains(&b))
            })
}

/// `aB3x` within a word of a path: letters of both cases and digits mixed several times.
fn is_mixed_junk(part: &str) -> bool {
    let bytes = part.as_bytes();
    part.len() >= 12
        && bytes
            .windows(2)
            .filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit() && w.iter().all(u8::is_ascii_alphanumeric))
            .count()
            >= 4
        && bytes.iter().any(u8::is_ascii_uppercase)
        && bytes.iter().any(u8::is_ascii_lowercase)
}

const FILE_ENDS: &[&str] = &[
    "pem",
    "key",
    "crt",
    "cer",
    "p12",
    "pfx",
    "jks",
    "txt",
    "json",
    "yaml",
    "yml",
    "env",
    "conf",
    "cfg",
    "ini",
    "pub",
    "gpg",
    "asc",
    "secret",
    "token",
    "pw",
    "pass",
    "passwd",
    "password",
    "sock",
    "db",
    "keystore",
    "kdbx",
    "toml",
    "sh",
    "py",
    "js",
    "ts",
    "go",
    "rb",
    "properties",
    "enc",
    "age",
    "html",
    "md",
    "csv",
    "xml",
    "log",
    "keytab",
    "der",
    "p8",
    "tpl",
    "j2",
    "tmpl",
    "sql",
    "zip",
    "tar",
    "gz",
    "php",
    "java",
    "exe",
    "bat",
    "ps1",
    "rs",
    "tf",
    "tfvars",
    "hcl",
    "svg",
    "png",
];

/// A URL without anything secret in it. The containers hide what a URL holds; a bare one under a secret's key is an address.
pub(super) fn is_url(text: &str) -> bool {
    let text = text.trim();
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let fine = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b));
    fine && !rest.is_empty()
        && !rest.contains(char::is_whitespace)
        && !rest.split(['/', '?', '&', '=', '#']).skip(1).any(opaque::is_opaque)
}

/// An expression of a program: a call, an index, a member. What it quotes is looked at by who judges it.
pub(super) fn is_code(text: &str) -> bool {
    let mut text = text.trim().trim_end_matches([';', ',']);
    for keyword in ["await ", "new ", "return ", "yield ", "try ", "!"] {
        text = text.strip_prefix(keyword).unwrap_or(text);
    }
    // `Field(min_length=8)`, `str = Field(default=None)`: a field's declaration.
    let declared = text.split_once(" = ").filter(|(kind, _)| PLAIN.contains(kind)).map_or(text, |(_, value)| value);
    if let Some((function, arguments)) = declared.strip_suffix(')').and_then(|text| text.split_once('('))
        && function.len() >= 4
        && function.starts_with(|c: char| c.is_ascii_uppercase())
        && function.bytes().all(|b| b.is_ascii_alphabetic())
        && arguments.contains('=')
        && !arguments.contains(['"', '\''])
    {
        return true;
    }
    // `z.string().min(8)`: calls in a row, without a literal.
    let chain = text.contains("().") && text.ends_with(')') && !text.contains(['"', '\'', '`', ' ']);
    if chain && text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.len() < 200 {
        return text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.(),".contains(&b));
    }
    // `base64decode(var.pw)`, `getSecret('db')`.
    if let Some((function, argument)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphabetic() || b"_-.[]/".contains(&b));
        let decoder =
            matches!(function, "base64decode" | "base64encode" | "b64dec" | "b64enc" | "filebase64") && plain(argument);
        let reads = words::split(function.rsplit('.').next().unwrap_or(""));
        let reader = reads.len() > 1
            && matches!(reads[0].as_str(), "get" | "read" | "fetch" | "load" | "lookup" | "require")
            && plain(argument.trim_matches(['"', '\'']));
        if decoder || reader {
            return true;
        }
    }
    let name = text.bytes().take_while(|b| b.is_ascii_alphabetic() || b"_.:>-".contains(b)).count();
    if name < 2 || text.len() > 512 || !text.as_bytes()[0].is_ascii_alphabetic() {
        return false;
    }
    let rest = &text[name..];
    let (called, indexed) =
        (rest.starts_with('(') && rest.ends_with(')'), rest.starts_with('[') && rest.ends_with(']'));
    if called || indexed {
        // `P(x)` is a password as well as a call: a call has words in it, and no literal that is no name.
        let quoted = rest.split(['"', '\'']).skip(1).step_by(2);
        return rest.chars().all(|c| c.is_alphanumeric() || "_.-()[]{}\"', :/$*".contains(c))
            && quoted.into_iter().all(|literal| {
                literal.is_empty()
                    || words::named(literal).is_some()
                    || opaque::is_identifier(literal)
                    || literal.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
            })
            && !rest.bytes().any(|b| b.is_ascii_digit());
    }
    // `config.db.password`, `this.token`: a member that is itself a secret's name.
    rest.is_empty()
        && text.contains('.')
        && !text.contains("..")
        && text.split('.').count() >= 2
        && text.rsplit('.').next().and_then(words::named).is_some_and(|named| named.strength > Strength::Weak)
        && text.split('.').next().is_some_and(|first| words::named(first).is_none())
}

/// A placeholder that a person is told to replace: `your-api-key`, `REPLACE_ME`, `YOUR_TOKEN_HERE`, `insert password here`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let words = words::split(text);
    if words.is_empty()
        || words.len() > 8
        || text.len() > 80
        || text.bytes().any(|b| !(b.is_ascii_alphanumeric() || b" _-.<>[]{}'".contains(&b)))
    {
        return false;
    }
    let first = words[0].as_str();
    let last = words[words.len() - 1].as_str();
    let told = matches!(
        first,
        "your"
            | "insert"
            | "replace"
            | "enter"
            | "put"
            | "add"
            | "paste"
            | "replaceme"
            | "fill"
            | "fillme"
            | "placeholder"
            | "example"
            | "dummy"
            | "sample"
            | "fake"
            | "todo"
            | "tbd"
            | "set"
    ) && words.len() >= 2
        || matches!(first, "placeholder" | "replaceme" | "fillme");
    let here = words.len() >= 2 && (last == "here" || last == "placeholder" || last == "me" && first == "replace");
    let known = |word: &String| {
        word.len() < 12
            && word.bytes().all(|b| b.is_ascii_lowercase())
            && (words::named(word).is_some() || PLACEHOLDER_WORDS.contains(&word.as_str()))
    };
    (told || here) && words.iter().all(known)
}

const PLACEHOLDER_WORDS: &[&str] = &[
    "your",
    "my",
    "the",
    "a",
    "an",
    "own",
    "real",
    "actual",
    "insert",
    "replace",
    "enter",
    "put",
    "add",
    "paste",
    "here",
    "me",
    "with",
    "in",
    "this",
    "value",
    "api",
    "db",
    "database",
    "user",
    "username",
    "id",
    "client",
    "app",
    "admin",
    "account",
    "access",
    "private",
    "public",
    "aws",
    "gcp",
    "azure",
    "github",
    "gitlab",
    "slack",
    "stripe",
    "openai",
    "host",
    "server",
    "service",
    "name",
    "from",
    "to",
    "of",
    "for",
    "it",
    "fill",
    "todo",
    "tbd",
    "set",
    "placeholder",
    "example",
    "dummy",
    "sample",
    "fake",
    "string",
    "some",
    "bot",
    "webhook",
    "url",
    "super",
    "new",
    "root",
    "redis",
    "postgres",
    "mysql",
    "smtp",
    "jwt",
    "encryption",
    "goes",
    "and",
    "or",
    "is",
    "not",
    "be",
    "please",
    "replaceme",
    "fillme",
];

/// A sentence of a user interface that speaks about secrets: `Enter your password`, `Passwort vergessen?`.
pub(super) fn is_prose(text: &str) -> bool {
    let text = text.trim();
    // Chinese, Japanese and Korean have no blanks between words, and nobody types a password in them.
    let (mut all, mut east) = (0usize, 0usize);
    for c in text.chars().take(2000) {
        all += 1;
        east += usize::from(
            matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}'),
        );
    }
    if east >= 4 && east * 2 >= all {
        return true;
    }
    if !text.contains(' ') || text.len() > 2000 {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    if ["see ", "at least ", "stored in ", "minimum "].iter().any(|start| lower.starts_with(start))
        && !text.split(' ').any(opaque::is_opaque)
        && !text.split(' ').any(opaque::is_password_like)
    {
        return true;
    }
    // `(leave empty to keep)`, `created by the operator`: nobody's passphrase is built so.
    let aside = text.starts_with('(') && text.ends_with(')');
    let mut count = 0;
    let mut about = aside || joined_by_small_words(text);
    let mut common = 0;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.is_empty() {
            continue;
        }
        if !bare.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '/' | '.' | '(' | ')')) {
            return false;
        }
        count += 1;
        // Spices are nouns of passphrases too.
        about |= words::named(bare).is_some_and(|named| !matches!(named.word, "pepper" | "salt" | "seed"));
        common += usize::from(PROSE_WORDS.contains(&bare.to_lowercase().as_str()));
    }
    let elsewhere = [
        "see ",
        "stored in ",
        "set in ",
        "taken from ",
        "comes from ",
        "ask ",
        "from env",
        "from the ",
        "from vault",
        "from secret",
        "from file",
        "from ci",
    ]
    .iter()
    .any(|start| text.to_ascii_lowercase().starts_with(start));
    // A passphrase has several words too; a sentence speaks of secrets, or begins like one and has small words.
    let ended = count >= 3
        && text.ends_with(['.', '?', '!', '…', '。', ':'])
        && text.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii());
    count >= 2 && (about || ended || elsewhere || common >= 2 && text.chars().next().is_some_and(char::is_uppercase))
}

/// `by the`, `from an`: a preposition and an article, which only a sentence has.
fn joined_by_small_words(text: &str) -> bool {
    const PREPOSITIONS: &[&str] =
        &["by", "from", "in", "of", "to", "for", "with", "on", "at", "via", "into", "before", "after", "as"];
    let mut before = "";
    text.split(' ').any(|word| {
        let last = std::mem::replace(&mut before, word);
        matches!(word, "the" | "a" | "an" | "your" | "this") && PREPOSITIONS.contains(&last)
            || word == "by" && last.len() > 4 && last.ends_with("ed")
    })
}

const PROSE_WORDS: &[&str] = &[
    "the",
    "your",
    "is",
    "are",
    "to",
    "must",
    "please",
    "enter",
    "for",
    "of",
    "with",
    "invalid",
    "required",
    "forgot",
    "forgotten",
    "reset",
    "change",
    "new",
    "current",
    "confirm",
    "and",
    "or",
    "be",
    "this",
    "that",
    "das",
    "der",
    "die",
    "ihr",
    "bitte",
    "le",
    "la",
    "votre",
    "el",
    "su",
    "un",
    "une",
    "ein",
    "eine",
    "het",
    "uw",
    "il",
];

/// `Option<String>,`: what a field's type is, in a language that writes it behind the name.
fn is_type(text: &str) -> bool {
    let text = text.trim().trim_end_matches([',', ';']);
    let Some((outer, inner)) = text.strip_suffix('>').and_then(|text| text.split_once('<')) else { return false };
    let name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase()) && word.bytes().all(|b| b.is_ascii_alphabetic())
    };
    name(outer)
        && inner.split([',', ' ', '<', '>']).filter(|word| !word.is_empty()).all(|word| name(word) || word == "str")
}

/// `host ssh-ed25519 AAAA…`: a line of known_hosts or authorized_keys.
fn is_public_key(text: &str) -> bool {
    const BODIES: &[&str] = &["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNrLX", "AAAAInNrLX"];
    let mut before = "";
    text.len() < 4096
        && text.split_ascii_whitespace().any(|word| {
            let kind = std::mem::replace(&mut before, word);
            BODIES.iter().any(|body| word.starts_with(body)) && (kind.contains("ssh-") || kind.contains("ecdsa-"))
        })
}

/// Whether a value under a name of this strength is kept although the name is a secret's.
pub(super) fn is_kept(text: &str, strength: Strength) -> bool {
    if is_masked(text)
        || is_reference(text.trim_end_matches(';'))
        || is_code(text)
        || is_plain_word(text, strength)
        || is_file_path(text)
        || is_url(text)
        || is_placeholder(text)
        || is_type(text)
        || is_public_key(text)
    {
        return true;
    }
    match strength {
        Strength::Strong => is_prose(text),
        Strength::Medium => is_prose(text) || text.trim().chars().count() < 2,
        Strength::Weak => !opaque::is_random(text) && !opaque::is_password_like(text) && !opaque::is_product_key(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_kept_and_their_literals_are_not() {
        for text in [
            "${DB_PASSWORD}",
            "$DB_PASSWORD",
            "$(DB_PASSWORD)",
            "{{ .Values.password }}",
            "{{x}}",
            "<your-password>",
            "op://vault/item/field",
            "vault:secret/data/db#password",
            "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
            "%DB_PASSWORD%",
            "ENV['DB_PASSWORD']",
            "${{ secrets.TOKEN }}",
            "${A}:${B}",
            "$db_password",
            "${PW:-}",
            "${PW:?must be set}",
            "__DB_PASSWORD__",
            "var.db_password",
            "{{ lookup('env', 'PW') }}",
            "#{db_password}#",
        ] {
            let text = text.trim_end_matches('#');
            assert!(is_reference(text) || text.contains(":?"), "{text}");
        }
        for text in [
            "${PW:-hunter2}",
            "$uperS3cret",
            "{{ .Values.pw | default \"hunter2\" }}",
            "${env.SECRET ?: 'letmein99'}",
            "{cr4zy}",
            "hunter2",
            "p${x}q",
            "${DB_PW:hunter2}",
            "$ecret",
            "%hunter2",
            "vault",
            "pass:hunter2",
        ] {
            assert!(!is_reference(text), "{text}");
        }
    }

    #[test]
    fn what_is_kept_under_a_secret_key() {
        for text in [
            "/run/secrets/pw",
            "~/.ssh/id_ed25519",
            "true",
            "30d",
            "Bearer",
            "",
            "***",
            "[REDACTED:jwt]",
            "<encrypted:sops:0123456789ab>",
            "https://idp.example.org/x",
            "Enter your password",
            "secret/data/prod/api",
            "certs/tls.key",
            "YOUR_API_KEY",
            "REDACTED",
        ] {
            assert!(is_kept(text, Strength::Strong), "{text}");
        }
        for text in [
            "hunter2",
            "toor",
            "correct horse battery staple",
            "pass-the-salt",
            "/9j4AAQSkZJRgABAQEAYABg",
            "088053",
            "default",
            "admin",
            "P@ss w0rd!",
            "Password1",
            "changeit",
        ] {
            assert!(!is_kept(text, Strength::Strong), "{text}");
        }
    }
}
