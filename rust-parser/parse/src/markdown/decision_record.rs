//! Recognizes architecture decision records.

/// Folders whose documents are decision records.
const ADR_FOLDERS: &[&str] = &["adr", "adrs", "decisions", "decision-records"];
/// Documents in such a folder that describe the records.
const NOT_RECORDS: &[&str] = &["readme", "index", "template", "adr-template", "contributing"];

/// Returns whether a document is a decision record, by its folder, its file name (`0001-x.md`, `adr-7-x.md`) or its
/// title (`ADR 12: x`).
pub fn is_decision(path: &str, title: Option<&str>) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or("").to_ascii_lowercase();
    if NOT_RECORDS.contains(&stem.as_str()) {
        return false;
    }
    let in_folder = folder.split('/').any(|part| ADR_FOLDERS.contains(&part.to_ascii_lowercase().as_str()));
    in_folder || is_record_name(&stem) || title.is_some_and(is_record_title)
}

/// What a status begins with in most records; of any other, the whole text is kept.
const STATUSES: [&str; 13] = [
    "proposed",
    "draft",
    "accepted",
    "approved",
    "rejected",
    "declined",
    "deprecated",
    "superseded",
    "amended",
    "implemented",
    "withdrawn",
    "active",
    "obsolete",
];
/// Longest status of its own words, in characters.
const MAX_STATUS: usize = 80;

/// Returns the status of a decision record in lower case: that of its front matter (`status: accepted`), of a line
/// (`* Status: accepted`, `| Status | accepted |`), or below a heading.
pub fn status_of(text: &str) -> Option<String> {
    let mut is_expected = false;
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let bare = line.trim().trim_start_matches(|sign: char| "#=*-_>|+ \t0123456789.".contains(sign)).trim();
        if bare.is_empty() || is_code {
            continue;
        }
        if is_expected {
            return told_status(line.trim_start_matches(|sign: char| "*-_>|+ \t".contains(sign)));
        }
        let Some(rest) = bare.get(..6).filter(|word| word.eq_ignore_ascii_case("status")).map(|_| &bare[6..]) else {
            continue;
        };
        let value = rest.trim_start_matches(['*', '_', '`', ' ']);
        match value.strip_prefix([':', '|']) {
            Some(value) => match told_status(value) {
                Some(status) => return Some(status),
                None => is_expected = true,
            },
            None => is_expected = value.trim_matches(['#', '=']).is_empty(),
        }
    }
    None
}

fn told_status(text: &str) -> Option<String> {
    let bare = text.trim_matches(|sign: char| " \t*_`\"'[]|:~".contains(sign)).to_lowercase();
    if let Some(known) = STATUSES.iter().find(|known| bare.starts_with(**known)) {
        return Some((*known).to_owned());
    }
    let line: String = bare.chars().take(MAX_STATUS).collect();
    (!line.is_empty()).then_some(line)
}

fn is_record_name(stem: &str) -> bool {
    let (bare, said) = match stem.strip_prefix("adr") {
        Some(rest) => (rest.trim_start_matches(['-', '_', ' ']), true),
        None => (stem, false),
    };
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let separated = bare[digits..].starts_with(['-', '_', ' ']);
    // A leading zero distinguishes `0001-record` from the date `2024-05-01`.
    (said && digits > 0) || (digits == 4 && bare.starts_with('0') && separated)
}

fn is_record_title(title: &str) -> bool {
    let lower = title.to_ascii_lowercase();
    let numbered = lower
        .strip_prefix("adr")
        .is_some_and(|rest| rest.trim_start_matches([' ', '-', '#', ':']).starts_with(|c: char| c.is_ascii_digit()));
    numbered || lower.starts_with("architecture decision record")
}

#[cfg(test)]
mod tests {
    use super::status_of;

    #[test]
    fn the_status_stands_in_many_forms() {
        for (text, status) in [
            ("# 1. X\n\n## Status\n\nAccepted\n", Some("accepted")),
            ("# 1. X\n## 2. Status:\n* [Superseded](x.md) by 3\n", Some("superseded")),
            ("---\nstatus: \"rejected\"\n---\n# X\n", Some("rejected")),
            ("# X\n* Status: proposed | accepted\n", Some("proposed")),
            ("# X\n**Status**: In review\n", Some("in review")),
            ("# X\n- **Status:** Accepted\n", Some("accepted")),
            ("| Status | Draft |\n", Some("draft")),
            ("Status\n------\nDeprecated\n", Some("deprecated")),
            ("== Status\n\nActive\n", Some("active")),
            ("# Status codes\nThe status of 404\n", None),
            ("```\nstatus: accepted\n```\n", None),
        ] {
            assert_eq!(status_of(text).as_deref(), status, "{text}");
        }
    }
}
