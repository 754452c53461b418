//! The settings of a language that the linker reads: `[link]`, `[modules]` and `[includes]`.
//! `atlas/languages/README.md` explains each key.

use std::collections::BTreeMap;

use serde::Deserialize;

/// `[link]`: how names, members and types behave.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkSettings {
    /// Languages of one family can refer to each other's names. Empty: a family of its own.
    pub family: String,
    pub implicit_this: bool,
    pub global_functions: bool,
    pub fields_beside_methods: bool,
    /// A method that is read without a call gives its result.
    pub methods_as_fields: bool,
    pub calls_only_methods: bool,
    pub overloads: bool,
    /// Defaults to true.
    pub inherits_unknown_members: Option<bool>,
    pub open_classes: bool,
    /// Classes of one name with different numbers of type parameters are different ones.
    pub classes_by_arity: bool,
    pub mixins: bool,
    pub prototypes: bool,
    pub structural_interfaces: bool,
    pub capitalised_classes: bool,
    pub closed_names: bool,
    pub known_types: bool,
    pub included_globals: bool,
    pub declared_overrides: bool,
    pub unwrapping: bool,
    pub extension_functions: bool,
    pub struct_literals: bool,
    pub conversions: bool,
    pub parameter_fixtures: bool,
    pub named_receivers: bool,
    pub visible_after_declaration: bool,
    pub member_order: MemberOrder,
    /// Names and prefixes; empty if the language has none.
    pub new_method: String,
    pub call_method: String,
    pub pair_members: Vec<String>,
    pub result_types: Vec<String>,
    pub class_attribute: String,
    /// Member in which an object of a component has the attributes of its element.
    pub attributes_member: String,
    pub global_prefix: String,
    pub private_prefix: String,
    pub star_skips: String,
    pub builtin_package: String,
    pub enter_methods: Vec<String>,
    /// Methods that leaving a block runs, in the order of `enter_methods`.
    pub exit_methods: Vec<String>,
    /// Methods that storing an element runs.
    pub item_setters: Vec<String>,
    /// The method that an operator runs where the class lacks its own.
    pub operator_fallbacks: BTreeMap<String, String>,
    /// Operators are functions of the class of either operand.
    pub operators_of_arguments: bool,
    /// Methods that built-in functions run on their argument, by the function's name.
    pub builtin_methods: BTreeMap<String, String>,
    /// Built-in functions by their result: any value, a container of the argument's elements, one of them, its class.
    pub open_builtins: Vec<String>,
    pub container_builtins: Vec<String>,
    pub element_builtins: Vec<String>,
    /// Built-in functions that give one of their arguments, or an element of the only one.
    pub choosing_builtins: Vec<String>,
    pub class_builtins: Vec<String>,
    /// Built-in functions that read an attribute by its name, make a mapping of their keywords, or pairs of position and
    /// element.
    pub attribute_builtins: Vec<String>,
    pub keyword_builtins: Vec<String>,
    pub pair_builtins: Vec<String>,
    /// Built-in functions that make tuples of an element of each argument.
    pub joining_builtins: Vec<String>,
    /// Functions that call the functions among their arguments: built-in ones, and those of other packages by dotted
    /// name.
    pub calling_functions: Vec<String>,
    /// The first element of a list has the index 1.
    pub counts_from_one: bool,
    /// Objects get members by assignment anywhere.
    pub stored_members: bool,
    /// Generic types that stand for all of their arguments, for the first, or for the last.
    pub wrappers: Vec<String>,
    pub first_wrappers: Vec<String>,
    pub last_wrappers: Vec<String>,
    /// Generic types that contain their first argument, map to their last, contain one type per position, or denote the
    /// class itself.
    pub sequences: Vec<String>,
    pub mappings: Vec<String>,
    pub tuples: Vec<String>,
    /// Members of tuples by position, and bases whose fields are the positions of their objects.
    pub tuple_members: Vec<String>,
    pub tuple_bases: Vec<String>,
    /// Methods that give the object to which a member belongs that the class of theirs lacks.
    pub forwarding_methods: Vec<String>,
    /// `yield` runs the block of the caller.
    pub block_yields: bool,
    /// Modules within a module that are mixed in along with it.
    pub mixed_members: Vec<String>,
    pub class_objects: Vec<String>,
    /// Generic types of functions, whose last argument is the result.
    pub callables: Vec<String>,
    /// Annotations that provide getters, setters or a builder, by dotted name.
    pub getter_annotations: Vec<String>,
    pub setter_annotations: Vec<String>,
    pub builder_annotations: Vec<String>,
    /// Other languages see the functions of a file as those of a class with the file's name and this ending.
    pub facade_ending: String,
    pub sees_facades: bool,
    /// Implicit classes add members to the type of their parameter.
    pub implicit_classes: bool,
    /// Types of functions, and the method by which their values are called.
    pub function_types: BTreeMap<String, String>,
    /// Methods that making an object runs besides its constructor.
    pub further_constructors: Vec<String>,
    /// Methods that run where an attribute that holds their object is read, and where it is stored.
    pub descriptor_methods: Vec<String>,
    /// Operators may be functions outside of the class of an operand.
    pub free_operators: bool,
    /// What has a type parameter as its type may be called.
    pub unbounded_calls: bool,
    /// Generic types of functions whose first parameter is the first argument.
    pub argument_types: Vec<String>,
    pub generic_bases: Vec<String>,
    pub generic_fields: bool,
    pub field_accessors: bool,
    pub extension_methods: bool,
    pub derived_makers: Vec<String>,
    /// Methods of classes that list their instances, provided by a framework.
    pub derived_listers: Vec<String>,
    /// Functions and classes of frameworks, by dotted name, that give an instance of the class that is an argument, also by
    /// its name, or a container of instances; the keywords of that argument.
    pub record_functions: Vec<String>,
    pub listing_functions: Vec<String>,
    pub class_keywords: Vec<String>,
    /// Functions of frameworks, by dotted name, that make a class of containers, with the position of the argument that is
    /// the class of what they contain; the keywords of that argument, and of the class that the made one extends.
    pub container_makers: BTreeMap<String, usize>,
    pub container_keywords: Vec<String>,
    /// Classes of frameworks, by dotted name with a `*`, that as an attribute of a class stand for a value outside the
    /// project in its instances.
    pub value_fields: Vec<String>,
    /// Classes of frameworks, by dotted name, whose instances list the instances of the class that has them as an
    /// attribute; bases whose classes have such attributes, and the attributes that they have anyway.
    pub manager_classes: Vec<String>,
    pub managed_bases: Vec<String>,
    pub manager_attributes: Vec<String>,
    /// Functions of frameworks, by dotted name, that give what the dotted path in their argument names, or the class that a
    /// setting names as `app.Class`, by the name of the setting; the module of an app that has such classes.
    pub path_functions: Vec<String>,
    pub setting_functions: BTreeMap<String, String>,
    /// Objects of frameworks, by dotted name, whose attributes are the variables of the project's modules of settings.
    pub settings_objects: Vec<String>,
    pub setting_module: String,
    /// Methods and attributes of frameworks, by dotted name, that give an instance of the class that their object's class
    /// names, and the attribute that names it.
    pub form_methods: Vec<String>,
    pub form_attributes: Vec<String>,
    pub form_model: Vec<String>,
    /// The method behind the operator that also joins types.
    pub union_operator: String,
    /// Keyword of a field that refers to a class: the attribute of that class that leads back.
    pub back_reference: String,
    /// Methods of classes that make a class of theirs and of their arguments.
    pub joining_methods: Vec<String>,
    /// Methods of containers that give a pair of an element and a flag.
    pub element_pairs: Vec<String>,
    pub scope_callbacks: Vec<String>,
    pub pair_views: Vec<String>,
    pub companion_maker: String,
    pub case_classes: bool,
    pub indexed_by_call: bool,
    /// Functions of other packages, by dotted name: casts to their first argument, and partial applications.
    pub cast_functions: Vec<String>,
    pub partial_functions: Vec<String>,
    /// Functions of other packages that return their first argument or a copy of it.
    pub copy_functions: Vec<String>,
    /// Functions of other packages, by dotted name, that enter their argument as a block does, and that give what each of
    /// their arguments gives.
    pub entering_functions: Vec<String>,
    pub gathering_functions: Vec<String>,
    /// A loop also takes the value out of an object that wraps it.
    pub comprehensions: bool,
    /// Functions of other packages that make a type variable, by dotted name.
    pub type_variables: Vec<String>,
    /// Bases of other packages that make fields the elements of a mapping, by dotted name.
    pub typed_mappings: Vec<String>,
    /// Methods that run when an object is iterated over, and when it is indexed.
    pub iterator_methods: Vec<String>,
    pub item_methods: Vec<String>,
    /// Methods of iterators that give the next element.
    pub next_methods: Vec<String>,
    /// Methods of containers that return one element, or all elements.
    pub element_getters: Vec<String>,
    /// Methods of containers that call their first argument with each element.
    pub element_callbacks: Vec<String>,
    /// Methods of containers whose callback gets each element as its second parameter.
    pub fold_callbacks: Vec<String>,
    /// Methods of any object that call a function with the object.
    pub receiver_callbacks: Vec<String>,
    /// Name that stands for the parameter of the function that an argument is.
    pub placeholder: String,
    /// Methods whose result consists of what their callback returns for each element, or is that for an object.
    pub mapping_callbacks: Vec<String>,
    /// Names of the parameters of a function that declares none.
    pub implicit_parameters: Vec<String>,
    pub element_views: Vec<String>,
    /// Methods of instances that return the instance itself, a copy of it or a view of it.
    pub same_methods: Vec<String>,
    /// Types that denote the enclosing class, and types that carry no information.
    pub self_types: Vec<String>,
    pub open_types: Vec<String>,
    /// Method sets of interfaces outside the project, by dotted name, as the signatures of their methods.
    pub interfaces: BTreeMap<String, Vec<String>>,
    /// Bases that add no members: built-in names, and dotted names of other packages.
    pub marker_bases: Vec<String>,
}

