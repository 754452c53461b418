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
