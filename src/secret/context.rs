//! What does the place of a value say? Walks down from the root of a document, one step after another, and carries the evidence along:
//! the names of keys, what stands beside, the kind of document.
//!
//! The path of a record and the inside of its value are walked by the same steps, so that a subtree is judged as its leaves would be.

use super::memory::{Memory, recall};
use super::words::{self, Named, Strength};
use super::{By, Place};
use crate::path::Segment;
use std::rc::Rc;

/// The evidence that the place of a value gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// What says that a scalar here is a secret.
    pub(super) hold: Option<Hold>,
    /// The last name on the way, for names under it that say too little alone, and for what is public by its name.
    pub(super) name: String,
    /// The name of an entry of a `KEY=VALUE` or flag list that the value is.
    pub(super) entry: Option<String>,
    /// Key words below describe something: a reference, a schema, texts of a user interface.
    shield: bool,
    /// Nothing was stepped into yet.
    at_root: bool,
    /// Below a language's code at the root: `en.login.password` is a label.
    language: bool,
    /// The root of a Kubernetes Secret.
    secret_root: bool,
    /// What a selector on the way says of the value beside it: `env[name=DB_PASSWORD].value`.
    sibling: Option<Named>,
    /// The value is an item of a list.
    pub(super) listed: bool,
    /// In a resource of Terraform that keeps a secret.
    in_resource: bool,
    /// How many documents inside strings the value is in.
    pub(super) embedded: usize,
}

/// Evidence from a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// What the name says.
    pub(super) named: Named,
    /// What kind of evidence it is.
    pub(super) by: By,
    /// The place is one of labels and texts: only what no label is counts.
    pub(super) shield: bool,
    /// The place is one of texts in a language: labels and sentences are kept.
    pub(super) language: bool,
}

/// Everything under `data` and `stringData` of a Secret.
const SECRET_DATA: Named = Named { strength: Strength::Strong, word: "Secret", numbers: true, many: true };

/// Names of fields that hold another field's name, as `name` in `{name: DB_PASSWORD, value: …}`.
pub(super) const NAME_FIELDS: &[&str] = &[
    "name",
    "key",
    "variable",
    "var",
    "env",
    "envname",
    "envvar",
    "parameter",
    "parametername",
    "param",
    "option",
    "setting",
    "field",
    "property",
    "propertyname",
    "header",
    "headername",
    "parameterkey",
    "k",
    "optionname",
    "settingname",
    "path",
    "attribute",
    "variablename",
    "secretname",
    "label",
    "id",
    "configkey",
    "config",
    "flag",
    "namespace_option",
    "title",
    "identifier",
    "macro",
    "propname",
    "keyname",
];

/// Names of fields that hold the value beside such a name.
pub(super) const VALUE_FIELDS: &[&str] = &[
    "value",
    "val",
    "default",
    "defaultvalue",
    "content",
    "contents",
    "parametervalue",
    "optionvalue",
    "settingvalue",
    "v",
    "literal",
    "data",
    "stringvalue",
    "text",
    "before",
    "after",
    "old",
    "new",
    "from",
    "to",
    "oldvalue",
    "newvalue",
    "previous",
    "current",
    "values",
    "plaintext",
    "secretvalue",
    "resolvedvalue",
    "headervalue",
    "propvalue",
    "variablevalue",
    "envvalue",
    "varvalue",
    "keyvalue",
    "fieldvalue",
    "secretstring",
    "actual",
    "expected",
    "prior",
    "now",
];

impl Context {
    /// The root of a document.
    pub(super) fn root() -> Context {
        Context { at_root: true, ..Context::default() }
    }

    /// Where a place is.
    pub(super) fn at(place: &Place<'_>) -> Context {
        let mut context = Context::root();
        context.secret_root = place.document.is_some_and(|name| name == "Secret" || name.starts_with("Secret/"));
        context.shield = place.file.is_some_and(is_texts);
        for segment in &place.path.0 {
            context = context.step(segment);
        }
        context
    }

    /// The root of a document in a string here.
    pub(super) fn inner(&self) -> Context {
        Context {
            embedded: self.embedded + 1,
            shield: self.shield,
            hold: self.hold.filter(|hold| hold.by == By::Document),
            ..Context::root()
        }
    }