/// Order in which the ancestors of a class are searched for a member.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberOrder {
    /// Depth first, in declared order.
    #[default]
    DepthFirst,
    /// C3 linearization (Barrett et al., 1996).
    C3,
}

/// `[modules]`: resolves an import to a file, folder or package. Each rule has its own keys.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModuleSettings {
    /// Defaults to `declared`, for documents to `none`.
    pub rule: Option<ModuleRule>,
    pub endings: Vec<String>,
    pub compiled_endings: Vec<String>,
    pub index: String,
    pub roots: Vec<String>,
    pub entries: Vec<String>,
    pub prefixes: Vec<String>,
    pub manifest: String,
    pub binds_first: bool,
    /// A dotted name that is below no root resolves to the only file whose path ends with it.
    pub anywhere: bool,
    pub external: ExternalName,
    pub outer: OuterPackages,
    pub kind: PackageKind,
    /// A module is a definition named by the whole dotted name.
    pub whole_names: bool,
    /// Some imports apply to all files of a project.
    pub global_imports: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleRule {
    /// Dotted names are paths below a root.
    Packages,
    /// Relative paths; other names are packages by the name in their manifest.
    Paths,
    /// The name of a manifest followed by a folder below it.
    Folders,
    /// Modules declared by their parent module.
    Tree,
    /// Packages and namespaces that files declare.
    #[default]
    Declared,
    None,
}

