//! Workloads from a seed: the same seed gives the same bytes on every machine.

use std::fmt::Write as _;
use std::path::Path;

/// A small generator of numbers (SplitMix64): enough for test data, the same everywhere.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 16] = [
            "cache", "queue", "billing", "search", "ingest", "worker", "gateway", "session", "report", "mailer",
            "audit", "index", "export", "stream", "replica", "catalog",
        ];
        WORDS[usize::try_from(self.below(16)).unwrap_or(0)]
    }
}

/// A service's settings as YAML, some 2 KB.
fn service_yaml(random: &mut Random, pool: u64) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "service:\n  name: {}\n  replicas: {}", random.word(), random.below(9) + 1);
    let _ = writeln!(
        out,
        "db:\n  host: db-{}.internal\n  pool_size: {pool}\n  timeout: {}s",
        random.below(90),
        random.below(60)
    );
    out.push_str("features:\n");
    for n in 0..20 {
        let _ = writeln!(
            out,
            "  {}_{n}:\n    enabled: {}\n    ratio: 0.{}\n    owner: \"team {}\"",
            random.word(),
            random.below(2) == 0,
            random.below(99),
            random.word()
        );
    }
    out.push_str("routes:\n");
    for n in 0..10 {
        let _ = writeln!(
            out,
            "  - name: route-{n}\n    path: /{}/{}\n    weight: {}",
            random.word(),
            random.word(),
            random.below(100)
        );
    }
    out
}

fn service_json(random: &mut Random, pool: u64) -> String {
    let mut out = String::from("{\n");
    for n in 0..40 {
        let _ = writeln!(
            out,
            "  \"{}_{n}\": {{\"limit\": {}, \"note\": \"{} {}\", \"on\": {}}},",
            random.word(),
            random.below(9999),
            random.word(),
            random.word(),
            random.below(2) == 0
        );
    }
    let _ = writeln!(out, "  \"pool_size\": {pool}\n}}");
    out
}

fn service_toml(random: &mut Random, pool: u64) -> String {
    let mut out = format!("title = \"{}\"\npool_size = {pool}\n", random.word());
    for n in 0..15 {
        let _ = writeln!(
            out,
            "\n[section.{}_{n}]\nlimit = {}\nhosts = [\"a{}\", \"b{}\"]",
            random.word(),
            random.below(999),
            random.below(99),
            random.below(99)
        );
    }
    out
}

fn service_ini(random: &mut Random, pool: u64) -> String {
    let mut out = format!("[main]\npool_size = {pool}\n");
    for n in 0..20 {
        let _ = writeln!(out, "[{}-{n}]\nlimit = {}\npath = /srv/{}", random.word(), random.below(999), random.word());
    }
    out
}

fn service_env(random: &mut Random, pool: u64) -> String {
    let mut out = format!("POOL_SIZE={pool}\n");
    for n in 0..40 {
        let _ = writeln!(out, "{}_{n}={}", random.word().to_uppercase(), random.below(100_000));
    }
    out
}

/// Two trees of `files` files of all formats, a tenth of each format with another `pool_size` in the second. Gives the names
/// of both sides of what changed.
pub(crate) fn tree(root: &Path, files: u64, seed: u64) -> std::io::Result<Vec<String>> {
    let mut changes = Vec::new();
    for (side, changed) in [("old", false), ("new", true)] {
        let mut random = Random::new(seed);
        for n in 0..files {
            let differs = n / 10 % 10 == n % 10;
            let pool = if changed && differs { 40 } else { 5 };
            let (suffix, text) = match n % 10 {
                0..=4 => ("yaml", service_yaml(&mut random, pool)),
                5 | 6 => ("json", service_json(&mut random, pool)),
                7 => ("toml", service_toml(&mut random, pool)),
                8 => ("ini", service_ini(&mut random, pool)),
                _ => ("env", service_env(&mut random, pool)),
            };
            let name = format!("{side}/team-{:02}/service-{n:05}.{suffix}", n % 40);
            std::fs::create_dir_all(root.join(format!("{side}/team-{:02}", n % 40)))?;
            std::fs::write(root.join(&name), text)?;
            changes.extend(differs.then_some(name));
        }
    }
    Ok(changes)
}