    /// One step down.
    pub(super) fn step(&self, segment: &Segment) -> Context {
        match segment {
            Segment::Key(name) => self.key(name),
            Segment::Typed(name) => self.key(name.trim_matches('"')),
            Segment::Entry { name, .. } => {
                let mut next = self.key(name.trim_start_matches('-'));
                next.entry = Some(name.clone());
                next
            }
            Segment::Index(_) => self.item(),
            Segment::Item(fields) => {
                let mut next = self.item();
                next.sibling = fields
                    .iter()
                    .filter(|(field, _)| NAME_FIELDS.contains(&&*glued(field)))
                    .find_map(|(_, word)| words::named(word.text()))
                    .filter(|named| named.strength >= Strength::Medium);
                next
            }
            Segment::Inner(_) => self.inner(),
        }
    }

    /// Into the item of a list, which is a value of the list's name.
    pub(super) fn item(&self) -> Context {
        let mut next = self.clone();
        next.entry = None;
        next.sibling = None;
        next.at_root = false;
        next.listed = true;
        next
    }

    /// Into the entry of a map. A name that holds a secret itself is read as it will be shown too: the second time it is all there is.
    pub(super) fn key(&self, name: &str) -> Context {
        let next = self.key_as_written(name);
        let plain = name.len() < 20 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        if plain || next.hold.is_some_and(|hold| hold.named.strength == Strength::Strong && !hold.shield) {
            return next;
        }
        let Some(shown) = super::value::shown_name(name) else { return next };
        let mut shown = self.key_as_written(&shown);
        let strength = |context: &Context| context.hold.map(|hold| hold.named.strength);
        if strength(&shown) > strength(&next) {
            shown.name.clone_from(&next.name);
            return shown;
        }
        next
    }

