//! What in a command line is secret? The value of a long flag that a key word names, and what single tools take after a short one.
//!
//! A short flag means nothing without its tool: `-p` is a port, a path or a project more often than a password. The table says
//! which tools mean a credential by it.

use super::scan::Span;
use super::words::{self, Strength};
use super::{By, pairs, reading};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::ops::Range;
use std::sync::OnceLock;

/// How a tool takes a credential.
struct Tool {
    names: &'static [&'static str],
    /// Flags before a separate value.
    separate: &'static [&'static str],
    /// Flags with the value attached: `-phunter2`.
    attached: &'static [&'static str],
    /// Flags before `user:password` (or the `%` and `,` that some take instead of the colon).
    userpass: &'static [&'static str],
    /// The word of a command, as `login`, for a tool that takes one there only.
    needs: &'static str,
}

const fn tool(
    names: &'static [&'static str],
    separate: &'static [&'static str],
    attached: &'static [&'static str],
    userpass: &'static [&'static str],
    needs: &'static str,
) -> Tool {
    Tool { names, separate, attached, userpass, needs }
}

const TOOLS: &[Tool] = &[
    tool(
        &["curl"],
        &["--oauth2-bearer", "--pass", "--proxy-pass", "--tlspassword"],
        &[],
        &["-u", "--user", "-U", "--proxy-user"],
        "",
    ),
    tool(&["http", "https", "httpie", "xh"], &[], &[], &["-a", "--auth"], ""),
    tool(
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mysqlimport",
            "mysqlcheck",
            "mysqlshow",
            "mysqlpump",
            "mysqlslap",
            "mycli",
            "xtrabackup",
            "mysqlbinlog",
            "mydumper",
            "myloader",
        ],
        &[],
        &["-p"],
        &[],
        "",
    ),
    tool(&["sshpass"], &["-p"], &["-p"], &[], ""),
    tool(&["dotnet", "nuget"], &["-k"], &[], &[], "push"),
    tool(&["aws"], &["--value"], &[], &[], "SecureString"),
    tool(&["az"], &["--value"], &[], &[], "secret"),
    tool(&["gh"], &["--body", "-b"], &["-b"], &[], "secret"),
    tool(
        &["redis-cli", "redis-benchmark", "valkey-cli", "keydb-cli", "redis-dump", "iredis"],
        &["-a", "--pass"],
        &[],
        &[],
        "",
    ),
    tool(
        &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "mongostat", "mongotop"],
        &["-p"],
        &["-p"],
        &[],
        "",
    ),
    tool(
        &[
            "docker", "podman", "helm", "skopeo", "buildah", "oras", "crane", "nerdctl", "oc", "az", "cf", "ibmcloud",
            "argocd", "flux", "jf", "rancher", "twistcli", "trivy",
        ],
        &["-p", "--passcode"],
        &[],
        &[],
        "login",
    ),
    tool(&["skopeo", "buildah", "podman"], &[], &[], &["--creds", "--src-creds", "--dest-creds"], ""),
    tool(
        &["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd", "ldapcompare", "ldapmodrdn"],
        &["-w", "-s"],
        &["-w"],
        &[],
        "",
    ),
    tool(&["sqlcmd", "bcp", "osql", "isql", "tsql"], &["-P"], &["-P"], &[], ""),
    tool(&["zip", "unzip", "zipcloak"], &["-P"], &["-P"], &[], ""),
    tool(&["7z", "7za", "7zr", "7zz", "rar", "unrar"], &[], &["-p", "-hp"], &[], ""),
    tool(&["openssl"], &["-k", "-K", "-passin", "-passout", "-pass", "-hmac"], &[], &[], ""),
    tool(&["ipmitool", "ipmipower"], &["-P"], &[], &[], ""),
    tool(
        &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk", "snmpbulkget", "snmptrap", "snmpstatus", "snmptable"],
        &["-c", "-A", "-X"],
        &[],
        &[],
        "",
    ),
    tool(
        &["smbclient", "rpcclient", "smbget", "winexe", "net", "wmic", "smbmap", "crackmapexec"],
        &[],
        &[],
        &["-U"],
        "",
    ),
    tool(&["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"], &["-P", "--pw"], &[], &[], ""),
    tool(
        &[
            "twine",
            "influx",
            "cqlsh",
            "beeline",
            "amqp-publish",
            "ncftp",
            "ncftpget",
            "ncftpput",
            "psexec",
            "evil-winrm",
            "cadaver",
            "vpnc",
            "imapsync",
            "svn",
            "xfreerdp",
            "nodetool",
            "mssql-cli",
            "cypher-shell",
            "arangosh",
            "couchbase-cli",
            "cbq",
            "vsql",
            "ttyd",
            "wp",
            "drush",
            "expressvpn",
            "rdesktop",
            "kinit",
            "clickhouse",
            "snowsql",
            "exaplus",
            "hdbsql",
            "dbaccess",
        ],
        &["-p", "-pw", "-pwd"],
        &[],
        &[],
        "",
    ),
    tool(&["plink", "pscp", "putty", "psftp", "kitty"], &["-pw"], &[], &[], ""),
    tool(&["lftp"], &[], &[], &["-u"], ""),
    tool(&["etcdctl", "nexus", "wget2", "rabbitmqadmin"], &["-p"], &[], &["--user"], ""),
    tool(&["elasticsearch-users", "kafka-acls", "sendemail", "sendEmail"], &["-p", "-xp"], &[], &[], ""),
    tool(&["swaks"], &["-ap", "--auth-password"], &[], &[], ""),
    tool(&["odoo", "odoo-bin", "pgbench2", "vncdo", "vncdotool"], &["-w", "-p"], &[], &[], ""),
    tool(&["htdigest", "cryptsetup-reencrypt", "gpg", "gpg2"], &["--passphrase"], &[], &[], ""),
    tool(
        &["doctl", "flyctl", "fly", "vercel", "netlify", "wrangler", "railway", "supabase", "turso"],
        &["-t", "--auth"],
        &[],
        &[],
        "",
    ),
    tool(&["sonar-scanner", "mvn"], &[], &["-Dsonar.login="], &[], ""),
    tool(&["nsupdate", "dig", "delv"], &[], &[], &["-y"], ""),
    tool(&["schtasks"], &["/rp", "/RP", "/p", "/P"], &[], &[], ""),
    tool(
        &["check_mysql", "check_pgsql", "check_mysql_query", "check_ldap", "check_mssql", "add-user.sh", "add-user"],
        &["-p", "-P"],
        &[],
        &[],
        "",
    ),
    tool(&["useradd", "usermod"], &["-p"], &[], &[], ""),
    tool(&["wpa_cli", "iwconfig"], &["key"], &[], &[], ""),
    tool(&["security"], &["-p", "-P", "-k"], &[], &[], "unlock-keychain"),
    tool(&["security"], &["-p", "-P", "-k"], &[], &[], "create-keychain"),
    tool(&["security"], &["-P", "-k"], &[], &[], "import"),
    tool(&["security"], &["-p", "-P", "-k"], &[], &[], "set-key-partition-list"),
    tool(&["security"], &["-w"], &[], &[], "add-generic-password"),
    tool(&["security"], &["-w"], &[], &[], "add-internet-password"),
    tool(&["signtool", "SignTool"], &["/p"], &[], &[], ""),
    tool(&["certutil"], &["-p"], &[], &[], ""),
    tool(&["kadmin", "kadmin.local"], &["-w"], &[], &[], ""),
    tool(&["steghide", "outguess"], &["-p", "-k"], &[], &[], ""),
    tool(&["ssh-keygen"], &["-N", "-P"], &[], &[], ""),
    tool(&["ipa-client-install", "ipa-server-install", "ipa-replica-install"], &["-w", "-a"], &[], &[], ""),
    tool(&["irssi", "weechat"], &["-w"], &[], &[], ""),
    tool(&["knife"], &["-P"], &[], &[], ""),
    tool(&["swaks"], &["--ap"], &[], &[], ""),
    tool(&["ab", "siege", "wrk"], &[], &[], &["-A"], ""),
    tool(&["curl"], &[], &[], &["--cert", "-E", "--proxy-cert"], ""),
    tool(&["codecov"], &["-t"], &[], &[], ""),
    tool(&["pdftk"], &["input_pw", "owner_pw", "user_pw"], &[], &[], ""),
    tool(&["vncviewer", "x11vnc", "x0vncserver"], &["-passwd"], &[], &[], ""),
    tool(&["hydra", "medusa", "patator"], &["-p"], &[], &[], ""),
    tool(&["racadm", "airflow", "superset", "altool", "youtube-dl", "yt-dlp", "sqlpackage"], &["-p"], &[], &[], ""),
];

