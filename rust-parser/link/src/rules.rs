//! The linking rules of a project's languages: the settings of each `language.toml`, with its words as ids of the
//! linker's strings.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::method_signature;
use crate::project::names::{Strings, Sym};
use crate::project::paths::{file_name_of, folder_of};
use atlas_languages::{
    IncludeSettings, LinkSettings, MemberOrder, ModuleRule, ModuleSettings, PackageKind, ScopeName, Settings,
};

/// A family of languages that can refer to each other's names.
pub type FamilyId = u16;

/// The rules of all registered languages.
pub struct Rules {
    by_language: FxHashMap<Box<str>, Arc<LanguageRules>>,
    /// The rules for an unknown language, which refers only to itself.
    unknown: Arc<LanguageRules>,
}

/// The linking rules of one language. `atlas/languages/README.md` explains each key of `[link]`, `[modules]` and
/// `[includes]`.
pub struct LanguageRules {
    pub family: FamilyId,
    pub implicit_this: bool,
    pub global_functions: bool,
    pub fields_beside_methods: bool,
    /// A method that is read without a call gives its result.
    pub methods_as_fields: bool,
    pub calls_only_methods: bool,
    pub overloads: bool,
    pub inherits_unknown_members: bool,
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
    /// `T {...}` sets fields and runs no code.
    pub struct_literals: bool,
    /// `T(x)` converts a value and runs no code.
    pub conversions: bool,
    /// Parameters of tests name fixtures.
    pub parameter_fixtures: bool,
    /// An unknown receiver with the name of a class is taken for an instance of it.
    pub named_receivers: bool,
    /// A local variable is visible from its declaration on; before it, the name means that of an outer scope.
    pub visible_after_declaration: bool,
    /// Dotted names of functions of other packages that return their second argument as a value of the first, a type,
    /// and of those that return a function with some arguments set.
    pub cast_functions: FxHashSet<String>,
    pub partial_functions: FxHashSet<String>,
    /// Built-in functions and dotted names of other packages' functions that return their first argument or a copy of it.
    pub copy_functions: FxHashSet<String>,
    /// Dotted names of functions of other packages that make a type variable.
    pub type_variables: FxHashSet<String>,
    /// Dotted names of other packages' functions that enter their argument, and that give what each argument gives.
    pub entering_functions: FxHashSet<String>,
    pub gathering_functions: FxHashSet<String>,
    /// A loop also takes the value out of an object that wraps it.
    pub comprehensions: bool,
    /// Dotted names of bases of other packages that make fields the elements of a mapping.
    pub typed_mappings: FxHashSet<String>,
    pub member_order: MemberOrder,
    /// Name of constructors; `None` if they have the name of their class.
    pub constructor: Option<Sym>,
    pub new_method: Option<Sym>,
    pub call_method: Option<Sym>,
    /// The members of what a loop over a mapping gives: the key and the value.
    pub pair_members: Vec<Sym>,
    /// Types of functions whose last type argument is the result.
    pub result_types: FxHashSet<Sym>,
    pub class_attribute: Option<Sym>,
    pub attributes_member: Option<Sym>,
    pub enter_methods: Vec<Sym>,
    pub exit_methods: Vec<Sym>,
    pub item_setters: Vec<Sym>,
    /// The method that an operator runs where the class lacks its own.
    pub operator_fallbacks: FxHashMap<Sym, Sym>,
    /// Operators are functions of the class of either operand.
    pub operators_of_arguments: bool,
    /// Methods that built-in functions run on their argument.
    pub builtin_methods: FxHashMap<Sym, Sym>,
    pub iterator_methods: Vec<Sym>,
    pub next_methods: Vec<Sym>,
    pub item_methods: Vec<Sym>,
    /// Prefixes; empty if the language has none.
    global_prefix: String,
    private_prefix: String,
    star_skips: String,
    /// Package of the built-in names as bases of classes; [`crate::project::names::EMPTY`] if these have no edges.
    pub builtin_package: Sym,
    pub builtins: FxHashSet<Sym>,
    /// Packages of the standard library, with everything below them.
    standard: FxHashSet<String>,
    /// Names too common to identify a callee.
    pub common_methods: FxHashSet<Sym>,
    pub open_builtins: FxHashSet<Sym>,
    pub container_builtins: FxHashSet<Sym>,
    pub element_builtins: FxHashSet<Sym>,
    pub choosing_builtins: FxHashSet<Sym>,
    pub class_builtins: FxHashSet<Sym>,
    /// Built-in functions that read an attribute by its name, make a mapping of their keywords, or pairs of position and
    /// element.
    pub attribute_builtins: FxHashSet<Sym>,
    pub keyword_builtins: FxHashSet<Sym>,
    pub pair_builtins: FxHashSet<Sym>,
    pub joining_builtins: FxHashSet<Sym>,
    /// Built-in functions and dotted names of other packages' functions that call the functions among their arguments.
    pub calling_functions: FxHashSet<String>,
    /// The first element of a list has the index 1.
    pub counts_from_one: bool,
    /// Objects get members by assignment anywhere.
    pub stored_members: bool,
    pub wrappers: FxHashSet<Sym>,
    pub first_wrappers: FxHashSet<Sym>,
    pub last_wrappers: FxHashSet<Sym>,
    pub sequences: FxHashSet<Sym>,
    pub mappings: FxHashSet<Sym>,
    pub tuples: FxHashSet<Sym>,
    pub tuple_members: Vec<Sym>,
    pub tuple_bases: FxHashSet<String>,
    pub forwarding_methods: Vec<Sym>,
    pub mixed_members: Vec<String>,
    pub block_yields: bool,
    pub class_objects: FxHashSet<Sym>,
    pub callables: FxHashSet<Sym>,
    /// Annotations that provide members, by dotted name.
    pub getter_annotations: Vec<String>,
    pub setter_annotations: Vec<String>,
    pub builder_annotations: Vec<String>,
    /// Other languages see the functions of a file as those of a class with the file's name and this ending.
    pub facade_ending: String,
    pub sees_facades: bool,
    /// Implicit classes add members to the type of their parameter.
    pub implicit_classes: bool,
    /// Types of functions, and the method by which their values are called.
    pub function_types: FxHashMap<Sym, Sym>,
    /// Methods that making an object runs besides its constructor.
    pub further_constructors: Vec<Sym>,
    /// Methods that run where an attribute that holds their object is read, and where it is stored.
    pub descriptor_methods: Vec<Sym>,
    /// Operators may be functions outside of the class of an operand.
    pub free_operators: bool,
    /// What has a type parameter as its type may be called.
    pub unbounded_calls: bool,
    /// Generic types of functions whose first parameter is the first argument.
    pub argument_types: FxHashSet<Sym>,
    /// Bases of other packages that declare the type parameters of a class.
    pub generic_bases: FxHashSet<Sym>,
    /// Fields may have a type parameter as their type.
    pub generic_fields: bool,
    /// `record.name()` reads a field.
    pub field_accessors: bool,
    /// Static methods that take their object as the first parameter.
    pub extension_methods: bool,
    /// Methods of classes that make an instance and that the compiler provides.
    pub derived_makers: FxHashSet<Sym>,
    /// Methods of classes that list their instances, provided by a framework.
    pub derived_listers: FxHashSet<Sym>,
    /// What [`crate::resolve::records`] knows of frameworks, by dotted name.
    pub record_functions: FxHashSet<String>,
    pub listing_functions: FxHashSet<String>,
    /// Start and end of the dotted names of classes whose instances are values outside the project to those who read them.
    pub value_fields: Vec<(String, String)>,
    pub class_keywords: FxHashSet<String>,
    pub manager_classes: Vec<String>,
    pub managed_bases: Vec<String>,
    pub manager_attributes: FxHashSet<Sym>,
    /// What [`crate::resolve::named_paths`] knows of frameworks, by dotted name.
    pub path_functions: FxHashSet<String>,
    pub setting_functions: BTreeMap<String, String>,
    pub settings_objects: Vec<String>,
    pub container_makers: BTreeMap<String, usize>,
    pub container_keywords: Vec<String>,
    pub setting_module: String,
    pub form_methods: Vec<String>,
    pub form_attributes: Vec<String>,
    pub form_model: Vec<Sym>,
    pub union_operator: Option<Sym>,
    pub back_reference: String,
    pub joining_methods: FxHashSet<Sym>,
    /// Methods of containers that give a pair of an element and a flag.
    pub element_pairs: FxHashSet<Sym>,
    /// Views of mappings whose elements are pairs of key and value.
    pub pair_views: FxHashSet<Sym>,
    /// Function of a class that a call of the class's name may run.
    pub companion_maker: Option<Sym>,
    /// Only some classes are constructed without `new`.
    pub case_classes: bool,
    /// `table(key)` reads an element.
    pub indexed_by_call: bool,
    /// Functions and methods that run a function with an object as its receiver.
    pub scope_callbacks: FxHashSet<Sym>,
    pub element_getters: FxHashSet<Sym>,
    pub element_callbacks: FxHashSet<Sym>,
    pub fold_callbacks: FxHashSet<Sym>,
    pub receiver_callbacks: FxHashSet<Sym>,
    pub implicit_parameters: Vec<Sym>,
    /// Stands for the parameter of the function that an argument is.
    pub placeholder: Option<Sym>,
    pub mapping_callbacks: FxHashSet<Sym>,
    pub element_views: FxHashSet<Sym>,
    pub same_methods: FxHashSet<Sym>,
    pub self_types: FxHashSet<Sym>,
    /// By text, because names of other packages are compared with them, too.
    open_types: FxHashSet<String>,
    marker_bases: FxHashSet<String>,
    /// Interfaces of other packages, and the comparable signatures of all their methods.
    pub interfaces: Vec<KnownInterface>,
    pub interface_methods: FxHashSet<Sym>,
    pub modules: ModuleSettings,
    pub includes: IncludeSettings,
    pub module_rule: ModuleRule,
    /// Names of the files that represent their folder, and of those that represent a project, in order of precedence.
    pub index_files: Vec<String>,
    pub entry_files: Vec<String>,
}

