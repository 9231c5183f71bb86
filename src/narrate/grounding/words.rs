//! What in a sentence can be looked up, and which words claim something about a change.

use super::factors;
use super::facts::{self, Change, Facts, Number, Way};
use regex::Regex;
use std::sync::LazyLock;

/// A place in a statement behind which something is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Where the marked text ends, in bytes.
    pub(super) end: usize,
    /// The text.
    pub(super) text: String,
}

impl Mark {
    /// The whole statement.
    pub(super) fn at_end(statement: &str) -> Mark {
        Mark { end: statement.trim_end().len(), text: crate::text::shorten(statement.trim(), 80).into_owned() }
    }
}

/// Everything in a statement that is not in the diff, in order.
pub(super) fn marks(statement: &str, facts: &Facts) -> Vec<Mark> {
    let spans = spans(statement);
    let mut marks = Vec::new();
    let mut mark = |start: usize, end: usize| marks.push(Mark { end, text: statement[start..end].to_string() });
    for span in &spans {
        if span.marked {
            if !is_quoted_fact(&statement[span.start + span.open..span.end - span.close], facts) {
                mark(span.start, span.end);
            }
            continue;
        }
        let words = bare_words(&statement[span.start..span.end]);
        for (at, (start, word)) in words.iter().enumerate() {
            let next = words.get(at + 1).map_or("", |(_, word)| word);
            if !is_fact(word, next, statement, facts) {
                mark(span.start + start, span.start + start + word.len());
            }
        }
    }
    for (start, end) in swapped(statement, facts)
        .into_iter()
        .chain(factors::wrong(statement, facts))
        .chain(claims(statement, &spans, facts))
    {
        mark(start, end);
    }
    marks.sort_by_key(|mark| mark.end);
    marks.dedup_by_key(|mark| mark.end);
    marks
}

/// A part of a statement: in quotes or backticks, or not.
struct Span {
    start: usize,
    end: usize,
    /// In quotes or backticks, with marks of these lengths.
    marked: bool,
    open: usize,
    close: usize,
}

fn spans(statement: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = statement[at..].find(['`', '"', '“']).map(|offset| at + offset) {
        let rest = &statement[found..];
        let open: usize = match rest.chars().next() {
            Some('`') => rest.len() - rest.trim_start_matches('`').len(),
            Some(c) => c.len_utf8(),
            None => break,
        };
        let closing = match &rest[..open] {
            "“" => "”",
            marks => marks,
        };
        let Some(length) = rest[open..].find(closing).filter(|length| *length > 0) else {
            at = found + open;
            continue;
        };
        let end = found + open + length + closing.len();
        out.push(Span { start: done, end: found, marked: false, open: 0, close: 0 });
        out.push(Span { start: found, end, marked: true, open, close: closing.len() });
        (done, at) = (end, end);
    }
    out.push(Span { start: done, end: statement.len(), marked: false, open: 0, close: 0 });
    out
}

/// Whether what stands in quotes or backticks is in the diff: as a whole, or each part of it.
fn is_quoted_fact(text: &str, facts: &Facts) -> bool {
    let text = text.trim();
    if facts.holds(text) {
        return true;
    }
    let parts = text.split(|c: char| c.is_whitespace() || "→=,()<>".contains(c));
    parts
        .map(trim)
        .filter(|part| part.chars().any(char::is_alphanumeric) && *part != "->")
        .all(|part| facts.holds(part) || parse(part).is_some_and(|number| facts.has_number(number)))
}

fn trim(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && !"_/$%*~".contains(c))
}

/// The words of plain prose with their places, without the punctuation around them.
fn bare_words(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        // 1,000 is one number.
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let thousands = c == ',' && digit(text[..at].chars().next_back()) && digit(text[at + 1..].chars().next());
        let breaks = !thousands && (c.is_whitespace() || "()[]{},;→–—|\"“”".contains(c));
        match (breaks, start) {
            (false, None) => start = Some(at),
            (true, Some(begin)) => {
                let word = &text[begin..at];
                let trimmed = trim(word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word));
                let trimmed = trimmed.trim_matches(['*', '~']).trim_end_matches('/');
                if !trimmed.is_empty() {
                    out.push((begin + word.find(trimmed).unwrap_or(0), trimmed));
                }
                start = None;
            }
            _ => {}
        }
    }
    // "1." at the head of a line counts its items.
    if text.trim_start().split_once(['.', ')']).is_some_and(|(number, _)| number.parse::<u32>().is_ok())
        && !out.is_empty()
    {
        out.remove(0);
    }
    out
}