/// Commands whose arguments are credentials by their place: the words that start them, and which argument after those, not
/// counting flags, is secret (`-1` the last).
const PLACES: &[(&[&str], isize)] = &[
    (&["rabbitmqctl", "add_user"], 1),
    (&["rabbitmqctl", "change_password"], 1),
    (&["rabbitmqctl", "authenticate_user"], 1),
    (&["vault", "login"], 0),
    (&["vault", "operator", "unseal"], 0),
    (&["cargo", "login"], 0),
    (&["snyk", "auth"], 0),
    (&["snyk", "config", "set", "api"], 0),
    (&["wpa_passphrase"], 1),
    (&["htpasswd"], -1),
    (&["mc", "alias", "set"], 3),
    (&["mc", "config", "host", "add"], 3),
    (&["redis-cli", "auth"], 0),
    (&["ngrok", "config", "add-authtoken"], 0),
    (&["ngrok", "authtoken"], 0),
    (&["tailscale", "up", "authkey"], 0),
    (&["rclone", "obscure"], 0),
    (&["pulumi", "config", "set", "--secret"], 1),
    (&["gh", "secret", "set", "-b"], 0),
    (&["sentry-cli", "login", "--auth-token"], 0),
    (&["nmcli", "wifi", "password"], 0),
    (&["+sv_setsteamaccount"], 0),
    (&["+rcon_password"], 0),
    (&["+sv_password"], 0),
    (&["rootpw"], 0),
    (&["ConvertTo-SecureString"], 0),
    (&["net", "user"], 1),
    (&["isql"], 2),
    (&["hdbuserstore", "SET"], 3),
    (&["caddy", "hash-password", "--plaintext"], 0),
    (&["radtest"], 1),
    (&["radtest"], 4),
    (&["ejabberdctl", "register"], 2),
    (&["ejabberdctl", "change_password"], 2),
    (&["prosodyctl", "register"], 2),
    (&["ansible-vault", "encrypt_string"], 0),
    (&["valkey-cli", "auth"], 0),
    (&["valkey-cli", "AUTH"], 0),
    (&["redis-cli", "AUTH"], 0),
    (&["mosquitto_passwd", "-b"], 2),
    (&["slappasswd", "-s"], 0),
    (&["samba-tool", "user", "create"], 1),
    (&["samba-tool", "user", "add"], 1),
    (&["samba-tool", "user", "setpassword", "newpassword"], 0),
    (&["steamcmd", "+login"], 1),
    (&["bw", "login"], 1),
    (&["bw", "unlock"], 0),
    (&["poetry", "config", "http-basic"], 1),
    (&["openssl", "passwd"], -1),
    (&["mkpasswd"], -1),
    (&["rclone", "config", "create", "pass"], 0),
    (&["rclone", "config", "update", "pass"], 0),
];