/// A pair of files of about `bytes` each with three changes, and their suffix.
pub(crate) fn big_json(bytes: usize, seed: u64, changed: bool) -> String {
    let mut random = Random::new(seed);
    let mut out = String::from("{\"items\": [\n");
    let mut n = 0u64;
    while out.len() < bytes {
        let limit = random.below(10_000);
        let limit = if changed && n % 40_000 == 777 { limit + 1 } else { limit };
        let _ = writeln!(
            out,
            "  {{\"id\": {n}, \"name\": \"{}-{n}\", \"limit\": {limit}, \"tags\": [\"{}\", \"{}\"], \"ratio\": 0.{}}},",
            random.word(),
            random.word(),
            random.word(),
            random.below(999)
        );
        n += 1;
    }
    out.push_str("  {\"id\": -1}\n]}\n");
    out
}

/// As [`big_json`], as YAML.
pub(crate) fn big_yaml(bytes: usize, seed: u64, changed: bool) -> String {
    let mut random = Random::new(seed);
    let mut out = String::from("items:\n");
    let mut n = 0u64;
    while out.len() < bytes {
        let limit = random.below(10_000);
        let limit = if changed && n % 40_000 == 777 { limit + 1 } else { limit };
        let _ = writeln!(
            out,
            "  - id: {n}\n    name: {}-{n}\n    limit: {limit}\n    tags: [{}, {}]\n    ratio: 0.{}",
            random.word(),
            random.word(),
            random.word(),
            random.below(999)
        );
        n += 1;
    }
    out
}

/// A Kubernetes manifest of `documents` documents; with `changed`, three of them have another image.
pub(crate) fn manifest(documents: u64, seed: u64, changed: bool) -> String {
    let mut random = Random::new(seed);
    let mut out = String::new();
    let third = (documents / 3).max(1);
    for n in 0..documents {
        let tag = if changed && n % third == third / 2 { "1.26.1" } else { "1.25.3" };
        let name = format!("{}-{n}", random.word());
        let _ = write!(
            out,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  namespace: prod\n  labels: {{app: {name}, team: {}}}\nspec:\n  replicas: {}\n  template:\n    spec:\n      containers:\n        - name: main\n          image: registry.example/{name}:{tag}\n          env:\n            - name: MODE\n              value: \"{}\"\n          resources:\n            limits: {{cpu: \"{}\", memory: {}Mi}}\n",
            random.word(),
            random.below(5) + 1,
            random.word(),
            random.below(4) + 1,
            random.below(900) + 100
        );
    }
    out
}

/// A stream of `records` change records in files of ten.
pub(crate) fn stream(records: u64, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut out = String::from("{\"type\":\"start\",\"version\":1,\"baseline\":\"HEAD\"}\n");
    for n in 0..records {
        if n % 10 == 0 {
            let _ = writeln!(
                out,
                "{{\"type\":\"file\",\"file\":\"f{:07}.yaml\",\"format\":\"yaml\",\"status\":\"modified\"}}",
                n / 10
            );
        }
        let _ = writeln!(
            out,
            "{{\"type\":\"change\",\"file\":\"f{:07}.yaml\",\"path\":\"{}.{}.limit_{n}\",\"op\":\"changed\",\"before\":{},\"after\":{},\"line\":{},\"column\":9}}",
            n / 10,
            random.word(),
            random.word(),
            random.below(50),
            random.below(50),
            n % 10 + 1
        );
    }
    let files = records.div_ceil(10);
    let _ = writeln!(
        out,
        "{{\"type\":\"end\",\"files\":{files},\"differing\":{files},\"changes\":{records},\"errors\":0,\"complete\":true}}"
    );
    out
}
