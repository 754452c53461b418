//! URLs as clients write them, and how their paths fit the templates of routes.

/// A segment of a path or template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A literal, in lower case.
    Text(String),
    /// Literal parts around unknown ones: `file-{id}.txt`.
    Mixed(String),
    /// One unknown segment: `{id}`, `:id`, `<int:id>`.
    Parameter,
    /// Any number of segments: `{path*}`, `*`.
    Rest,
    /// An unknown beginning of a URL: a host, possibly with a path.
    Base,
}

/// Longest URL that is read, in bytes, and most segments.
const MAX_URL: usize = 1000;
const MAX_SEGMENTS: usize = 24;

/// Mark of an unknown beginning.
const BASE: &str = "{}:";

/// Returns the path of a URL without host and query; an unknown beginning becomes a first segment of its own. `None` if
/// the URL is that of another server.
pub fn path_of_url(url: &str) -> Option<String> {
    let url = url.trim();
    if url.is_empty() || url.len() > MAX_URL || url.contains(char::is_whitespace) && !url.contains('{') {
        return None;
    }
    let url = without_query(url);
    let (base, rest) = match url.find("://").or_else(|| url.find(":/").filter(|&at| url[..at].starts_with("http"))) {
        Some(at) => {
            let rest = url[at + 1..].trim_start_matches('/');
            let end = outside(rest, '/').unwrap_or(rest.len());
            if !is_near(&rest[..end]) {
                return None;
            }
            (rest[..end].starts_with('{') && !rest[..end].contains(':'), &rest[end..])
        }
        None if url.starts_with('{') => {
            let end = url.find('}').map_or(url.len(), |at| at + 1);
            // `{host}:{port}/users`
            let is_host = url[end..].starts_with([':', '.', '-', '{']);
            let end = if is_host { outside(&url[end..], '/').map_or(end, |at| end + at) } else { end };
            (true, &url[end..])
        }
        None => (false, url),
    };
    if base && rest.trim_matches('/').is_empty() {
        return None;
    }
    let slash = if rest.starts_with('/') { "" } else { "/" };
    Some(if base { format!("/{BASE}{slash}{rest}") } else { format!("{slash}{rest}") })
}

/// Returns whether a host is one of the project's own: of this machine, of a container, of an example, or unknown.
fn is_near(host: &str) -> bool {
    let host = host.rsplit('@').next().unwrap_or(host);
    let name = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    let known =
        ["localhost", ".local", ".test", ".internal", ".localhost", "example.com", "example.org", "example.net"];
    host.contains(['{', '$', '%'])
        || !name.contains('.')
        || name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        || known.iter().any(|ending| name.ends_with(ending))
}

/// Returns a URL up to its query or fragment, which may stand inside of `{}`.
fn without_query(url: &str) -> &str {
    let end = ['?', '#'].into_iter().filter_map(|sign| outside(url, sign)).min();
    &url[..end.unwrap_or(url.len())]
}

/// Returns the place of a sign that is not inside of braces.
fn outside(text: &str, sign: char) -> Option<usize> {
    let mut depth = 0_i32;
    text.char_indices().find_map(|(at, letter)| {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (letter == sign && depth <= 0).then_some(at)
    })
}

/// Returns the segments of a path or of the template of a route.
pub fn segments(path: &str) -> Vec<Segment> {
    let mut found = Vec::new();
    let mut rest = path;
    while found.len() < MAX_SEGMENTS {
        rest = rest.trim_start_matches('/');
        if rest.is_empty() {
            break;
        }
        let end = outside(rest, '/').unwrap_or(rest.len());
        found.push(segment(&rest[..end], found.is_empty()));
        rest = &rest[end..];
    }
    found
}

