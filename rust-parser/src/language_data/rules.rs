//! What linking reads of a language: `[link]`, `[modules]` and `[includes]`. `atlas/languages/README.md` explains each key.

use serde::Deserialize;

/// `[link]`: how names, members and types behave.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkSettings {
    /// Languages of one family can refer to each other's names; empty: the language alone.
    pub family: String,
    pub implicit_this: bool,
    pub global_functions: bool,
    pub fields_beside_methods: bool,
    pub calls_only_methods: bool,
    pub overloads: bool,
    /// Absent: true.
    pub inherits_unknown_members: Option<bool>,
    pub open_classes: bool,
    pub mixins: bool,
    pub structural_interfaces: bool,
    pub capitalised_classes: bool,
    pub included_globals: bool,
    pub declared_overrides: bool,
    pub unwrapping: bool,
    pub extension_functions: bool,
    pub member_order: MemberOrder,
    /// Names and prefixes; empty: the language has none.
    pub new_method: String,
    pub call_method: String,
    pub class_attribute: String,
    pub global_prefix: String,
    pub private_prefix: String,
    pub star_skips: String,
    pub enter_methods: Vec<String>,
    /// Built-in functions by what they give: anything, a container of their argument's elements, one of them, its class.
    pub open_builtins: Vec<String>,
    pub container_builtins: Vec<String>,
    pub element_builtins: Vec<String>,
    pub class_builtins: Vec<String>,
    /// Generic types that stand for all of their arguments, for the first, for the last.
    pub wrappers: Vec<String>,
    pub first_wrappers: Vec<String>,
    pub last_wrappers: Vec<String>,
    /// Generic types that hold their first argument, map to their last, hold one type each position, stand for the class.
    pub sequences: Vec<String>,
    pub mappings: Vec<String>,
    pub tuples: Vec<String>,
    pub class_objects: Vec<String>,
    /// Methods of containers that give an element, or the elements.
    pub element_getters: Vec<String>,
    pub element_views: Vec<String>,
    /// Types that mean the class around, and types that say nothing.
    pub self_types: Vec<String>,
    pub open_types: Vec<String>,
    /// Bases that add no members: built-in names, and dotted names of other packages.
    pub marker_bases: Vec<String>,
}

/// How the ancestors of a class are searched for a member.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberOrder {
    /// In declared order, each base with its own bases before the next.
    #[default]
    DepthFirst,
    /// Barrett et al. 1996.
    C3,
}

/// `[modules]`: from an import as written to a file, folder or package. Each rule has its own keys.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModuleSettings {
    /// Absent: `declared`, for documents `none`.
    pub rule: Option<ModuleRule>,
    pub endings: Vec<String>,
    pub compiled_endings: Vec<String>,
    pub index: String,
    pub roots: Vec<String>,
    pub entries: Vec<String>,
    pub prefixes: Vec<String>,
    pub manifest: String,
    pub binds_first: bool,
    /// A dotted name that no root has is the only file whose path ends like it.
    pub anywhere: bool,
    pub external: ExternalName,
    pub outer: OuterPackages,
    pub kind: PackageKind,
    /// A module is a definition that is named by the whole dotted name.
    pub whole_names: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleRule {
    /// Dotted names are paths below a root.
    Packages,
    /// Relative paths, else packages by the name in their manifest.
    Paths,
    /// A manifest's name and a folder below it.
    Folders,
    /// Modules that their parent declares.
    Tree,
    /// Packages and namespaces that files declare.
    #[default]
    Declared,
    None,
}

impl ModuleRule {
    /// Keys of `[modules]` that say something for the rule.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            ModuleRule::Packages => &["rule", "endings", "index", "roots", "binds_first", "anywhere"],
            ModuleRule::Paths => {
                &["rule", "endings", "compiled_endings", "index", "roots", "entries", "prefixes", "manifest"]
            }
            ModuleRule::Folders => &["rule", "manifest"],
            ModuleRule::Tree => &["rule", "endings", "index", "roots", "entries", "manifest"],
            ModuleRule::Declared => &["rule", "external", "outer", "kind", "whole_names"],
            ModuleRule::None => &["rule"],
        }
    }
}

/// Which part of a name that no file declares is its package.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExternalName {
    #[default]
    First,
    /// All before the first part with a capital letter.
    UntilType,
    Whole,
    /// It is no external name.
    None,
}

/// Packages around the declared one whose names are visible, too.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OuterPackages {
    #[default]
    None,
    Global,
    Parents,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackageKind {
    #[default]
    Package,
    Namespace,
}

/// `[includes]`: imports of a file by its path.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IncludeSettings {
    /// Tried in order behind the path as written.
    pub endings: Vec<String>,
    pub external: IncludedName,
    /// Names of an included file are visible where it is included, as those of a star import are.
    pub visible: bool,
}

impl Default for IncludeSettings {
    fn default() -> Self {
        IncludeSettings { endings: vec![String::new()], external: IncludedName::default(), visible: false }
    }
}

/// Which part of the path of a file that is not there is its package.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IncludedName {
    #[default]
    First,
    Whole,
}