/// Whether a word is in the diff, follows from it, or is none that could be looked up. The word after it and the statement
/// say what a number is spoken of as.
fn is_fact(word: &str, next: &str, statement: &str, facts: &Facts) -> bool {
    let lower = word.to_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("cve-") {
        return facts.holds(word);
    }
    if let Some(number) = parse(word) {
        return facts.holds(word) || facts.has_number(in_context(number, next, statement));
    }
    if !is_name(&lower) || facts.holds(word) {
        return true;
    }
    // "2-4", "1.2/1.3": each for itself.
    let parts: Vec<&str> = word.split(['-', '/', '+']).collect();
    parts.len() > 1 && parts.iter().all(|part| parse(part).is_some_and(|number| facts.has_number(number)))
        || lower.strip_prefix('v').is_some_and(|version| facts.holds(version))
}

fn is_unit(word: &str) -> bool {
    const UNITS: [&str; 16] = [
        "core",
        "cpu",
        "second",
        "sec",
        "minute",
        "min",
        "hour",
        "day",
        "ms",
        "millisecond",
        "byte",
        "kb",
        "mb",
        "gb",
        "mib",
        "gib",
    ];
    UNITS.contains(&word) || word.strip_suffix('s').is_some_and(|single| UNITS.contains(&single))
}

fn in_context(number: Number, next: &str, statement: &str) -> Number {
    const APART: [&str; 14] = [
        " by ",
        " more",
        " less",
        " fewer",
        " additional",
        " extra",
        "difference",
        "increase of",
        "decrease of",
        "rise of",
        "drop of",
        "reduction of",
        "growth of",
        " smaller",
    ];
    let next = next.to_lowercase();
    let lower = statement.to_lowercase();
    Number {
        percent: number.percent || next == "percent",
        ratio: number.ratio || ["times", "fold", "x", "×"].contains(&next.as_str()) || lower.contains("factor"),
        measured: number.unit || is_unit(&next),
        difference: APART.iter().any(|words| lower.contains(words)),
        unit: number.unit || lower.split(|c: char| !c.is_alphabetic()).any(is_unit),
        ..number
    }
}

/// Whether a word looks like a name of a configuration, a path, a version or an address rather than like prose.
fn is_name(lower: &str) -> bool {
    let inner = |mark: char| {
        let chars: Vec<char> = lower.chars().collect();
        chars.windows(3).any(|w| w[1] == mark && w[0].is_alphanumeric() && w[2].is_alphanumeric())
    };
    let prose = ["e.g", "i.e", "a.k.a", "and/or", "n/a", "w/o", "ci/cd"].contains(&lower);
    !prose && (inner('_') || inner('.') || lower.starts_with('/') && lower.len() > 1)
}

/// A number with a unit, a currency or a sign around it, and its decimals: `20`, `1,000`, `4x`, `5m`, `300%`.
fn parse(word: &str) -> Option<Number> {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^[~<>=+$€-]{0,2}([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?(%|x|×|-?fold|-?times|[a-zA-Zµ]{1,3})?$",
        )
        .ok()
    });
    let found = NUMBER.as_ref()?.captures(word)?;
    let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
    let suffix = part(3).trim_start_matches('-');
    let ratio = ["x", "×", "fold", "times"].contains(&suffix);
    Some(Number {
        value: format!("{}{}", part(1).replace(',', ""), part(2)).parse().ok()?,
        decimals: part(2).len().saturating_sub(1),
        percent: suffix == "%",
        ratio,
        difference: false,
        measured: false,
        unit: !suffix.is_empty() && suffix != "%" && !ratio,
    })
}

/// The numbers of a statement.
pub(super) fn numbers(statement: &str) -> impl Iterator<Item = Number> + '_ {
    statement.split(|c: char| c.is_whitespace() || "()[],;→`\"".contains(c)).filter_map(|word| parse(trim(word)))
}

/// Whether a text (in lower case) has a name as a word, or in the singular or plural.
pub(super) fn has_word(lower: &str, name: &str) -> bool {
    let boundary = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let single = name.strip_suffix('s').filter(|single| single.len() > 2).unwrap_or(name);
    let spaced = name.replace(['_', '-'], " ");
    [name, single, &spaced].iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let after = &lower[at + name.len()..];
            let plural = after.strip_prefix('s').is_some_and(|rest| boundary(rest.chars().next()));
            boundary(lower[..at].chars().next_back()) && (boundary(after.chars().next()) || plural)
        })
    })
}

