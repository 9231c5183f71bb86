//! What becomes of a comment on its way? Its marker, its end, and what fits.

use std::fmt::Write as _;

/// What a comment of flecto's begins with.
pub(super) const MARKER: &str = "<!-- flecto:pr-comment -->";

/// The last line of a whole comment: one that was cut off on its way has none and is not posted.
pub(super) const END: &str = "<!-- flecto:end -->";

/// The first line, when it is flecto's marker.
pub(super) fn marker(body: &str) -> Option<&str> {
    let line = body.lines().next()?.trim_end();
    line.starts_with(MARKER).then_some(line)
}

/// Whether a comment that was read back begins with a marker, as the forge stored it.
pub(super) fn begins_with(body: &str, marker: &str) -> bool {
    let line = body.lines().next().unwrap_or_default().trim_end();
    line == marker || line == reference(marker)
}

/// The comment without marker and end: for a job summary.
pub(super) fn content(body: &str) -> String {
    let inner = body.strip_prefix(marker(body).unwrap_or_default()).unwrap_or(body);
    inner.trim_end().strip_suffix(END).unwrap_or(inner).trim_start_matches(['\r', '\n']).to_string()
}

/// At most `max` bytes of Markdown, cut at a line end; what is open there is closed, and the cut is named.
pub(super) fn fit(body: &str, max: usize) -> String {
    const CUT: &str = "\n**The report is longer than this forge allows; the rest is in the job's output.**\n";
    if body.len() <= max {
        return body.to_string();
    }
    let mut out = String::new();
    let mut closing: Vec<String> = Vec::new();
    let mut fence: Option<String> = None;
    for line in body.split_inclusive('\n') {
        let plain = line.trim_end();
        let ticks = plain.len() - plain.trim_start_matches('`').len();
        let mut after = closing.clone();
        match &fence {
            Some(open) if plain == open => {
                after.pop();
                fence = None;
            }
            Some(_) => {}
            None if ticks >= 3 => {
                let open = "`".repeat(ticks);
                after.push(format!("{open}\n"));
                fence = Some(open);
            }
            None if plain.starts_with("<details>") => after.push("\n</details>\n".into()),
            None if plain == "</details>" => {
                after.pop();
            }
            None => {}
        }
        let needed: usize = after.iter().map(String::len).sum();
        if out.len() + line.len() + needed + CUT.len() + END.len() + 1 > max {
            break;
        }
        out.push_str(line);
        closing = after;
    }
    for close in closing.iter().rev() {
        out.push_str(close);
    }
    out.push_str(CUT);
    out.push_str(END);
    out.push('\n');
    out
}

/// A marker as a reference definition, which shows nothing where HTML comments are text.
fn reference(marker: &str) -> String {
    let names: Vec<&str> = marker
        .split("<!-- ")
        .filter_map(|part| part.strip_suffix(" -->").or_else(|| part.split(" -->").next()))
        .filter(|part| !part.is_empty())
        .collect();
    format!("[flecto]: # \"{}\"", names.join(" "))
}

/// The comment for a forge that shows HTML as text: code elements become code spans, folded parts lie open. A backtick and
/// a bar cannot stand in a span in a table there, so they are shown as look-alikes.
pub(super) fn without_html(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    for (at, line) in body.lines().enumerate() {
        if at == 0 && line.starts_with(MARKER) {
            let _ = writeln!(out, "{}\n", reference(line.trim_end()));
            continue;
        }
        if line.starts_with("<details>") || line == "</details>" || line == END {
            continue;
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("<code>") {
            out.push_str(before);
            let (code, after) = after.split_once("</code>").unwrap_or((after, ""));
            let text = decoded(&code.replace("<wbr>", "")).replace('`', "ˋ").replace('|', "∣");
            if text.is_empty() {
                out.push_str("(empty)");
            } else {
                let _ = write!(out, "`{text}`");
            }
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

/// `&#64;` → `@`, as flecto's own comments write references.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("&#") {
        out.push_str(before);
        let known = after.split_once(';').and_then(|(number, after)| {
            let c = number.parse().ok().and_then(char::from_u32)?;
            Some((c, after))
        });
        match known {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push_str("&#");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_closes_what_is_open() {
        let body = format!(
            "{MARKER}\n<details><summary>x</summary>\n\n````text\n{}````\n</details>\n{END}\n",
            "a\n".repeat(500)
        );
        let cut = fit(&body, 400);
        assert!(cut.len() <= 400, "{}", cut.len());
        assert!(cut.contains("a\n````\n\n</details>\n\n**The report is longer"), "{cut}");
        assert_eq!(fit(&body, 4_000), body);
    }

    #[test]
    fn without_html_reads_the_same() {
        let body =
            format!("{MARKER}<!-- flecto:instance x -->\n| <code>a&#64;b&#124;&#96;</code> | <code></code> |\n{END}\n");
        assert_eq!(
            without_html(&body),
            "[flecto]: # \"flecto:pr-comment flecto:instance x\"\n\n| `a@b∣ˋ` | (empty) |\n"
        );
        assert!(begins_with(&without_html(&body), marker(&body).expect("a marker")));
    }

    #[test]
    fn the_content_has_no_marks() {
        assert_eq!(content(&format!("{MARKER}\nhello\n\n{END}\n")), "hello\n\n");
    }
}
