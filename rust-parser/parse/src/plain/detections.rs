//! What configuration files say about the environment and about routes: variables of `.env` templates, containers and
//! workflows, and the operations of OpenAPI descriptions. Only lines and their indentation count, so that JSON and YAML
//! are read alike.

use std::borrow::Cow;

use crate::facts_builder::FactsBuilder;
use atlas_facts::route_path::join;
use atlas_facts::url_path::path_of_url;
use atlas_facts::{Detection, DetectionKind, Handler};

/// Largest number of detections of a file.
const MAX_FOUND: usize = 2000;
/// Lines in which a file says that it is a description of OpenAPI.
const MAX_HEAD: usize = 40;

const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/// Something that a line says.
struct Found {
    kind: DetectionKind,
    line: u32,
    methods: String,
    path: String,
    operation: String,
}

/// Records what a configuration file says.
pub fn record(builder: &mut FactsBuilder, language: &str, lines: &[Cow<str>]) {
    let mut found = match language {
        "dotenv" => dotenv(lines),
        "dockerfile" => containers(lines),
        "yaml" | "json" => operations(lines).unwrap_or_else(|| blocks(lines)),
        "ini" => placeholders(lines),
        _ => return,
    };
    found.truncate(MAX_FOUND);
    for Found { kind, line, methods, path, operation } in found {
        let framework = if kind == DetectionKind::Route { "openapi" } else { "environment" };
        let handler = match operation.is_empty() {
            true => Handler::None,
            false => Handler::Text(builder.owned_name(operation)),
        };
        let detection = Detection {
            kind,
            framework: builder.owned_name(framework.to_owned()),
            scope: 0,
            line,
            receiver: None,
            holder: (0, 0),
            packages: 0,
            receivers: 0,
            methods: builder.owned_name(methods),
            path: builder.owned_name(path),
            handler,
            child: Handler::None,
            replaces: false,
        };
        builder.facts.detections.push(detection);
    }
}

/// Returns the blanks before the text of a line.
fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

fn variable(kind: DetectionKind, name: &str, at: usize) -> Option<Found> {
    let is_part = |letter: u8| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == b'_';
    let is_name =
        name.len() > 1 && name.len() <= 120 && name.bytes().all(is_part) && name.as_bytes()[0].is_ascii_uppercase();
    let (methods, path, operation) = (String::new(), name.to_owned(), String::new());
    is_name.then_some(Found { kind, line: at as u32 + 1, methods, path, operation })
}

/// `NAME=value`, also behind `export` or `#`.
fn dotenv(lines: &[Cow<str>]) -> Vec<Found> {
    let numbered = lines.iter().enumerate();
    let found = numbered.filter_map(|(at, text)| {
        let text = text.trim_start_matches(['#', ' ']);
        let (name, _) = text.strip_prefix("export ").unwrap_or(text).split_once('=')?;
        variable(DetectionKind::Sets, name.trim(), at)
    });
    found.collect()
}

/// `ENV NAME=value OTHER=value`, `ENV NAME value`, `ARG NAME=value` of a Dockerfile.
fn containers(lines: &[Cow<str>]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut is_continued = false;
    for (at, text) in lines.iter().enumerate() {
        let text = text.trim();
        let rest = text.strip_prefix("ENV ").or_else(|| text.strip_prefix("ARG "));
        let Some(rest) = rest.or(is_continued.then_some(text)) else { continue };
        is_continued = text.ends_with('\\');
        match rest.contains('=') {
            true => {
                let names = rest.split_whitespace().filter_map(|word| word.split_once('=')).map(|pair| pair.0);
                found.extend(names.filter_map(|name| variable(DetectionKind::Sets, name, at)));
            }
            false => {
                found.extend(rest.split_whitespace().next().and_then(|name| variable(DetectionKind::Sets, name, at)))
            }
        }
    }
    found
}