    fn key_as_written(&self, name: &str) -> Context {
        let shield = self.shield || words::shields(name);
        let language = self.language || self.at_root && words::is_language(name);
        let mut next =
            Context { name: name.to_string(), shield, language, embedded: self.embedded, ..Context::default() };
        if name.starts_with("Secret/") {
            next.secret_root = true;
            return next;
        }
        if let Some(hold) = self.hold
            && hold.by == By::Document
        {
            next.hold = Some(hold);
            return next;
        }
        if self.secret_root && matches!(name, "data" | "stringData") {
            next.hold = Some(Hold { named: SECRET_DATA, by: By::Document, shield: false, language: false });
            return next;
        }
        if self.listed && name == "secretKey" && matches!(self.name.as_str(), "data" | "objects") {
            // An ExternalSecret: under which key the value is put.
            return next;
        }
        if self.name == "encryptedData" {
            // A SealedSecret: only the cluster's key opens what stands here.
            next.name.clone_from(&self.name);
            return next;
        }
        if matches!(self.name.as_str(), "css" | "theme" | "themes" | "design" | "styles" | "tailwind")
            && name == "tokens"
        {
            return next;
        }
        if name == "info" && self.name == "user" {
            // `basic.auth.user.info`, as a file of properties is cut at its dots.
            next.name = "userinfo".to_string();
        }
        if let Some(hold) = self.resource(name) {
            next.hold = Some(hold);
            next.in_resource = self.in_resource;
            return next;
        }
        next.in_resource = self.in_resource || self.name == "resource" && is_secret_resource(name);
        if self.in_resource {
            // What a resource that keeps a secret is called says nothing of its settings.
            if !VALUE_FIELDS.contains(&&*glued(name)) && words::named(name).is_none() {
                return next;
            }
        }
        let mut own = words::named(name);
        let parent = self.hold.is_none_or(|hold| hold.named.strength < Strength::Strong);
        let half = own.map_or(matches!(name, "string" | "combination"), |named| named.strength == Strength::Weak);
        if half && !self.name.is_empty() && parent && name.chars().count() <= 12 {
            // `tls.key`, `api.key`: the two names are one. A parent that is a secret itself says it below.
            // `accessKeySecret.key` is the other way round: a Secret, and which of its keys.
            let selector = || glued(&self.name).ends_with("secret") || words::shields(&self.name);
            let glued = words::named(&format!("{}_{}", self.name, name)).filter(|_| !selector());
            let longer = |named: &Named| {
                named.strength == Strength::Strong
                    && words::named(&self.name).is_none_or(|parent| named.word.len() > parent.word.len())
            };
            if own.is_some() && glued.is_some() || own.is_none() && glued.as_ref().is_some_and(longer) {
                own = glued.max_by_strength(own);
            }
        }
        if !parent
            && name == "key"
            && self.name == "secret"
            && let Some(named) = own.as_mut()
        {
            // `play.http.secret.key`; where it says which key of a Secret, it is a name in small letters.
            named.strength = Strength::Medium;
            named.word = "secretkey";
        }
        if name == "secret"
            && matches!(self.name.as_str(), "tls" | "ingress" | "certificate" | "ssl" | "cert" | "ca")
            && let Some(named) = own.as_mut()
        {
            // `tls.secret`: the name of a Secret.
            named.strength = Strength::Weak;
        }
        // `mfa.seed`, `password.hash`: which half of the parent's secret it is.
        if !parent
            && self.hold.is_some_and(|hold| !hold.named.many)
            && let Some(named) = own.as_mut()
            && named.strength == Strength::Weak
            && matches!(named.word, "seed" | "phrase" | "code" | "hash" | "pem" | "private")
        {
            named.strength = Strength::Medium;
        }
        if own.is_none() && !words::describes(name) && matches!(&*glued(&self.name), "basicauth" | "httpbasicauth") {
            // A map of users and their passwords.
            own = words::named(&self.name);
        }
        if let Some(sibling) = self.sibling
            && VALUE_FIELDS.contains(&&*glued(name))
        {
            next.hold = Some(Hold { named: sibling, by: By::Sibling, shield, language });
            return next;
        }
        const NO_SECRETS: &[&str] = &["scripts", "aliases", "color", "colors", "colours", "palette"];
        if let Some(named) = own.as_mut().filter(|_| NO_SECRETS.contains(&self.name.as_str())) {
            // A command or a colour by its name: `scripts: {token: node token.js}`. What looks random still counts.
            named.strength = Strength::Weak;
        }
        if let Some(named) = own
            && (named.strength > Strength::Weak || self.hold.is_none())
        {
            next.hold = Some(Hold { named, by: By::Key, shield, language });
            return next;
        }
        if let Some(hold) = self.hold {
            let opened = hold.named.strength == Strength::Strong && words::is_opened(name);
            if hold.named.word == "token" && hold.named.many && is_design(name) {
                // `tokens.color.primary`: a design system's.
                return next;
            }
            let collection = (hold.named.many || opened)
                && hold.named.strength > Strength::Weak
                && !words::describes(name)
                && !words::selects_a_key(name);
            if collection || words::holds_value(name) && hold.named.strength > Strength::Weak {
                next.hold = Some(Hold { shield: hold.shield || shield, ..hold });
            }
        }
        next
    }

    /// The value of a resource of Terraform whose kind is a secret: `resource.azurerm_key_vault_secret.db.value`.
    fn resource(&self, name: &str) -> Option<Hold> {
        let sensitive = matches!(self.name.as_str(), "set_sensitive") && name == "value" || name == "stringData";
        let value = self.in_resource
            && matches!(
                name,
                "value"
                    | "plaintext_value"
                    | "secret_string"
                    | "secret_data"
                    | "data_json"
                    | "value_wo"
                    | "secret_value"
                    | "data"
                    | "binary_data"
                    | "string_data"
            );
        (sensitive || value).then_some(Hold { named: SECRET_DATA, by: By::Document, shield: false, language: false })
    }

    /// Beside a name that says this, as a value.
    pub(super) fn beside(&self, name: &str, named: Named) -> Context {
        let mut next = self.key(name);
        if next.hold.is_none_or(|hold| hold.named.strength < named.strength) {
            next.hold = Some(Hold { named, by: By::Sibling, shield: self.shield, language: self.language });
        }
        next
    }