/// Tools of Oracle that take `user/password` as they are.
const ORACLE: &[&str] = &["impdp", "expdp", "imp", "exp", "sqlldr", "sqlplus", "rman"];

/// Users that everybody has: what follows their name and a slash is a password.
const LOGINS: &[&str] = &["admin", "root", "sa", "sys", "system", "scott", "postgres", "test", "guest", "oracle"];

/// Finds them, line by line.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let flags = bytes.windows(2).any(|w| (w[0] == b'-' || w[0] == b'/') && w[1].is_ascii_alphabetic());
    if !(flags || text.contains('+') || text.contains("= ") || has_marks(text)) {
        return;
    }
    let mut line_start = 0;
    for line in text.split('\n') {
        if line.len() > 3 {
            if line.contains("<(") {
                substituted(text, line_start..line_start + line.len(), spans);
            }
            one_line(text, line_start..line_start + line.len(), spans);
        }
        line_start += line.len() + 1;
    }
}

/// Whether a text has one of the words in it without which, and without a flag, no command is looked for.
fn has_marks(text: &str) -> bool {
    static MARKS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let marks = MARKS.get_or_init(|| {
        let words = [
            "passw",
            "http-basic",
            "sudo",
            "/user:",
            "net ",
            "echo ",
            "<<<",
            "_pw ",
            "bundle config",
            "login ",
            "logon ",
            "connect ",
            "conn ",
        ];
        let all = PLACES.iter().map(|(words, _)| words[0]).chain(words).chain(ORACLE.iter().copied());
        AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(all).ok()
    });
    marks.as_ref().is_none_or(|marks| marks.is_match(text))
}

/// The words of a command, as a list of arguments or of a line.
fn one_line(text: &str, range: Range<usize>, spans: &mut Vec<Span>) {
    let mut command: Vec<Range<usize>> = Vec::new();
    let mut previous: Vec<Range<usize>> = Vec::new();
    for word in shell_words(text, range) {
        if matches!(&text[word.clone()], "|" | "||" | "&&" | ";" | "&" | "then" | "do" | "|&") {
            judge(text, &command, &previous, spans);
            previous = std::mem::take(&mut command);
        } else {
            command.push(word);
        }
    }
    judge(text, &command, &previous, spans);
}