/// The method set of an interface of another package.
pub struct KnownInterface {
    pub package: Sym,
    pub name: Sym,
    /// Comparable signatures.
    pub methods: Vec<Sym>,
}

impl Rules {
    /// Interns the words of all languages' settings.
    pub fn new<'a>(languages: impl Iterator<Item = &'a Settings>, strings: &Strings) -> Rules {
        let mut families: FxHashMap<&str, FamilyId> = FxHashMap::default();
        let mut by_language = FxHashMap::default();
        for settings in languages {
            let next = families.len() as FamilyId + 1;
            let family = *families.entry(settings.family()).or_insert(next);
            by_language.insert(settings.name.as_str().into(), Arc::new(LanguageRules::new(settings, family, strings)));
        }
        Rules { by_language, unknown: Arc::new(LanguageRules::new(&Settings::default(), 0, strings)) }
    }

    /// Returns the rules of a language by its name.
    pub fn of(&self, language: &str) -> Arc<LanguageRules> {
        self.by_language.get(language).unwrap_or(&self.unknown).clone()
    }
}

impl LanguageRules {
    fn new(settings: &Settings, family: FamilyId, strings: &Strings) -> LanguageRules {
        let LinkSettings { member_order, .. } = settings.link;
        let link = &settings.link;
        let modules = settings.modules.clone();
        let numbers = |words: &[String]| strings.intern_all(words.iter().map(|word| Some(word.as_str())));
        let set = |words: &[String]| numbers(words).into_iter().collect::<FxHashSet<Sym>>();
        let name = |word: &str| (!word.is_empty()).then(|| strings.intern(word));
        let pairs = |words: &BTreeMap<String, String>| -> FxHashMap<Sym, Sym> {
            words.iter().map(|(from, to)| (strings.intern(from), strings.intern(to))).collect()
        };
        let texts = |words: &[String]| words.iter().cloned().collect::<FxHashSet<String>>();
        let with_endings =
            |stem: &String| -> Vec<String> { modules.endings.iter().map(|ending| format!("{stem}{ending}")).collect() };
        let interfaces: Vec<KnownInterface> =
            link.interfaces.iter().map(|(name, methods)| known_interface(link, name, methods, strings)).collect();
        LanguageRules {
            interface_methods: interfaces.iter().flat_map(|interface| interface.methods.iter().copied()).collect(),
            interfaces,
            family,
            implicit_this: link.implicit_this,
            global_functions: link.global_functions,
            fields_beside_methods: link.fields_beside_methods,
            methods_as_fields: link.methods_as_fields,
            calls_only_methods: link.calls_only_methods,
            overloads: link.overloads,
            inherits_unknown_members: link.inherits_unknown_members.unwrap_or(true),
            open_classes: link.open_classes,
            classes_by_arity: link.classes_by_arity,
            mixins: link.mixins,
            prototypes: link.prototypes,
            structural_interfaces: link.structural_interfaces,
            capitalised_classes: link.capitalised_classes,
            closed_names: link.closed_names,
            known_types: link.known_types,
            included_globals: link.included_globals,
            declared_overrides: link.declared_overrides,
            unwrapping: link.unwrapping,
            extension_functions: link.extension_functions,
            member_order,
            constructor: settings.definitions.constructors.first().and_then(|word| name(word)),
            new_method: name(&link.new_method),
            call_method: name(&link.call_method),
            result_types: set(&link.result_types),
            pair_members: link.pair_members.iter().map(|member| strings.intern(member)).collect(),
            class_attribute: name(&link.class_attribute),
            attributes_member: name(&link.attributes_member),
            enter_methods: numbers(&link.enter_methods),
            exit_methods: numbers(&link.exit_methods),
            item_setters: numbers(&link.item_setters),
            operator_fallbacks: pairs(&link.operator_fallbacks),
            operators_of_arguments: link.operators_of_arguments,
            builtin_methods: pairs(&link.builtin_methods),
            iterator_methods: numbers(&link.iterator_methods),
            next_methods: numbers(&link.next_methods),
            stored_members: link.stored_members,
            counts_from_one: link.counts_from_one,
            attribute_builtins: set(&link.attribute_builtins),
            keyword_builtins: set(&link.keyword_builtins),
            pair_builtins: set(&link.pair_builtins),
            joining_builtins: set(&link.joining_builtins),
            calling_functions: texts(&link.calling_functions),
            item_methods: numbers(&link.item_methods),
            global_prefix: link.global_prefix.clone(),
            private_prefix: link.private_prefix.clone(),
            star_skips: link.star_skips.clone(),
            builtin_package: strings.intern(&link.builtin_package),
            builtins: set(&settings.builtins),
            standard: texts(&settings.standard),
            common_methods: set(&settings.common_methods),
            open_builtins: set(&link.open_builtins),
            container_builtins: set(&link.container_builtins),
            element_builtins: set(&link.element_builtins),
            choosing_builtins: set(&link.choosing_builtins),
            class_builtins: set(&link.class_builtins),
            wrappers: set(&link.wrappers),
            first_wrappers: set(&link.first_wrappers),
            last_wrappers: set(&link.last_wrappers),
            sequences: set(&link.sequences),
            mappings: set(&link.mappings),
            tuples: set(&link.tuples),
            tuple_members: numbers(&link.tuple_members),
            tuple_bases: texts(&link.tuple_bases),
            forwarding_methods: numbers(&link.forwarding_methods),
            mixed_members: link.mixed_members.clone(),
            block_yields: link.block_yields,
            class_objects: set(&link.class_objects),
            callables: set(&link.callables),
            getter_annotations: link.getter_annotations.clone(),
            setter_annotations: link.setter_annotations.clone(),
            builder_annotations: link.builder_annotations.clone(),
            facade_ending: link.facade_ending.clone(),
            sees_facades: link.sees_facades,
            implicit_classes: link.implicit_classes,
            entering_functions: texts(&link.entering_functions),
            gathering_functions: texts(&link.gathering_functions),
            comprehensions: link.comprehensions,
            function_types: pairs(&link.function_types),
            further_constructors: numbers(&link.further_constructors),
            descriptor_methods: numbers(&link.descriptor_methods),
            free_operators: link.free_operators,
            unbounded_calls: link.unbounded_calls,
            argument_types: set(&link.argument_types),
            generic_bases: set(&link.generic_bases),
            generic_fields: link.generic_fields,
            field_accessors: link.field_accessors,
            extension_methods: link.extension_methods,
            derived_makers: set(&link.derived_makers),
            derived_listers: set(&link.derived_listers),
            record_functions: texts(&link.record_functions),
            listing_functions: texts(&link.listing_functions),
            value_fields: link
                .value_fields
                .iter()
                .filter_map(|name| name.split_once('*'))
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .collect(),
            class_keywords: texts(&link.class_keywords),
            manager_classes: link.manager_classes.clone(),
            managed_bases: link.managed_bases.clone(),
            manager_attributes: set(&link.manager_attributes),
            path_functions: texts(&link.path_functions),
            setting_functions: link.setting_functions.clone(),
            settings_objects: link.settings_objects.clone(),
            container_makers: link.container_makers.clone(),
            container_keywords: link.container_keywords.clone(),
            setting_module: link.setting_module.clone(),
            form_methods: link.form_methods.clone(),
            form_attributes: link.form_attributes.clone(),
            form_model: link.form_model.iter().filter_map(|text| name(text)).collect(),
            union_operator: name(&link.union_operator),
            back_reference: link.back_reference.clone(),
            joining_methods: set(&link.joining_methods),
            element_pairs: set(&link.element_pairs),
            scope_callbacks: set(&link.scope_callbacks),
            pair_views: set(&link.pair_views),
            companion_maker: name(&link.companion_maker),
            case_classes: link.case_classes,
            indexed_by_call: link.indexed_by_call,
            cast_functions: texts(&link.cast_functions),
            partial_functions: texts(&link.partial_functions),
            copy_functions: texts(&link.copy_functions),
            type_variables: texts(&link.type_variables),
            typed_mappings: texts(&link.typed_mappings),
            struct_literals: link.struct_literals,
            conversions: link.conversions,
            parameter_fixtures: link.parameter_fixtures,
            named_receivers: link.named_receivers,
            visible_after_declaration: link.visible_after_declaration,
            element_getters: set(&link.element_getters),
            element_callbacks: set(&link.element_callbacks),
            fold_callbacks: set(&link.fold_callbacks),
            receiver_callbacks: set(&link.receiver_callbacks),
            implicit_parameters: numbers(&link.implicit_parameters),
            placeholder: name(&link.placeholder),
            mapping_callbacks: set(&link.mapping_callbacks),
            element_views: set(&link.element_views),
            same_methods: set(&link.same_methods),
            self_types: set(&link.self_types),
            open_types: texts(&link.open_types),
            marker_bases: texts(&link.marker_bases),
            module_rule: modules.rule.unwrap_or(match settings.scope.rule {
                Some(ScopeName::Document | ScopeName::Text) => ModuleRule::None,
                _ => ModuleRule::Declared,
            }),
            index_files: if modules.index.is_empty() { Vec::new() } else { with_endings(&modules.index) },
            entry_files: modules.entries.iter().flat_map(with_endings).collect(),
            includes: settings.includes.clone(),
            modules,
        }
    }

