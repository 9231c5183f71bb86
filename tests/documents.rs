//! every format, through flecto-diff

mod hostile;
mod print;
mod suites;

use crate::support;
use flecto::document::{Data, Error, Format, Node, Options, Parsed, Place, parse};
use print::{Model, Printed};
use proptest::prelude::*;

fn read(format: Format, text: &[u8]) -> Result<Parsed<'_>, Error> {
    parse(format, text, &Options::default())
}

/// What a tree says as a model, and where each key and value stands, in the order of the text.
fn seen(node: &Node<'_>, places: &mut Vec<Place>) -> Model {
    match &node.data {
        Data::Null => {
            places.push(node.span.start);
            Model::Null
        }
        Data::Bool(value) => {
            places.push(node.span.start);
            Model::Bool(*value)
        }
        Data::Typed(scalar) => {
            places.push(node.span.start);
            Model::Number(scalar.canonical().to_string())
        }
        Data::String(text) => {
            places.push(node.span.start);
            Model::String(text.to_string())
        }
        Data::List(items) => Model::List(items.iter().map(|item| seen(item, places)).collect()),
        Data::Map(entries) => Model::Map(
            entries
                .iter()
                .map(|entry| {
                    places.push(entry.key_span.start);
                    (entry.key.text().to_string(), seen(&entry.value, places))
                })
                .collect(),
        ),
        other => panic!("{other:?}"),
    }
}

/// print(tree) parses back to the tree, and every key and value has the place at which it was printed.
#[track_caller]
fn reads_back(format: Format, printed: &Printed, model: &Model) {
    let parsed = read(format, printed.text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{}", printed.text));
    assert_eq!(parsed.documents.len(), 1, "{}", printed.text);
    let mut places = Vec::new();
    assert_eq!(&seen(&parsed.documents[0].root, &mut places), model, "\n{}", printed.text);
    let places: Vec<(u32, u32)> = places.iter().map(|place| (place.line, place.column)).collect();
    assert_eq!(places, printed.places, "\n{}", printed.text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_reads_back(model in print::tree(), seed in any::<u64>()) {
        reads_back(Format::Yaml, &print::yaml(&model, seed), &model);
    }

    #[test]
    fn json_reads_back(model in print::tree(), seed in any::<u64>()) {
        reads_back(Format::Json, &print::json(&model, seed), &model);
    }

    #[test]
    fn json_with_comments_reads_back(model in print::tree(), seed in any::<u64>()) {
        reads_back(Format::Jsonc, &print::jsonc(&model, seed), &model);
        reads_back(Format::Json5, &print::jsonc(&model, seed), &model);
    }

    #[test]
    fn toml_reads_back(model in print::map_without_null()) {
        reads_back(Format::Toml, &print::toml(&model), &model);
    }

    #[test]
    fn hcl_reads_back(model in print::map_of_names()) {
        reads_back(Format::Hcl, &print::hcl(&model), &model);
    }

    #[test]
    fn ini_reads_back(model in print::sections()) {
        let printed = print::ini(&model);
        let parsed = read(Format::Ini, printed.text.as_bytes()).expect("ini");
        prop_assert_eq!(seen(&parsed.documents[0].root, &mut Vec::new()), model, "\n{}", printed.text);
    }

    #[test]
    fn dotenv_reads_back(model in print::variables(), seed in any::<u64>()) {
        reads_back(Format::Dotenv, &print::dotenv(&model, seed), &model);
    }

    #[test]
    fn properties_read_back(model in print::flat()) {
        let printed = print::properties(&model);
        let parsed = read(Format::Properties, printed.text.as_bytes()).expect("properties");
        prop_assert_eq!(seen(&parsed.documents[0].root, &mut Vec::new()), model, "\n{}", printed.text);
    }

    /// What one format says, another says too: JSON is YAML.
    #[test]
    fn json_is_yaml(model in print::tree(), seed in any::<u64>()) {
        reads_back(Format::Yaml, &print::json(&model, seed), &model);
    }

    #[test]
    fn equal_documents_can_be_skipped_by_their_bytes(models in prop::collection::vec(print::tree(), 0..5), seed in any::<u64>()) {
        let text: String = models.iter().map(|model| format!("---\n{}", print::yaml(model, seed).text)).collect();
        let whole = read(Format::Yaml, text.as_bytes()).expect("yaml");
        let parts = flecto::document::split_yaml(text.as_bytes()).expect("splits");
        let mut roots = Vec::new();
        for part in &parts {
            let options = Options {
                lines_before: part.lines_before,
                documents_before: part.documents_before,
                ..Options::default()
            };
            let parsed = parse(Format::Yaml, &text.as_bytes()[part.bytes.clone()], &options).expect("yaml");
            roots.extend(parsed.documents.iter().map(|document| format!("{} {:?}", document.index, document.root)));
        }
        let all: Vec<_> = whole.documents.iter().map(|document| format!("{} {:?}", document.index, document.root)).collect();
        prop_assert_eq!(roots, all);
    }
}

/// The text of both sides of every case of the shared data, by the format of the case.
#[test]
fn the_cases_parse_where_they_should() {
    let Some(path) = support::shared("data/cases/dev.ndjson") else { return };
    let lines = std::fs::read_to_string(path).expect("the cases");
    for line in lines.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case");
        let format = match case["format"].as_str() {
            Some("json") => Format::Json,
            Some("toml") => Format::Toml,
            Some("ini") => Format::Ini,
            Some("dotenv") => Format::Dotenv,
            _ => Format::Yaml,
        };
        for side in ["before", "after"] {
            let result = read(format, case[side].as_str().expect("a text").as_bytes());
            let expected = &case["expect"]["error"];
            if expected["side"] == side {
                let error = result.expect_err(line);
                let said = error.to_string();
                if let Some(line) = expected["line"].as_u64() {
                    assert_eq!(error.place.map(|place| u64::from(place.line)), Some(line), "{}: {said}", case["id"]);
                }
                for word in expected["must_mention"].as_array().into_iter().flatten() {
                    assert!(said.contains(word.as_str().expect("a word")), "{}: {said}", case["id"]);
                }
            } else if expected.is_null() {
                result.unwrap_or_else(|error| panic!("{}: {error}", case["id"]));
            }
        }
    }
}