    /// As the `data` of a Secret.
    pub(super) fn as_secret_data(&self, name: &str) -> Context {
        let mut next = self.key(name);
        next.hold = Some(Hold { named: SECRET_DATA, by: By::Document, shield: false, language: false });
        next
    }
}

/// Kinds of resources that are a secret's own: `kubernetes_secret_v1`, `aws_secretsmanager_secret_version`.
fn is_secret_resource(kind: &str) -> bool {
    kind.contains('_')
        && ["_secret", "_secret_v1", "_secret_version", "_secret_value", "_secret_variable"]
            .iter()
            .any(|end| kind.ends_with(end))
}

/// Groups of a design system's tokens.
fn is_design(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "color"
            | "colors"
            | "colour"
            | "colours"
            | "spacing"
            | "space"
            | "size"
            | "sizes"
            | "font"
            | "fonts"
            | "radius"
            | "radii"
            | "shadow"
            | "shadows"
            | "typography"
            | "breakpoint"
            | "breakpoints"
            | "opacity"
            | "border"
            | "borders"
            | "motion"
            | "duration"
            | "easing"
            | "zindex"
            | "z-index"
            | "elevation"
            | "lineheight"
            | "letterspacing"
            | "semantic"
            | "palette"
    )
}

trait Stronger {
    fn max_by_strength(self, other: Option<Named>) -> Option<Named>;
}

impl Stronger for Option<Named> {
    fn max_by_strength(self, other: Option<Named>) -> Option<Named> {
        match (self, other) {
            (Some(a), Some(b)) => Some(if a.strength > b.strength { a } else { b }),
            (a, b) => a.or(b),
        }
    }
}

/// Files of texts for a user interface, where key words name labels.
fn is_texts(file: &str) -> bool {
    thread_local! {
        static FILES: Memory<bool> = Memory::default();
    }
    recall(&FILES, file, || names_texts(file))
}

fn names_texts(file: &str) -> bool {
    file.split(['/', '\\']).any(|part| {
        let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
        let folder = matches!(
            stem.as_str(),
            "i18n"
                | "l10n"
                | "locale"
                | "locales"
                | "translations"
                | "lang"
                | "langs"
                | "languages"
                | "_locales"
                | "intl"
        );
        // `locale_de-DE.ini`, `messages_fr.properties`.
        folder
            || ["locale_", "locale-", "messages_", "translations_", "strings_"]
                .iter()
                .any(|start| stem.starts_with(start))
    })
}

/// The words of a name, written together.
pub(super) fn glued(name: &str) -> Rc<str> {
    thread_local! {
        static GLUED: Memory<Rc<str>> = Memory::default();
    }
    recall(&GLUED, name, || words::split(name).concat().into())
}

/// A path as somebody else's program may write it, `['a'].b` or `a/b`: good enough to know the names on it.
pub(super) fn loose_path(text: &str) -> Vec<Segment> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let quote = inner.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let (name, after) = match quote {
                Some(quote) => {
                    let end = inner[1..].find(quote).map_or(inner.len(), |end| end + 1);
                    let after = inner.get(end + 1..).unwrap_or("");
                    (inner.get(1..end).unwrap_or(""), after.strip_prefix(']').unwrap_or(after))
                }
                None => inner.split_once(']').unwrap_or((inner, "")),
            };
            if quote.is_none() && (name == "*" || name.bytes().all(|b| b.is_ascii_digit())) {
                out.push(Segment::Index(name.parse().unwrap_or(0)));
            } else if let Some((field, value)) = name.split_once('=').filter(|_| quote.is_none()) {
                let value = value.trim_matches(['"', '\'']);
                out.push(Segment::Item(vec![(field.to_string(), crate::path::Word::Text(value.to_string()))]));
            } else {
                out.push(Segment::Key(name.trim_start_matches('@').to_string()));
            }
            rest = after;
        } else {
            rest = rest.strip_prefix(['.', '!', '/']).unwrap_or(rest);
            let end = rest.find(['.', '[', '!', '/']).unwrap_or(rest.len());
            if end > 0 {
                out.push(Segment::Key(rest[..end].to_string()));
            }
            rest = &rest[end..];
            if end == 0 && !rest.starts_with(['[', '.', '!', '/']) {
                break;
            }
        }
    }
    out
}