/// "from 1 to 3" where a value went from 3 to 1.
fn swapped(statement: &str, facts: &Facts) -> Vec<(usize, usize)> {
    static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r#"(?i)\bfrom\s+(?:the\s+|a\s+|an\s+|about\s+)?[`"“]?([^\s`"”,;]+)[`"”]?(?:\s+\S+){0,3}?\s+to\s+(?:the\s+|a\s+|an\s+)?[`"“]?([^\s`"”,;]+)"#,
            r#"|[`"“]?([^\s`"”,;]+)[`"”]?\s*(?:→|->|=>)\s*[`"“]?([^\s`"”,;]+)"#
        ))
        .ok()
    });
    let Some(pattern) = PAIR.as_ref() else { return Vec::new() };
    let mut out = Vec::new();
    for found in pattern.captures_iter(statement) {
        let sides = found.get(1).zip(found.get(2)).or(found.get(3).zip(found.get(4)));
        let Some((from, to)) = sides else { continue };
        let end = to.start() + to.as_str().trim_end_matches(['.', ':', ')', '`', '"']).len();
        let goes =
            |change: &Change, from: &str, to: &str| is_value(&change.before, from) && is_value(&change.after, to);
        let (from, to_text) = (from.as_str(), &statement[to.start()..end]);
        let right = facts.changes.iter().any(|change| goes(change, from, to_text));
        let wrong = facts.changes.iter().any(|change| goes(change, to_text, from));
        // A value that goes from what it was to what it never was.
        let begins = facts
            .changes
            .iter()
            .any(|change| !change.masked && change.after.is_some() && is_value(&change.before, from));
        let arrow = found.get(3).is_some();
        let looked_up = arrow || parse(to_text).is_some();
        let known = facts.changes.iter().any(|change| is_same_amount(&change.after, to_text));
        if !right && (wrong || begins && looked_up && !known) {
            out.push((to.start(), end));
        }
    }
    out
}

/// Whether a word says the amount of a value in whatever unit: then the numbers are looked at elsewhere.
fn is_same_amount(side: &Option<String>, word: &str) -> bool {
    let Some(side) = side else { return false };
    let word = word.trim_matches(|c: char| "()`\"“”.:".contains(c));
    // A value of several words is never one word.
    side.contains(char::is_whitespace) || facts::same_amount(side, word)
}

fn is_value(side: &Option<String>, word: &str) -> bool {
    let Some(side) = side else { return false };
    let word = word.trim_matches(|c: char| "()`\"“”.:".contains(c));
    let number = side.parse::<f64>().ok();
    side.eq_ignore_ascii_case(word) || number.is_some() && number == parse(word).map(|number| number.value)
}

/// What a group of words says of a change, and whether the change bears it out.
struct Claim {
    words: &'static str,
    holds: fn(&Change) -> bool,
}

const CLAIMS: [Claim; 9] = [
    Claim {
        words: r"increas\w*|rais(?:e|es|ed|ing)|ris(?:e|es|en|ing)|rose|grow(?:s|n|ing)?|grew|doubl\w*|tripl\w*|quadrupl\w*|scal\w+ up",
        holds: |change| change.direction == Way::Up,
    },
    Claim {
        words: r"decreas\w*|reduc\w*|lower(?:s|ed|ing)?|drop(?:s|ped|ping)?|shr[aiu]nk\w*|halv\w*|f[ae]ll(?:s|en|ing)?|fell|scal\w+ down",
        holds: |change| change.direction == Way::Down || change.op == "removed",
    },
    Claim { words: r"upgrad\w*", holds: |change| change.direction != Way::Down && change.direction != Way::Same },
    Claim { words: r"downgrad\w*", holds: |change| change.direction != Way::Up && change.direction != Way::Same },
    Claim {
        words: r"enabl(?:e|es|ed|ing)|turn(?:s|ed|ing)? on|switch\w* on|activat\w*",
        holds: |change| !change.switches || change.direction == Way::On,
    },
    Claim {
        words: r"disabl(?:e|es|ed|ing)|turn(?:s|ed|ing)? off|switch\w* off|deactivat\w*",
        holds: |change| !change.switches || change.direction == Way::Off,
    },
    Claim { words: r"remov\w*|delet\w*", holds: |change| change.op == "removed" || change.lost },
    Claim { words: r"add(?:s|ed|ing)?|introduc\w*", holds: |change| change.op == "added" || change.gained },
    Claim {
        words: r"unchanged|no (?:real |effective |semantic |practical |functional )?(?:change|difference)s?|stays?|remains? (?:at|the same)|identical",
        holds: |change| change.direction == Way::Same || change.op == "reordered",
    },
];

/// Claims about a value that nobody who wrote the text can have seen.
const ABOUT_HIDDEN: &str = r"strong\w*|weak\w*|longer|shorter|rotat\w*|secure\w*|insecure|random\w*|complex\w*";

