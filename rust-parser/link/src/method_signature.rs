//! Reads the signatures of Go methods: the types of their parameters and results, without names.

/// Returns the types of the parameters and of the results of `func (r R) Name(a, b int) (int, error)` or
/// `Name(int, int) error`.
pub fn types(signature: &str, name: &str) -> Option<(Vec<String>, Vec<String>)> {
    let head = format!("{name}(");
    let at = match signature.starts_with(&head) {
        true => 0,
        false => signature.find(&format!(") {head}"))? + 2,
    };
    let (parameters, rest) = in_parentheses(&signature[at + name.len()..])?;
    let rest = rest.trim();
    let results = match in_parentheses(rest) {
        Some((results, _)) => results,
        None if rest.is_empty() => Vec::new(),
        None => vec![rest],
    };
    Some((without_names(&parameters), without_names(&results)))
}

/// Returns a signature with types only (`Less(int,int)(bool)`), by which methods of several sources are compared.
pub fn comparable(signature: &str, name: &str) -> Option<String> {
    let (parameters, results) = types(signature, name)?;
    Some(format!("{name}({})({})", parameters.join(","), results.join(",")))
}

/// Returns the items in the parentheses at the start of a text, and the text after them.
fn in_parentheses(text: &str) -> Option<(Vec<&str>, &str)> {
    if !text.starts_with('(') {
        return None;
    }
    let (mut depth, mut start, mut items) = (0_u32, 1, Vec::new());
    for (at, sign) in text.char_indices() {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && sign == ',') {
            let item = text[start..at].trim();
            items.extend((!item.is_empty()).then_some(item));
            start = at + 1;
        }
        if depth == 0 {
            return Some((items, &text[start..]));
        }
    }
    None
}

/// Returns the types of parameters: all of them are named or none, and `a, b int` gives both names one type.
fn without_names(items: &[&str]) -> Vec<String> {
    let is_named = items.iter().any(|item| after_name(item).is_some());
    let mut kind = "";
    let mut found: Vec<String> = Vec::with_capacity(items.len());
    for item in items.iter().rev() {
        if !is_named {
            kind = item;
        } else if let Some(declared) = after_name(item) {
            kind = declared;
        }
        found.push(kind.split_whitespace().collect::<Vec<_>>().join(" ").replace("interface{}", "any"));
    }
    found.reverse();
    found
}

/// Returns the type of a parameter with a name.
fn after_name(item: &str) -> Option<&str> {
    let (name, kind) = item.split_once(char::is_whitespace)?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !matches!(name, "chan" | "func" | "map" | "struct" | "interface")).then(|| kind.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_parameters_and_results_are_read() {
        let of = |signature: &str, name: &str| comparable(signature, name).unwrap();
        let get = "Get(ctx context.Context, keys ...string) (item *Item, err error)";
        assert_eq!(of(get, "Get"), "Get(context.Context,...string)(*Item,error)");
        let run = "func (s *Set[K, V]) Run(a, b int, f func(x int, y int) bool) error";
        assert_eq!(of(run, "Run"), "Run(int,int,func(x int, y int) bool)(error)");
        assert_eq!(of("Less(int, int) bool", "Less"), of("func (s byName) Less(i, j int) bool", "Less"));
        assert_eq!(of("Close()", "Close"), "Close()()");
        assert_eq!(of("Write(\n\tdata []byte,\n)", "Write"), "Write([]byte)()");
        assert_eq!(of("Scan(interface{}) error", "Scan"), "Scan(any)(error)");
        assert_eq!(of("Wait(chan int, map[string]int)", "Wait"), "Wait(chan int,map[string]int)()");
        assert_eq!(types("Close(", "Close"), None);
    }
}