/// Words as a shell cuts them, quotes taken off, together with the operators between commands.
fn shell_words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let b = bytes[at];
        if b.is_ascii_whitespace() || b == b'(' || b == b')' || b == b'`' {
            at += 1;
            continue;
        }
        if b == b';' || b == b'|' || b == b'&' {
            let end = if at + 1 < range.end && bytes[at + 1] == b { at + 2 } else { at + 1 };
            words.push(at..end);
            at = end;
            continue;
        }
        let start = at;
        let mut quote = 0u8;
        let mut depth = 0usize;
        while at < range.end {
            let b = bytes[at];
            if quote != 0 {
                if b == quote {
                    quote = 0;
                } else if b == b'\\' && quote == b'"' {
                    at += 1;
                }
            } else if b == b'"' || b == b'\'' {
                // An apostrophe inside a word is none that opens: `don't`.
                if at == start
                    || !bytes[at - 1].is_ascii_alphanumeric()
                    || bytes[start..at].contains(&b'=')
                    || bytes[start] == b'-'
                {
                    quote = b;
                }
            } else if b == b'{' || b == b'$' && at + 1 < range.end && bytes[at + 1] == b'(' {
                depth += 1;
            } else if (b == b'}' || b == b')') && depth > 0 {
                depth -= 1;
            } else if depth == 0 && (b.is_ascii_whitespace() || b";|)`".contains(&b))
                || depth == 0
                    && b == b'&'
                    && at + 1 < range.end
                    && (bytes[at + 1] == b'&' || bytes[at + 1].is_ascii_whitespace())
            {
                break;
            } else if b == b'\\' {
                at += 1;
            }
            at += 1;
        }
        if quote != 0 || depth > 0 {
            // Not closed: the word ends at the next blank after all.
            at = start + 1;
            while at < range.end && !bytes[at].is_ascii_whitespace() {
                at += 1;
            }
        }
        let end = super::formats::floor(text, at.min(range.end)).max(start + 1).min(range.end);
        let end = if text.is_char_boundary(end) { end } else { range.end };
        let (mut from, mut to) = (start, end);
        if to - from >= 2 && (bytes[from] == b'"' || bytes[from] == b'\'') && bytes[to - 1] == bytes[from] {
            from += 1;
            to -= 1;
        }
        if from == to || text.is_char_boundary(from) && text.is_char_boundary(to) {
            words.push(from..to);
        }
        at = end;
    }
    words
}

fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn judge(text: &str, command: &[Range<usize>], before: &[Range<usize>], spans: &mut Vec<Span>) {
    judge_with(text, command, before, &[], 0, spans);
}

/// How deep a command in the quotes of another is looked for.
const NESTED: usize = 2;

/// Whether a word stands in quotes, which the shell takes off.
fn is_quoted(text: &str, range: &Range<usize>) -> bool {
    let before = text[..range.start].chars().next_back();
    before.is_some_and(|c| matches!(c, '"' | '\'')) && before == text[range.end..].chars().next()
}