/// Claims that no diff bears out: a verdict that is not the model's, a motive, a flaw.
const VERDICTS: &str = r"approved?|approves|lgtm|(?:safe|ready|fine|ok|okay) to (?:merge|deploy|ship|approve)|no (?:security )?risks?|risk[- ]free|harmless|(?:is|are|looks|perfectly|completely) safe(?: to (?:merge|deploy|ship|approve))?";
const MOTIVES: &str = r"malicious\w*|malware|backdoor\w*|exploit\w*|vulnerabilit\w+|security fix(?:es)?|attackers?";

/// Pairs of which a text names the wrong one.
const OPPOSITES: [(&str, &str); 6] = [
    ("ingress", "egress"),
    ("egress", "ingress"),
    ("inbound", "outbound"),
    ("outbound", "inbound"),
    ("minimum", "maximum"),
    ("maximum", "minimum"),
];

fn word(words: &str) -> Option<Regex> {
    Regex::new(&format!(r"(?i-u)\b(?:{words})\b")).ok()
}

static CLAIM_WORDS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| CLAIMS.iter().map(|claim| word(claim.words)).collect());
static HIDDEN_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| word(ABOUT_HIDDEN));
static VERDICT_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| word(VERDICTS));
static MOTIVE_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| word(MOTIVES));

/// Words of a statement that claim what the changes that it names do not bear out.
fn claims(statement: &str, spans: &[Span], facts: &Facts) -> Vec<(usize, usize)> {
    // What is quoted is not said. Blanked, so that places stay.
    let mut prose = String::with_capacity(statement.len());
    for span in spans {
        let part = &statement[span.start..span.end];
        if span.marked { prose.extend(std::iter::repeat_n(' ', part.len())) } else { prose.push_str(part) }
    }
    let mut out = Vec::new();
    let mut find = |pattern: &Option<Regex>, text: &str, unless_told: bool| {
        for found in pattern.iter().flat_map(|pattern| pattern.find_iter(text)) {
            if !(unless_told && facts.holds(found.as_str())) {
                out.push((found.start(), found.end()));
            }
        }
    };
    find(&VERDICT_WORDS, &prose, false);
    let first = first_clause(&prose);
    if first.len() == prose.len() || !first.trim().is_empty() {
        find(&MOTIVE_WORDS, first, true);
    }
    let named = named(&statement[..first.len()], facts);
    if !named.is_empty() {
        for (claim, pattern) in CLAIMS.iter().zip(CLAIM_WORDS.iter()) {
            // Of a hidden value nobody can say more than that it came, went or changed.
            let bears_out = |change: &&Change| (!change.masked || change.op != "changed") && (claim.holds)(change);
            if !named.iter().any(bears_out) {
                find(pattern, first, true);
            }
        }
        if named.iter().all(|change| change.masked) {
            find(&HIDDEN_WORDS, first, true);
        }
    }
    let lower = first.to_lowercase();
    for (said, meant) in OPPOSITES {
        if let Some(at) = lower.find(said).filter(|_| !facts.holds(said) && facts.holds(meant)) {
            out.push((at, at + said.len()));
        }
    }
    out
}

/// The part that says what changes; what follows says what it may mean, where any direction may be spoken of.
fn first_clause(prose: &str) -> &str {
    const ENDS: [&str; 16] = [
        " — ",
        " – ",
        " - ",
        "; ",
        ", so ",
        ", which ",
        " may ",
        " might ",
        " could ",
        " can ",
        " would ",
        " so that ",
        " because ",
        ", making ",
        ", meaning ",
        ". ",
    ];
    let body =
        prose.len() - prose.trim_start_matches(|c: char| c.is_whitespace() || "-*+•0123456789.)".contains(c)).len();
    let mut end = prose.len();
    for mark in ENDS {
        if let Some(at) = prose[body..].find(mark) {
            // A dash or a colon right behind the quoted path belongs to the bullet's form.
            if prose[body..body + at].split_whitespace().count() > 1 {
                end = end.min(body + at);
            }
        }
    }
    if let Some(at) = prose[body..].find(": ")
        && prose[body..body + at].split_whitespace().count() > 2
    {
        end = end.min(body + at);
    }
    &prose[..end]
}

/// The changes that a clause speaks of; the only one there is, where it names none.
fn named<'a>(clause: &str, facts: &'a Facts) -> Vec<&'a Change> {
    let lower = clause.to_lowercase();
    let by_path: Vec<&Change> =
        facts.changes.iter().filter(|change| lower.contains(&change.path.to_lowercase())).collect();
    if !by_path.is_empty() {
        return by_path;
    }
    let by_name: Vec<&Change> =
        facts.changes.iter().filter(|change| change.names.iter().any(|name| has_word(&lower, name))).collect();
    if by_name.is_empty() && facts.changes.len() == 1 { facts.changes.iter().collect() } else { by_name }
}
