//! Which rules are there, and what does one mean? Text for a person, made from the packs themselves.

use crate::fields;
use crate::rules::{self, Fits, Pack, Rule, SecretBy, When};
use std::fmt::Write as _;

/// Every pack with its rules, a line each: severity, id, sentence. Packs of the user's own follow those that come with flecto.
///
/// # Errors
/// A pack that cannot be read.
pub fn list(own: &[Pack]) -> Result<String, String> {
    let mut out = String::new();
    for pack in all(own)? {
        let _ = writeln!(out, "{} - {}", pack.name, pack.about);
        let _ = writeln!(out, "  {}", chosen(pack));
        for rule in &pack.rules {
            let _ = writeln!(out, "  {:<5}  {:<32}  {}", rule.severity, rule.id, rule.message);
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    Ok(out)
}

/// A pack with its rules, or a rule with its help, by its name. `pack/rule` is understood.
///
/// # Errors
/// A name that nothing has, as a sentence with the nearest.
pub fn show(name: &str, own: &[Pack]) -> Result<String, String> {
    let packs = all(own)?;
    if let Some(pack) = packs.iter().find(|pack| pack.name == name) {
        let mut out = format!("{}\n\n{}\n{}\n", pack.name, pack.about, chosen(pack));
        for rule in &pack.rules {
            let _ = write!(out, "\n{}", text(pack, rule));
        }
        return Ok(out);
    }
    let (wanted_pack, id) = name.split_once('/').map_or((None, name), |(pack, id)| (Some(pack), id));
    let in_pack = |pack: &&&Pack| wanted_pack.is_none_or(|wanted| pack.name == wanted);
    let found =
        packs.iter().filter(in_pack).find_map(|pack| Some((*pack, pack.rules.iter().find(|rule| rule.id == id)?)));
    if let Some((pack, rule)) = found {
        return Ok(text(pack, rule));
    }
    let known: Vec<&str> = packs.iter().flat_map(|pack| pack.rules.iter().map(|rule| rule.id.as_str())).collect();
    Err(match fields::nearest(id, &known) {
        Some(near) => format!("no pack or rule `{name}`; did you mean `{near}`?"),
        None => format!("no pack or rule `{name}`; `flecto policies list` names them"),
    })
}

fn all(own: &[Pack]) -> Result<Vec<&Pack>, String> {
    let mut packs = Vec::new();
    for name in rules::builtin_names() {
        packs.push(rules::read_builtin(name)?);
    }
    packs.extend(own);
    Ok(packs)
}

fn chosen(pack: &Pack) -> String {
    let Fits { all, kinds, files } = &pack.fits;
    if *all {
        return "judges every file".into();
    }
    let kinds = (!kinds.is_empty()).then(|| format!("files that are {}", kinds.join(", ")));
    let names: Vec<&str> = files.iter().map(rules::FileGlob::as_str).collect();
    let names = (!names.is_empty()).then(|| format!("files named {}", names.join(", ")));
    let parts: Vec<String> = kinds.into_iter().chain(names).collect();
    if parts.is_empty() { "judges when it is named".into() } else { format!("judges {}", parts.join(", and ")) }
}

fn text(pack: &Pack, rule: &Rule) -> String {
    let mut out = format!("{}/{} ({})\n  {}\n", pack.name, rule.id, rule.severity, rule.message);
    if !rule.help.is_empty() {
        out.push('\n');
        for line in rule.help.lines() {
            let _ = writeln!(out, "  {}", line.trim_end());
        }
    }
    let _ = writeln!(out, "\n  Looks at: {}", looks_at(&rule.when));
    for example in &rule.fires {
        let side = |value: &Option<crate::value::Value>| value.as_ref().map_or("nothing".into(), |v| v.to_json());
        let _ = writeln!(out, "  Fires at: {}: {} -> {}", example.path, side(&example.before), side(&example.after));
    }
    if !rule.source.is_empty() {
        let _ = writeln!(out, "  Source:   {}", rule.source);
    }
    out
}

fn looks_at(when: &When) -> String {
    let mut parts = vec![when.ops.iter().map(|op| op.as_str()).collect::<Vec<_>>().join(" or ")];
    let list = |what: &str, words: Vec<String>| (!words.is_empty()).then(|| format!("{what} {}", words.join(", ")));
    parts.extend(list("paths", when.paths.iter().map(ToString::to_string).collect()));
    parts.extend(list("keys", when.keys.iter().map(ToString::to_string).collect()));
    parts.extend(list("kinds", when.kinds.clone()));
    match when.secret {
        Some(SecretBy::Name) => parts.push("secrets by their name".into()),
        Some(SecretBy::Shape) => parts.push("secrets by their shape".into()),
        Some(SecretBy::Text) => parts.push("secrets by what stands beside them, or that look random".into()),
        None => {}
    }
    parts.join("; ")
}