fn segment(text: &str, is_first: bool) -> Segment {
    if is_first && text == BASE {
        return Segment::Base;
    }
    if text.starts_with('*')
        || text.ends_with("*}")
        || text.starts_with("{*")
        || text.ends_with(":path}")
        || text.starts_with("<path:")
        || (text.starts_with(':') && text.ends_with('*'))
        || text == "{.*}"
    {
        return Segment::Rest;
    }
    let mut shape = String::new();
    let mut letters = text.char_indices().peekable();
    let mut is_unknown = false;
    while let Some((at, letter)) = letters.next() {
        let close = match letter {
            '{' => Some('}'),
            '<' => Some('>'),
            _ => None,
        };
        let after = text[at + letter.len_utf8()..].chars().next().unwrap_or(' ');
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        if let Some(close) = close {
            let mut depth = 1;
            for (_, inner) in letters.by_ref() {
                depth += i32::from(inner == letter) - i32::from(inner == close);
                if depth == 0 {
                    break;
                }
            }
        } else if (letter == ':' && (after.is_alphabetic() || after == '_')) || (letter == '$' && is_word(after)) {
            while letters.next_if(|&(_, inner)| is_word(inner)).is_some() {}
            // `:id(\\d+)` and `:id?`
            letters.next_if(|&(_, inner)| inner == '?');
            if letters.next_if(|&(_, inner)| inner == '(').is_some() {
                letters.by_ref().find(|&(_, inner)| inner == ')');
            }
        } else if letter == '%' && matches!(after, 's' | 'd' | 'v' | 'i' | 'q') {
            letters.next();
        } else if letter == '\\' && after == '(' {
            letters.by_ref().find(|&(_, inner)| inner == ')');
        } else {
            shape.extend(letter.to_lowercase());
            continue;
        }
        is_unknown = true;
        if !shape.ends_with('\0') {
            shape.push('\0');
        }
    }
    match (is_unknown, shape.as_str()) {
        (_, "\0") => Segment::Parameter,
        (true, _) => Segment::Mixed(shape),
        _ => Segment::Text(shape),
    }
}

/// Returns whether a template takes any path below it.
pub fn is_open_below(template: &[Segment]) -> bool {
    template.last() == Some(&Segment::Rest)
}

/// Returns how well a called path fits a template: two for each literal segment of both, one for each parameter; `None`
/// if it does not fit. What fits without a literal segment fits only as the root.
pub fn fits(called: &[Segment], template: &[Segment]) -> Option<u32> {
    if called.is_empty() && template.is_empty() {
        return Some(1);
    }
    let (mut score, mut literal) = (0, false);
    for (at, part) in template.iter().enumerate() {
        if *part == Segment::Rest {
            return (literal && called.len() > at).then_some(score);
        }
        let own = called.get(at)?;
        match (own, part) {
            (Segment::Text(own), Segment::Text(part)) if own == part => {
                score += 4;
                literal = true;
            }
            (Segment::Mixed(own), Segment::Mixed(part)) if own == part => score += 3,
            (Segment::Text(own), Segment::Mixed(part)) if is_of_shape(own, part) => score += 2,
            (Segment::Parameter, Segment::Parameter) => score += 2,
            (Segment::Text(_) | Segment::Mixed(_), Segment::Parameter) => score += 1,
            _ => return None,
        }
    }
    (literal && called.len() == template.len()).then_some(score)
}

/// Returns whether a literal has the beginning and the end of a mixed segment.
fn is_of_shape(text: &str, shape: &str) -> bool {
    let (before, after) = (shape.split('\0').next().unwrap_or(""), shape.rsplit('\0').next().unwrap_or(""));
    text.len() > before.len() + after.len() && text.starts_with(before) && text.ends_with(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(url: &str, template: &str) -> Option<u32> {
        fits(&segments(&path_of_url(url)?), &segments(template))
    }

    #[test]
    fn hosts_and_queries_are_no_part_of_a_path() {
        for (url, path) in [
            ("http://localhost:8000/users?page=2", Some("/users")),
            ("http://backend/users#top", Some("/users")),
            ("users", Some("/users")),
            ("{API}/users/{a ? b : c}", Some("/{}:/users/{a ? b : c}")),
            ("{host}:{port}/users", Some("/{}:/users")),
            ("{base}users/{id}", Some("/{}:/users/{id}")),
            ("http://{host}:8000/users", Some("/users")),
            ("https://api.github.com/users", None),
            ("", None),
        ] {
            assert_eq!(path_of_url(url).as_deref(), path, "{url}");
        }
    }

    #[test]
    fn a_literal_is_closer_than_a_parameter() {
        assert!(score("/users/me", "/users/me") > score("/users/me", "/users/{id}"));
        assert!(score("/users/{x}", "/users/:id").is_some());
        assert!(score("/users/{x}/", "/users/<int:id>").is_some());
        assert!(score("/users/%d", "/users/{id}").is_some());
        assert!(score("/users/$id", "/users/{id}").is_some());
        assert!(score("/files/a-{x}.txt", "/files/a-{name}.txt").is_some());
        assert!(score("/static/js/a.js", "/static/{path*}").is_some());
        assert!(score("/", "/").is_some());
    }

    #[test]
    fn unknown_segments_fit_only_parameters() {
        for (url, template) in
            [("/users/{x}", "/users/me"), ("/about", "/{page}"), ("/users", "/users/{id}"), ("/a", "/*")]
        {
            assert_eq!(score(url, template), None, "{url} {template}");
        }
    }
}
