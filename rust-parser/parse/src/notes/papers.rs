//! The papers that a text names: identifiers of arXiv and DOIs, in one form each (`arxiv:1706.03762`, `doi:10.1000/x`).

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

/// Identifiers of arXiv since 2007 (1706.03762) and before (hep-th/9711200), without version.
const ARXIV: &str = r"\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z][a-z-]{1,15}(?:\.[a-z-]{2,16})?/\d{2}(?:0[1-9]|1[0-2])\d{3}";

/// An identifier counts after a mark, and one of the newer form also if it is the whole text.
static IN_ARXIV: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let marks = r"arxiv\s*:\s*|arxiv\.org/(?:abs|pdf|html)/|10\.48550/arxiv\.";
    let version = r"(?:v[1-9]\d{0,3})?";
    Regex::new(&format!(r"(?i)(?:{marks})({ARXIV}){version}|\A\s*(\d{{2}}(?:0[1-9]|1[0-2])\.\d{{4,5}}){version}\s*\z"))
        .ok()
});

/// A DOI counts at the start, after a blank or bracket, or after the marks of addresses.
static DOI: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let marks = r"\A|[\s(,;<]|doi:|doi\.org/|/doi/(?:abs/|full/|pdf/)?";
    Regex::new(&format!(r#"(?i)(?:{marks})(10\.\d{{4,9}}/[^\s"<>{{}}|\\^`\[\]]+)"#)).ok()
});

/// Returns up to `most` papers in the order of the text, each once; those with an identifier of arXiv come first.
pub fn named_in(text: &str, most: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |paper: String| {
        if found.len() < most && !found.contains(&paper) {
            found.push(paper);
        }
    };
    for (captures, end) in matches(&IN_ARXIV, text) {
        let continues = text[end..].starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '/'));
        let group = captures.get_group(1).or_else(|| captures.get_group(2));
        if let Some(span) = group.filter(|_| !continues) {
            add(format!("arxiv:{}", lower_archive(&text[span.range()])));
        }
    }
    for (captures, _) in matches(&DOI, text) {
        let Some(span) = captures.get_group(1) else { continue };
        let doi = without_punctuation(&text[span.range()]).to_lowercase();
        if !doi.starts_with("10.48550/arxiv.") && !doi.ends_with('/') {
            add(format!("doi:{doi}"));
        }
    }
    found
}

fn matches<'t>(regex: &'static LazyLock<Option<Regex>>, text: &'t str) -> impl Iterator<Item = (Captures, usize)> + 't {
    let all = regex.as_ref().map(|regex| regex.captures_iter(text));
    all.into_iter().flatten().map(|captures| {
        let end = captures.get_match().map_or(0, |found| found.end());
        (captures, end)
    })
}

/// Removes what ends the sentence or the bracket around an identifier; a bracket of its own stays.
fn without_punctuation(mut doi: &str) -> &str {
    loop {
        let is_open = doi.matches('(').count() < doi.matches(')').count();
        match doi.strip_suffix(['.', ',', ';', ':', '\'']).or_else(|| doi.strip_suffix(')').filter(|_| is_open)) {
            Some(shorter) => doi = shorter,
            None => return doi,
        }
    }
}

/// Archives are written in lower case (hep-th), their subjects in upper case (math.AG).
fn lower_archive(identifier: &str) -> String {
    match identifier.split_once('/') {
        Some((archive, number)) => {
            let (archive, subject) = archive.split_once('.').unwrap_or((archive, ""));
            let dot = if subject.is_empty() { "" } else { "." };
            format!("{}{dot}{}/{number}", archive.to_lowercase(), subject.to_uppercase())
        }
        None => identifier.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::named_in;

    #[test]
    fn papers_are_found_in_all_usual_forms() {
        let cases: [(&str, &[&str]); 14] = [
            ("arxiv:1706.03762", &["arxiv:1706.03762"]),
            ("arXiv: 1706.03762v5, section 3", &["arxiv:1706.03762"]),
            ("1706.03762v2", &["arxiv:1706.03762"]),
            ("https://arxiv.org/pdf/1706.03762.pdf", &["arxiv:1706.03762"]),
            ("doi:10.48550/arXiv.1706.03762", &["arxiv:1706.03762"]),
            ("arXiv:Hep-th/9711200", &["arxiv:hep-th/9711200"]),
            ("arXiv:math.ag/0309136", &["arxiv:math.AG/0309136"]),
            ("10.1145/3292500.3330919", &["doi:10.1145/3292500.3330919"]),
            ("https://doi.org/10.1000/ABC(1).", &["doi:10.1000/abc(1)"]),
            (
                "Vaswani (doi:10.1000/x), see arXiv:1706.03762 and arxiv:1706.03762",
                &["arxiv:1706.03762", "doi:10.1000/x"],
            ),
            ("benchmark 1706.03762 of our own", &[]),
            ("arxiv:1706.037621x", &[]),
            ("src/app.py:12", &[]),
            ("https://example.org/content/10.1101/1.full", &[]),
        ];
        for (text, papers) in cases {
            assert_eq!(named_in(text, 20), papers, "{text}");
        }
    }

    #[test]
    fn no_more_papers_are_named_than_wanted() {
        let text: String = (0..99).map(|number| format!("arxiv:1706.{number:05} ")).collect();
        assert_eq!(named_in(&text, 20).len(), 20);
    }
}