    /// Returns whether a type carries no information about the value.
    pub fn is_open_type(&self, name: &str) -> bool {
        self.open_types.contains(name)
    }

    /// Returns whether a base adds no members: a built-in name, or a dotted name of another package.
    pub fn is_marker_base(&self, name: &str) -> bool {
        self.marker_bases.contains(name)
    }

    /// Returns the rest of a name with the global prefix, which is looked up in the global package only.
    pub fn global_name<'n>(&self, name: &'n str) -> Option<&'n str> {
        if self.global_prefix.is_empty() { None } else { name.strip_prefix(self.global_prefix.as_str()) }
    }

    /// Returns whether a method neither overrides nor can be overridden.
    pub fn is_private_method(&self, name: &str) -> bool {
        let prefix = self.private_prefix.as_str();
        !prefix.is_empty() && name.starts_with(prefix) && !name.ends_with(prefix)
    }

    /// Returns whether a package is part of the standard library. Where imports name folders of repositories, these are
    /// all packages that no host has.
    pub fn is_standard(&self, package: &str) -> bool {
        if self.module_rule == ModuleRule::Folders {
            return !package.split('/').next().is_some_and(|first| first.contains('.'));
        }
        let ends = package.match_indices(['.', '/', ':']).map(|(at, _)| at).chain([package.len()]);
        ends.into_iter().any(|end| self.standard.contains(&package[..end]))
    }

    /// Returns whether star imports skip the name.
    pub fn is_skipped_by_stars(&self, name: &str) -> bool {
        !self.star_skips.is_empty() && name.starts_with(self.star_skips.as_str())
    }

    /// Returns whether declared packages are namespaces.
    pub fn has_namespaces(&self) -> bool {
        self.modules.kind == PackageKind::Namespace
    }

    /// Returns whether functions that the fields of structs get anywhere are remembered.
    pub fn stores_functions(&self) -> bool {
        self.struct_literals || self.included_globals
    }

    /// Returns whether imports name folders, whose files are listed.
    pub fn lists_folders(&self) -> bool {
        matches!(self.module_rule, ModuleRule::Packages | ModuleRule::Folders)
    }

    /// Returns whether a file is the file of a package, which contains the modules of its folder.
    pub fn is_package_file(&self, path: &str) -> bool {
        let name = file_name_of(path);
        self.module_rule == ModuleRule::Packages && self.index_files.iter().any(|file| file == name)
    }

    /// Returns the folder under which a file is listed: its own, or the parent folder for a package's file.
    pub fn listed_in<'p>(&self, path: &'p str) -> &'p str {
        let folder = folder_of(path);
        if self.is_package_file(path) { folder_of(folder) } else { folder }
    }
}

fn known_interface(link: &LinkSettings, name: &str, methods: &[String], strings: &Strings) -> KnownInterface {
    let (package, name) = name.rsplit_once('.').unwrap_or((&link.builtin_package, name));
    let comparable = |method: &String| {
        let (name, _) = method.split_once('(')?;
        Some(strings.intern(&method_signature::comparable(method, name)?))
    };
    let methods = methods.iter().filter_map(comparable).collect();
    KnownInterface { package: strings.intern(package), name: strings.intern(name), methods }
}