/// The entries of blocks `env:` and `environment:` of YAML, and placeholders.
fn blocks(lines: &[Cow<str>]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut block = None;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let (indent, text) = (indent_of(line), line.trim());
        if block.is_some_and(|around| indent < around || (indent == around && !text.starts_with('-'))) {
            block = None;
        }
        if block.is_some() {
            let entry = text.trim_start_matches(['-', ' ', '"', '\'']);
            let named = entry.strip_prefix("name:").or_else(|| entry.strip_prefix("key:"));
            let name = match named {
                Some(name) => name.trim().trim_matches(['"', '\'']),
                None => entry.split(['=', ':', '"', '\'']).next().unwrap_or_default().trim(),
            };
            found.extend(variable(DetectionKind::Sets, name, at));
        } else if matches!(text.trim_start_matches("- "), "env:" | "environment:") {
            block = Some(indent);
        }
    }
    found.extend(placeholders(lines));
    found
}

/// `${NAME}` and `${NAME:default}`.
fn placeholders(lines: &[Cow<str>]) -> Vec<Found> {
    let mut found = Vec::new();
    for (at, text) in lines.iter().enumerate() {
        for part in text.split("${").skip(1) {
            let end = part.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(part.len());
            found.extend(variable(DetectionKind::Reads, &part[..end], at));
        }
        // systemd
        let set = text.trim().strip_prefix("Environment=").and_then(|rest| rest.trim_matches('"').split_once('='));
        found.extend(set.and_then(|(name, _)| variable(DetectionKind::Sets, name, at)));
    }
    found
}

/// The operations of a description of OpenAPI; `None` if it is none.
fn operations(lines: &[Cow<str>]) -> Option<Vec<Found>> {
    let says_so = |line: &&Cow<str>| matches!(key(line.trim()).0, "openapi" | "swagger") && indent_of(line) <= 4;
    lines.iter().take(MAX_HEAD).find(says_so)?;
    let mut base = String::new();
    let mut found: Vec<Found> = Vec::new();
    let (mut paths, mut path, mut method): (Option<usize>, Option<(usize, String)>, Option<usize>) = (None, None, None);
    let mut is_servers = None;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let text = line.trim();
        if text.starts_with(['}', ']', '#']) {
            continue;
        }
        let indent = indent_of(line);
        let (key, value) = key(text);
        if is_servers.is_some_and(|around| indent <= around && !text.starts_with('-')) {
            is_servers = None;
        }
        match key {
            "servers" if paths.is_none() => is_servers = Some(indent),
            "url" if is_servers.is_some() && base.is_empty() => base = server_path(value),
            "basePath" if paths.is_none() => base = value.to_owned(),
            _ => {}
        }
        let Some(around) = paths else {
            if key == "paths" && indent <= 4 {
                paths = Some(indent);
            }
            continue;
        };
        if indent <= around {
            paths = None;
            (path, method) = (None, None);
            continue;
        }
        if path.as_ref().is_none_or(|known| indent <= known.0) {
            (path, method) = (key.starts_with('/').then(|| (indent, key.to_owned())), None);
            continue;
        }
        let Some((_, template)) = &path else { continue };
        if method.is_none_or(|known| indent <= known) {
            method = METHODS.contains(&key).then_some(indent);
            if method.is_some() {
                let (methods, path) = (key.to_ascii_uppercase(), template.clone());
                let (kind, line) = (DetectionKind::Route, at as u32 + 1);
                found.push(Found { kind, line, methods, path, operation: String::new() });
            }
        } else if key == "operationId"
            && let Some(last) = found.last_mut()
        {
            last.operation = value.to_owned();
        }
    }
    for operation in &mut found {
        operation.path = join(&base, &operation.path);
    }
    Some(found)
}

fn server_path(url: &str) -> String {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map(|at| rest[at..].to_owned()),
        None => path_of_url(url),
    };
    path.unwrap_or_default().trim_end_matches('/').to_owned()
}

/// Returns the key and the value of a line of YAML or JSON, without quotes.
fn key(text: &str) -> (&str, &str) {
    let text = text.strip_prefix("- ").unwrap_or(text);
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    let (key, rest) = match quote {
        Some(quote) => text[1..].split_once(quote).unwrap_or((text, "")),
        None => match text.strip_suffix(':') {
            Some(key) => (key, ""),
            None => text.split_once(": ").unwrap_or((text, "")),
        },
    };
    (key, rest.trim_start_matches(':').trim_matches([' ', '"', '\'', ',', '{']))
}