/// Judges a command; `outer` are the tools in whose arguments it stands in quotes (`lftp -e "open -u joe,x host"`).
fn judge_with(
    text: &str,
    command: &[Range<usize>],
    before: &[Range<usize>],
    outer: &[&'static Tool],
    depth: usize,
    spans: &mut Vec<Span>,
) {
    let words: Vec<&str> = command.iter().map(|range| &text[range.clone()]).collect();
    // Tools, by their first appearance; `sudo`, `env A=b` and `docker exec x` may stand before.
    // Each tool once, however often it is named: its flags are tried on every word.
    let mut tools: Vec<&'static Tool> = outer.to_vec();
    for word in &words {
        let name = base(word);
        for tool in TOOLS
            .iter()
            .filter(|tool| tool.names.contains(&name) && (tool.needs.is_empty() || words.contains(&tool.needs)))
        {
            if !tools.iter().any(|known| std::ptr::eq(*known, tool)) {
                tools.push(tool);
            }
        }
    }
    if depth < NESTED {
        for range in command.iter().filter(|range| text[(*range).clone()].contains(' ')) {
            let shown = &text[range.clone()];
            let area = match shown.find("$(").filter(|_| shown.contains(')')) {
                Some(open) => range.start + open + 2..range.end - usize::from(shown.ends_with(')')),
                None if is_quoted(text, range) => range.clone(),
                None => continue,
            };
            let (mut inner, mut previous): (Vec<Range<usize>>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
            for word in shell_words(text, area) {
                if matches!(&text[word.clone()], "|" | "||" | "&&" | ";" | "&") {
                    judge_with(text, &inner, &previous, &tools, depth + 1, spans);
                    previous = std::mem::take(&mut inner);
                } else {
                    inner.push(word);
                }
            }
            judge_with(text, &inner, &previous, &tools, depth + 1, spans);
        }
    }
    let mut hide = |at: usize, range: Range<usize>, word: &'static str| {
        let _ = at;
        // Quotes inside of a word are the shell's: `-p"$PW"`.
        let shown = &text[range.clone()];
        let bare = shown.trim_matches(['"', '\'']);
        if bare.is_empty() || reading::is_reference(bare) || reading::is_masked(bare) {
            return;
        }
        if range.start < range.end
            && !reading::is_masked(&text[range.clone()])
            && !reading::is_reference(&text[range.clone()])
        {
            spans.push(Span::new(range, By::Container, word));
        }
    };
    for (at, word) in words.iter().enumerate() {
        let range = &command[at];
        let next = command.get(at + 1).cloned();
        if word.len() < 2 || !word.starts_with(['-', '/']) {
            // `pdftk a.pdf input_pw x`: a flag without a dash.
            if word.ends_with("_pw")
                && tools.iter().any(|tool| tool.separate.contains(word))
                && let Some(value) = next
                && value_fine(&text[value.clone()])
            {
                hide(at, value, "command flag");
            }
            continue;
        }
        for tool in &tools {
            if tool.separate.contains(word)
                && let Some(value) = next.clone()
                && !text[value.clone()].starts_with('-')
                && value_fine(&text[value.clone()])
            {
                let shown = &text[value.clone()];
                let skip = ["pass:", "str:"]
                    .iter()
                    .find(|prefix| shown.starts_with(**prefix))
                    .map_or(0, |prefix| prefix.len());
                let elsewhere = ["env:", "file:", "fd:", "stdin"].iter().any(|prefix| shown.starts_with(prefix));
                if !elsewhere {
                    hide(at, value.start + skip..value.end, "command flag");
                }
            }
            if tool.userpass.contains(word)
                && let Some(value) = next.clone()
            {
                userpass(text, value, &mut hide);
            }
            for flag in tool.attached {
                if let Some(value) = word.strip_prefix(flag)
                    && !value.is_empty()
                    && !word.starts_with("--")
                    && value_fine(value)
                {
                    hide(at, range.start + flag.len()..range.end, "command flag");
                }
            }
            for flag in tool.userpass.iter().filter(|flag| flag.len() == 2) {
                if word.len() > 2 && !word.starts_with("--") && word.starts_with(flag) && word.contains(':') {
                    userpass(text, range.start + 2..range.end, &mut hide);
                }
            }
        }
        if word.starts_with('/') {
            // Windows: `/p:hunter2`, `/pass:x`, `/user:x`.
            if let Some((name, value)) = word.strip_prefix('/').and_then(|word| word.split_once(':'))
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
                && (matches!(name, "pass" | "pwd" | "password" | "rp" | "passwordd" | "passwordo" | "pd")
                    || name == "p"
                        && words.iter().any(|word| {
                            matches!(
                                base(word),
                                "xfreerdp"
                                    | "xfreerdp3"
                                    | "wlfreerdp"
                                    | "wlfreerdp3"
                                    | "sdl-freerdp"
                                    | "sdl-freerdp3"
                                    | "rdesktop"
                                    | "mstsc"
                            )
                        })
                    || words::named(name).is_some_and(|named| named.strength == Strength::Strong))
                && !value.is_empty()
                && !value.starts_with('/')
            {
                hide(at, range.end - value.len()..range.end, "command flag");
            }
            if word.to_ascii_lowercase().starts_with("/user:")
                && let Some(value) = next.clone()
                && words.first().is_some_and(|first| matches!(base(first), "net" | "runas" | "cmdkey"))
                && !text[value.clone()].starts_with('/')
            {
                hide(at, value, "command flag");
            }
            continue;
        }
        // A flag that says it itself, before a value of its own word.
        let bare = word.trim_start_matches('-');
        if bare.contains(['=', ':', ' ']) || bare.len() < 3 || word.starts_with("--no-") {
            continue;
        }
        if let Some(stem) = ["-command", "-cmd", "eval"].iter().find_map(|end| bare.strip_suffix(end))
            && words::named(stem).is_some_and(|named| named.strength == Strength::Strong)
            && let Some(value) = next.clone()
            && let Some(literal) = ["echo ", "printf "].iter().find_map(|tool| text[value.clone()].strip_prefix(tool))
            && value_fine(literal)
        {
            hide(at, value.end - literal.len()..value.end, "password command");
        }
        if let Some(named) = words::named(bare)
            && named.strength >= Strength::Medium
            && let Some(value) = next
        {
            let shown = &text[value.clone()];
            let elsewhere = shown.starts_with(['-', '<', '>'])
                || matches!(shown, "|" | "\\" | "New-Object")
                || shown.starts_with("ConvertTo-")
                || bare == "secret" && (pairs::names_one(shown) || shown.contains("id="));
            if !elsewhere
                && !is_metavariable(shown)
                && !reading::is_kept(shown, named.strength)
                && (shown.parse::<f64>().is_err() || pairs::number_counts(shown, &named, true))
            {
                // `--ks-pass pass:x`: where the password comes from, and what it is.
                let skip = shown.strip_prefix("pass:").map_or(0, |_| "pass:".len());
                if skip > 0 || !shown.contains("pass:") {
                    hide(at, value.start + skip..value.end, named.word);
                }
            }
        }
    }
    // `sc config x password= …`.
    for (at, word) in words.iter().enumerate() {
        if word
            .strip_suffix('=')
            .is_some_and(|name| words::named(name).is_some_and(|named| named.strength == Strength::Strong))
            && words.first().is_some_and(|first| base(first) == "sc")
            && let Some(value) = command.get(at + 1)
        {
            hide(at + 1, value.clone(), "command argument");
        }
    }
    // `impdp scott/tiger`.
    if words.first().is_some_and(|first| ORACLE.contains(&base(first)))
        && let Some(at) =
            words.iter().skip(1).position(|word| word.contains('/') && !word.starts_with(['/', '-', '.', '@']))
    {
        let range = &command[at + 1];
        let word = words[at + 1];
        let slash = word.find('/').map_or(0, |slash| slash + 1);
        let end = word[slash..].find('@').map_or(word.len(), |at| slash + at);
        if value_fine(&word[slash..end]) && !word[..slash].contains('=') {
            hide(at + 1, range.start + slash..range.start + end, "user and password");
        }
    }
    // `login admin/hunter2`, `connect scott/tiger@orcl`: two words, of a user and what is no word.
    if let [first, second] = words.as_slice()
        && matches!(base(first), "login" | "logon" | "connect" | "conn")
        && let Some((user, rest)) = second.trim_end_matches(';').split_once('/')
        && user.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !user.is_empty()
    {
        let password = rest.split_once('@').map_or(rest, |(password, _)| password);
        if (super::opaque::is_mixed(password) || LOGINS.contains(&user) || password.len() < rest.len())
            && !password.contains('/')
            && !reading::is_kept(password, Strength::Strong)
            && words::named(password).is_none()
        {
            let from = command[1].start + user.len() + 1;
            hide(1, from..from + password.len(), "user and password");
        }
    }
    // `net use Z: \\\\nas\\share password`.
    if words.first().is_some_and(|first| base(first) == "net")
        && words.get(1) == Some(&"use")
        && let Some(share) = words.iter().position(|word| word.starts_with("\\\\"))
        && let Some(value) = command.get(share + 1).filter(|range| !text[(*range).clone()].starts_with(['/', '*']))
        && value_fine(&text[value.clone()])
    {
        hide(share + 1, value.clone(), "command argument");
    }
    // `-u user:password` of a tool that is not named, as in the arguments of a container.
    if tools.is_empty() {
        for (at, word) in words.iter().enumerate() {
            let told = matches!(*word, "--creds" | "--credentials" | "--userpass" | "--basic-auth" | "--proxy-user");
            if (told || matches!(*word, "-u" | "--user" | "--auth"))
                && let Some(range) = command.get(at + 1)
                && let Some((user, password)) = text[range.clone()].split_once(':')
                && !user.is_empty()
                && !user.contains(['/', '='])
                && (told || super::opaque::is_mixed(password))
                && !password.contains(['/', ':'])
            {
                userpass(text, range.clone(), &mut hide);
            }
        }
    }
    // `-u joe -p …` of a tool that is not named: a flag for a user, and what no port and no path looks like.
    let user_at =
        words.iter().position(|word| matches!(*word, "-u" | "-U" | "-l" | "--user" | "--username" | "-user" | "-x"));
    if let Some(user) = user_at.filter(|_| words.len() < 48)
        && let Some(at) = words.iter().position(|word| matches!(*word, "-p" | "-P" | "-w" | "-pw" | "-W"))
        && at != user + 1
        && let Some(value) = command.get(at + 1)
        && super::opaque::is_passwordish(&text[value.clone()])
        && !text[value.clone()].contains(['/', ':', '=', '.'])
        && value_fine(&text[value.clone()])
        && !words.iter().any(|word| {
            matches!(base(word), "rsync" | "mkdir" | "cp" | "tar" | "install" | "docker" | "kubectl" | "ssh" | "scp")
        })
    {
        hide(at + 1, value.clone(), "command flag");
    }
    places(text, command, &words, &mut hide);
    verbs(command, &words, &mut hide);
    // `echo x > /run/secrets/db_password`.
    if let Some(into) = words.iter().position(|word| matches!(*word, ">" | ">>"))
        && into >= 2
        && matches!(words[0], "echo" | "printf")
        && let Some(file) = words.get(into + 1)
        && (file.contains("/secrets/")
            || base(file)
                .split('.')
                .next()
                .and_then(words::named)
                .is_some_and(|named| named.strength == Strength::Strong))
        && super::opaque::is_passwordish(words[into - 1])
        && value_fine(words[into - 1])
    {
        hide(into - 1, command[into - 1].clone(), "standard input");
    }
    // `sudo -S <<< hunter2`, `vercel env add DB_PASS <<< …`.
    if let Some(at) = words.iter().position(|word| *word == "<<<")
        && let Some(value) = command.get(at + 1).filter(|range| value_fine(&text[(*range).clone()]))
        && !text[value.clone()].contains(' ')
        && (takes(&words)
            || hints(&words[..at]) && super::opaque::is_passwordish(&text[value.clone()])
            || words[..at].iter().any(|word| word.contains("pass") || word.contains("secret")))
    {
        hide(at + 1, value.clone(), "standard input");
    }
    // `echo hunter2 | docker login --password-stdin`, `| sudo -S`, `echo user:pw | chpasswd`.
    if takes(&words)
        && before.iter().any(|word| matches!(&text[word.clone()], "echo" | "printf" | "yes"))
        && let Some(last) = before.last().filter(|_| before.len() > 1)
        && value_fine(&text[last.clone()])
    {
        let shown = &text[last.clone()];
        let skip =
            if words.iter().any(|w| base(w) == "chpasswd") { shown.find(':').map_or(0, |colon| colon + 1) } else { 0 };
        hide(0, last.start + skip..last.end, "standard input");
    }
}

/// `grafana-cli admin reset-admin-password x`: a word of a command that says that a secret is set, and the last word behind it.
fn verbs(command: &[Range<usize>], words: &[&str], hide: &mut impl FnMut(usize, Range<usize>, &'static str)) {
    // `composer config http-basic.repo.example.org joe x`, `bundle config gems.example.org joe:x`.
    if let Some(at) = words.iter().position(|word| word.starts_with("http-basic."))
        && let Some(value) = command.get(at + 2)
        && value_fine(words[at + 2])
    {
        hide(at + 2, value.clone(), "command argument");
    }
    if words.first().is_some_and(|first| matches!(base(first), "bundle" | "bundler"))
        && let Some(last) = words.last().filter(|_| words.contains(&"config"))
        && let Some((user, password)) = last.split_once(':')
        && !user.is_empty()
        && !password.contains(['/', ':'])
        && super::opaque::is_mixed(password)
    {
        let range = &command[words.len() - 1];
        hide(words.len() - 1, range.start + user.len() + 1..range.end, "user and password");
    }
    const VERBS: &[&str] = &["reset", "set", "change", "update", "modify", "rotate", "create", "add"];
    let Some(at) = words.iter().position(|word| {
        let Some((verb, noun)) = word.split_once(['-', '_', ':']) else { return false };
        (VERBS.contains(&verb) || matches!(verb, "user" | "admin" | "account"))
            && word.bytes().all(|b| b.is_ascii_lowercase() || b"-_:".contains(&b))
            && words::named(noun).is_some_and(|named| named.strength == Strength::Strong && !named.many)
    }) else {
        return;
    };
    let last = words.len() - 1;
    if at > 0
        && last > at
        && super::opaque::is_mixed(words[last])
        && !words[last].starts_with(['-', '/', '<', '>'])
        && !words[last].contains(['/', '='])
        && !reading::is_kept(words[last], Strength::Strong)
    {
        hide(last, command[last].clone(), "command argument");
    }
}

/// Whether a command reads a password from its standard input.
fn takes(words: &[&str]) -> bool {
    words.contains(&"--password-stdin")
        || words.contains(&"secret")
            && (words.contains(&"put") || words.contains(&"create") && words.last() == Some(&"-"))
        || words.contains(&"--with-token")
        || words.iter().any(|w| base(w) == "chpasswd")
        || words.contains(&"-S") && words.iter().any(|w| base(w) == "sudo")
        || words.iter().any(|w| base(w) == "passwd") && !words.contains(&"-l")
        || words.contains(&"--pass-stdin")
        || words.iter().any(|w| {
            matches!(
                base(w),
                "kinit"
                    | "smbpasswd"
                    | "cryptsetup"
                    | "ecryptfs-add-passphrase"
                    | "realm"
                    | "adcli"
                    | "zfs"
                    | "keepassxc-cli"
            )
        })
}

/// Whether a word of a command says that it is about a secret.
fn hints(words: &[&str]) -> bool {
    words.iter().any(|word| {
        let lower = word.to_ascii_lowercase();
        ["pass", "secret", "key", "auth", "login", "token", "cred", "unlock", "vault"]
            .iter()
            .any(|hint| lower.contains(hint))
    })
}

/// `<(echo x)`: a file that a shell makes of a literal, for a command that wants a secret from one.
fn substituted(text: &str, line: Range<usize>, spans: &mut Vec<Span>) {
    let whole = &text[line.clone()];
    for mark in ["<(echo ", "<(printf "] {
        for (at, _) in whole.match_indices(mark) {
            let inside = &whole[at + mark.len()..];
            let inside = &inside[..inside.find(')').unwrap_or(0)];
            let Some(last) = inside.split(' ').rfind(|word| !word.is_empty()) else { continue };
            let value = last.trim_matches(['"', '\'']);
            let head: Vec<&str> = whole[..at].split_whitespace().collect();
            if hints(&head) && value_fine(value) && !value.starts_with('-') {
                let from = line.start + (value.as_ptr() as usize - whole.as_ptr() as usize);
                spans.push(Span::new(from..from + value.len(), By::Container, "standard input"));
            }
        }
    }
}

fn places(
    text: &str,
    command: &[Range<usize>],
    words: &[&str],
    hide: &mut impl FnMut(usize, Range<usize>, &'static str),
) {
    for (starts, which) in PLACES {
        let Some(first) = words.iter().position(|word| base(word) == starts[0]) else { continue };
        let mut rest: Vec<usize> = (first + 1..words.len()).collect();
        let mut matched = true;
        for start in &starts[1..] {
            let wanted = start.trim_start_matches('-');
            match rest.iter().position(|at| words[*at].trim_start_matches('-') == wanted) {
                Some(found) => {
                    rest.drain(..=found);
                }
                None => {
                    matched = false;
                    break;
                }
            }
        }
        if !matched {
            continue;
        }
        if starts[0] == "htpasswd"
            && !words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('b'))
        {
            continue;
        }
        let plain: Vec<usize> = rest
            .into_iter()
            .filter(|at| {
                !(words[*at].starts_with(['-', '>', '<']) || starts[0] == "net" && words[*at].starts_with('/'))
            })
            .collect();
        let chosen = if *which < 0 { plain.last() } else { plain.get(*which as usize) };
        if let Some(at) = chosen
            && value_fine(words[*at])
            && !(pairs::names_one(words[*at]) && words::named(words[*at]).is_some())
            && !reading::is_kept(words[*at], Strength::Strong)
        {
            hide(*at, command[*at].clone(), "command argument");
        }
    }
    let _ = text;
}

fn userpass(text: &str, value: Range<usize>, hide: &mut impl FnMut(usize, Range<usize>, &'static str)) {
    let shown = &text[value.clone()];
    if let Some(mark) = shown.find([':', '%', ','])
        && value_fine(&shown[mark + 1..])
        && !shown.contains("://")
    {
        hide(0, value.start + mark + 1..value.end, "user and password");
    }
}

/// `--token TOKEN`: what a usage line has in the place of a value.
fn is_metavariable(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') && words::named(text).is_some()
}

/// Whether a word can be a credential: no reference, no file, nothing that is masked.
fn value_fine(text: &str) -> bool {
    !text.is_empty() && !reading::is_masked(text) && !reading::is_reference(text) && !text.starts_with("$(")
}

/// The items of an argument list that are credentials: `["--password", "x"]`, `["mysql", "-px"]`. For each, the part of the item.
pub(super) fn arguments(items: &[Option<&str>]) -> Vec<(usize, Range<usize>, &'static str)> {
    // The list is judged as the command that it is; items are joined by a character that no item is cut at.
    let mut text = String::new();
    let mut places: Vec<Range<usize>> = Vec::new();
    for item in items {
        let start = text.len();
        text.push_str(item.unwrap_or(""));
        places.push(start..text.len());
        text.push('\n');
    }
    let mut spans = Vec::new();
    judge(&text, &places, &[], &mut spans);
    let mut out = Vec::new();
    for span in spans {
        if let Some(at) = places.iter().position(|place| place.start <= span.range.start && span.range.end <= place.end)
        {
            let word = match span.word {
                std::borrow::Cow::Borrowed(word) => word,
                std::borrow::Cow::Owned(_) => "command flag",
            };
            out.push((at, span.range.start - places[at].start..span.range.end - places[at].start, word));
        }
    }
    out
}
