//! Requirements in the form of PEP 508: `name[extra] >=1,<2; marker`, `name @ url`.

use atlas_facts::{Dependency, Purpose};

/// Reads a requirement; `None` for text that is none.
pub fn read(text: &str, purpose: Purpose, line: u32) -> Option<Dependency> {
    let text = text.trim();
    let end = text.find(|sign: char| !(sign.is_ascii_alphanumeric() || matches!(sign, '.' | '_' | '-')));
    let (name, mut rest) = text.split_at(end.unwrap_or(text.len()));
    if !name.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        || !name.ends_with(|sign: char| sign.is_ascii_alphanumeric())
    {
        return None;
    }
    rest = rest.trim_start();
    if let Some(extras) = rest.strip_prefix('[') {
        rest = extras.split_once(']')?.1.trim_start();
    }
    let (range, marker) = match rest.strip_prefix('@') {
        // In a URL, `;` begins a marker only after a blank.
        Some(url) => url.split_once(" ;").unwrap_or((url, "")),
        None => rest.split_once(';').unwrap_or((rest, "")),
    };
    let range = range.trim().trim_start_matches('(').trim_end_matches(')').trim();
    if !(range.is_empty() || rest.starts_with('@') || range.starts_with(['<', '>', '=', '!', '~'])) {
        return None;
    }
    let mut dependency = Dependency::new(name, range, purpose, line);
    dependency.marker = marker.trim().to_owned();
    if let Some(path) = range.strip_prefix("file:").filter(|_| rest.starts_with('@')) {
        dependency.path = path.trim_start_matches("//").to_owned();
    }
    Some(dependency)
}

#[cfg(test)]
mod tests {
    use super::{Purpose, read};

    #[test]
    fn reads_names_ranges_and_markers() {
        let cases = [
            ("requests", "requests", "", ""),
            ("requests[socks, use_chardet] >= 2.8.1, == 2.8.*", "requests", ">= 2.8.1, == 2.8.*", ""),
            ("a.b-c_d (>=1)", "a.b-c_d", ">=1", ""),
            ("x~=1.0 ; python_version < '3.8'", "x", "~=1.0", "python_version < '3.8'"),
            ("p @ https://h/p;v=1.zip ; os_name=='nt'", "p", "https://h/p;v=1.zip", "os_name=='nt'"),
            ("x===1", "x", "===1", ""),
        ];
        for (text, name, range, marker) in cases {
            let found = read(text, Purpose::Runtime, 1).unwrap();
            assert_eq!((&*found.name, &*found.range, &*found.marker), (name, range, marker), "{text}");
        }
        for text in ["", "-e .", "./folder", "https://h/x.whl", "a b", "x[", "git+https://h/x"] {
            assert!(read(text, Purpose::Runtime, 1).is_none(), "{text}");
        }
    }
}