impl ModuleRule {
    /// Returns the keys of `[modules]` that apply to the rule.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            ModuleRule::Packages => &["rule", "endings", "index", "roots", "binds_first", "anywhere"],
            ModuleRule::Paths => {
                &["rule", "endings", "compiled_endings", "index", "roots", "entries", "prefixes", "manifest"]
            }
            ModuleRule::Folders => &["rule", "manifest"],
            ModuleRule::Tree => &["rule", "endings", "index", "roots", "entries", "manifest"],
            ModuleRule::Declared => &["rule", "external", "outer", "kind", "whole_names", "manifest", "global_imports"],
            ModuleRule::None => &["rule"],
        }
    }
}

/// The part of an undeclared name that is its external package.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExternalName {
    #[default]
    First,
    /// Everything before the first part with an upper-case letter.
    UntilType,
    Whole,
    /// Such names are not external.
    None,
}

/// Enclosing packages of the declared one whose names are also visible.
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

/// `[includes]`: imports that name a file by its path.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IncludeSettings {
    /// Suffixes that are tried in order after the path as written.
    pub endings: Vec<String>,
    pub external: IncludedName,
    /// The names of an included file are visible in the including file, as in a star import.
    pub visible: bool,
}

impl Default for IncludeSettings {
    fn default() -> Self {
        IncludeSettings { endings: vec![String::new()], external: IncludedName::default(), visible: false }
    }
}

/// The part of a missing file's path that is its external package.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IncludedName {
    #[default]
    First,
    Whole,
}
