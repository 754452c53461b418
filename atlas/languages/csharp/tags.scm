; Imports

(using_directive) @import

; Definitions

(field_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static "const"? @flag.static)?
  (variable_declaration (variable_declarator) @wrapped)) @wrapper.signature
(event_field_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static)?
  (variable_declaration (variable_declarator) @wrapped)) @wrapper.signature

(namespace_declaration name: (_) @name body: (_) @body) @definition.namespace
(class_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static "abstract"? @flag.abstract)?
  name: (_) @name
  (parameter_list)? @parameters
  (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name)]? @base
    (primary_constructor_base_type type: (_) @base)?)?
  body: (_)? @body) @definition.class
(record_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "abstract"? @flag.abstract)?
  "struct"
  name: (_) @name
  (parameter_list)? @parameters
  (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name)]? @base)?
  body: (_)? @body) @definition.struct
(record_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "abstract"? @flag.abstract)?
  name: (_) @name
  (parameter_list)? @parameters
  (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name)]? @base
    (primary_constructor_base_type type: (_) @base)?)?
  body: (_)? @body) @definition.class
(struct_declaration
  (attribute_list (attribute) @decorator)?
  name: (_) @name
  (parameter_list)? @parameters
  (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name)]? @base)?
  body: (_)? @body) @definition.struct
(interface_declaration
  (attribute_list (attribute) @decorator)?
  name: (_) @name
  (base_list [(identifier) (generic_name) (qualified_name) (alias_qualified_name)]? @base)?
  body: (_)? @body) @definition.interface
(enum_declaration (attribute_list (attribute) @decorator)? name: (_) @name body: (_)? @body) @definition.enum
(enum_member_declaration
  (attribute_list (attribute) @decorator)?
  name: (_) @name @flag.static
  value: (_)? @value) @definition.field
(delegate_declaration
  (attribute_list (attribute) @decorator)?
  type: (_) @annotation
  name: (_) @name) @definition.type
(method_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static "abstract"? @flag.abstract "async"? @flag.async)?
  returns: (_) @returns
  name: (_) @name
  parameters: (_) @parameters
  body: (_) @body) @definition.method
(method_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static "abstract"? @flag.abstract)?
  returns: (_) @returns
  name: (_) @name @flag.declaration
  parameters: (_) @parameters) @definition.method
(constructor_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static)?
  name: (_) @name
  parameters: (_) @parameters
  (constructor_initializer)? @body
  body: (_)? @body) @definition.constructor
(destructor_declaration name: (_) @name parameters: (_) @parameters body: (_)? @body) @definition.method
(operator_declaration
  (attribute_list (attribute) @decorator)?
  type: (_) @returns @flag.static
  operator: _ @name
  parameters: (_) @parameters
  body: (_)? @body) @definition.method
(conversion_operator_declaration
  (attribute_list (attribute) @decorator)?
  type: (_) @name @returns @flag.static
  parameters: (_) @parameters
  body: (_)? @body) @definition.method
(local_function_statement) @hook
(local_function_statement
  (modifier "static"? @flag.static "async"? @flag.async)?
  type: (_) @returns
  name: (_) @name
  parameters: (_) @parameters
  body: (_)? @body) @definition.function
(lambda_expression
  (modifier "async"? @flag.async)?
  parameters: (_) @parameters
  body: (_) @body) @definition.lambda
(anonymous_method_expression
  parameters: (_)? @parameters
  (block) @body) @definition.lambda
; A property that runs code is read by a call; one that only holds a value is a field.
(property_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static "abstract"? @flag.abstract)?
  type: (_) @returns
  name: (_) @name
  accessors: (accessor_list (accessor_declaration body: (_))) @body) @definition.property
(property_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static)?
  type: (_) @returns
  name: (_) @name
  value: (arrow_expression_clause) @body) @definition.property
(property_declaration
  (attribute_list (attribute) @decorator)?
  (modifier "static"? @flag.static "abstract"? @flag.abstract)?
  type: (_) @annotation
  name: (_) @name
  value: (_)? @value) @definition.field
(indexer_declaration
  (attribute_list (attribute) @decorator)?
  type: (_) @returns
  "this" @name
  parameters: (_) @parameters
  accessors: (_)? @body
  value: (_)? @body) @definition.property
(event_declaration
  (attribute_list (attribute) @decorator)?
  type: (_) @returns
  name: (_) @name
  accessors: (_)? @body) @definition.property
(variable_declarator name: (_) @name) @definition.variable
(record_declaration (parameter_list)) @hook

; Parameters

(parameter type: (_)? @annotation name: (_) @name) @parameter
(implicit_parameter) @parameter
; `params T[] rest` stands without a parameter around it.
(identifier) @parameter.variadic

; Bindings

(variable_declaration) @hook
(property_declaration name: (_) @target value: (object_creation_expression) @value) @binding.assign
(assignment_expression left: (_) @target operator: "=" right: (_) @value @reference.read) @binding.assign
(assignment_expression left: (_) @target operator: "??=" right: (_) @value @reference.read) @binding.assign
(assignment_expression right: (_) @reference.read)
(foreach_statement
  type: [(identifier) (generic_name) (qualified_name) (nullable_type) (predefined_type) (array_type)] @annotation
  left: (_) @target
  right: (_) @value @reference.read) @binding.iterate
(foreach_statement left: (_) @target right: (_) @value @reference.read) @binding.iterate
(from_clause name: (_) @target (_) @value .) @binding.iterate
(catch_declaration type: (_) @annotation name: (_) @target) @binding.catch
(catch_declaration !name type: (_) @reference.type)
(declaration_pattern type: (_) @annotation name: (_) @target) @binding.assign
(declaration_pattern !name type: (_) @reference.type)
(recursive_pattern type: (_) @annotation name: (_) @target) @binding.assign
(recursive_pattern !name type: (_) @reference.type)
(type_pattern type: (_) @reference.type)
(var_pattern name: (_) @target) @binding.assign
(declaration_expression) @hook
(type_parameter) @hook
(return_statement (_)? @value @reference.read) @binding.return
(arrow_expression_clause (_) @value @reference.read) @binding.return
(lambda_expression body: (block)) @binding.outer
(lambda_expression body: (_) @value @reference.read) @binding.return
(yield_statement "return" (_) @value @reference.read) @binding.yield

(tuple_pattern (_) @item) @target.unpack
(tuple_expression (argument (_) @item)) @target.unpack
(declaration_expression name: (_) @inner) @target.same
; `new T { Name = x }` binds no variable; a bare name that no declaration made is a member.
(identifier) @target.hook

; Variables of a part of a method

(switch_section
  [(declaration_pattern) (recursive_pattern) (var_pattern) (and_pattern) (or_pattern) (parenthesized_pattern)
   (tuple_pattern) (list_pattern)] @name) @local
(switch_expression_arm . (_) @name) @local
(is_pattern_expression pattern: (_) @name) @local.block
(declaration_expression name: (_) @name) @local.block
(foreach_statement left: (_) @name @scope body: (_) @scope) @local
(catch_clause (catch_declaration name: (_) @name)) @local
(for_statement initializer: (variable_declaration (variable_declarator name: (_) @name))) @local.rest
(using_statement (variable_declaration (variable_declarator name: (_) @name))) @local.rest
(block (local_declaration_statement (variable_declaration (variable_declarator name: (_) @name)))) @local.rest
(switch_section
  (local_declaration_statement (variable_declaration (variable_declarator name: (_) @name)))) @local.rest

; Other places where a name is a value, or a type

(argument (_) @reference.read .)
(initializer_expression (_) @reference.read)
; Properties whose value has the member that is named next.
(member_access_expression expression: [(member_access_expression) (identifier)] @reference.owner)
(element_access_expression expression: (member_access_expression) @reference.owner)
(conditional_access_expression condition: (member_access_expression) @reference.owner)
(foreach_statement right: (member_access_expression) @reference.owner)
(collection_expression (_) @reference.read)
(switch_expression_arm (_) @reference.read .)
(is_expression right: (_) @reference.type)
(typeof_expression type: (_) @reference.type)
(array_creation_expression type: (_) @reference.type)
(type_parameter_constraint type: (_) @reference.type)
(invocation_expression function: (generic_name (type_argument_list (_) @reference.type)))
(invocation_expression
  function: (member_access_expression name: (generic_name (type_argument_list (_) @reference.type))))
(throw_expression (_) @reference.read)
(constant_pattern [(identifier) (qualified_name)] @reference.type)

; Expressions

(identifier) @expr.name
(implicit_parameter) @expr.name
(discard) @expr.unknown
"this" @expr.this
"base" @expr.super
(predefined_type) @expr.text
(generic_name . (identifier) @base (type_argument_list (_)? @argument)) @expr.generic
(alias_qualified_name name: (_) @inner) @expr.same
(member_access_expression expression: _ @base name: (generic_name . (identifier) @name)) @expr.attribute
(member_access_expression expression: _ @base name: (_) @name) @expr.attribute
(conditional_access_expression
  condition: _ @base
  (member_binding_expression name: (generic_name . (identifier) @name))) @expr.attribute
(conditional_access_expression condition: _ @base (member_binding_expression name: (_) @name)) @expr.attribute
(conditional_access_expression condition: _ @base) @expr.index
(qualified_name qualifier: (_) @base name: (generic_name . (identifier) @name)) @expr.attribute
(qualified_name qualifier: (_) @base name: (_) @name) @expr.attribute
(invocation_expression function: (identifier) @_f (#eq? @_f "nameof")) @literal.str
(invocation_expression function: _ @callee arguments: (_) @arguments) @reference.call
(object_creation_expression type: (_) @callee arguments: (_)? @arguments) @reference.new
(implicit_object_creation_expression (argument_list) @arguments) @reference.call
(constructor_initializer (argument_list) @arguments) @reference.call
(primary_constructor_base_type type: (_) @callee (argument_list) @arguments) @reference.new
(attribute name: (_) @callee (attribute_argument_list)? @arguments) @reference.new
(argument name: (_) @keyword (_) @value .) @argument.named
(attribute_argument name: (_) @keyword (_) @value .) @argument.named
(attribute_argument (_) @inner .) @expr.same
(argument "this") @expr.this
(argument (_) @inner .) @expr.same
(await_expression (_) @inner) @expr.await
(cast_expression type: (_) @annotation value: (_) @inner) @expr.cast
(as_expression left: (_) @inner right: (_) @annotation) @expr.cast
(element_access_expression expression: _ @base subscript: (bracketed_argument_list (argument (_) @index))) @expr.index
(element_access_expression expression: _ @base) @expr.index
(parenthesized_expression (_) @inner) @expr.same
(postfix_unary_expression . (_) @inner) @expr.same
(checked_expression (_) @inner) @expr.same
(ref_expression (_) @inner) @expr.same
(with_expression . (_) @inner) @expr.same
(assignment_expression left: (_) @option operator: "??=" right: (_) @option) @expr.one-of
(assignment_expression right: (_) @inner) @expr.same
(conditional_expression consequence: (_) @option alternative: (_) @option) @expr.one-of
(binary_expression left: (_) @option operator: "??" right: (_) @option) @expr.one-of
(switch_expression (switch_expression_arm (_) @option .)) @expr.one-of
(binary_expression operator: ["==" "!=" "<" "<=" ">" ">=" "&&" "||"]) @literal.bool
; The grammar reads `!a?.B()` as `(!a)?.B()`.
(prefix_unary_expression (_) @inner) @expr.same
(is_pattern_expression) @literal.bool
(is_expression) @literal.bool
(string_literal) @literal.str
(raw_string_literal) @literal.str
(verbatim_string_literal) @literal.str
(interpolated_string_expression) @literal.str
(character_literal) @literal.int
(integer_literal) @literal.int
(real_literal) @literal.float
(boolean_literal) @literal.bool
(null_literal) @literal.none
(array_creation_expression (initializer_expression (_) @item)?) @elements.list
(implicit_array_creation_expression (initializer_expression (_) @item)?) @elements.list
(initializer_expression (_) @item) @elements.list
(collection_expression (_)? @item) @elements.list
(tuple_expression (argument (_) @item .)) @elements.tuple

; Types

(generic_name . (identifier) @base (type_argument_list (_) @argument)) @type.generic
(qualified_name qualifier: (_) (_) @base) @type.text
(nullable_type type: (_) @inner) @type.same
(ref_type type: (_) @inner) @type.same
(scoped_type type: (_) @inner) @type.same
(pointer_type type: (_) @inner) @type.same
(array_type type: (_) @argument) @type.list
(tuple_type (tuple_element type: (_) @item)) @elements.tuple
(predefined_type) @type.text
(implicit_type) @type.unknown

; Digests

(comment) @comment
(compilation_unit) @block
(block) @block
(declaration_list) @block
(enum_member_declaration_list) @block
(accessor_list) @block
(string_literal) @token
(verbatim_string_literal) @token
(raw_string_literal) @token

; Methods that operators and blocks run

(binary_expression
  left: (_) @base
  operator: ["+" "-" "*" "/" "%" "&" "|" "^" "<<" ">>"] @name
  right: (_) @argument) @expr.operator
(binary_expression
  left: (_) @base
  operator: ["==" "!=" "<" "<=" ">" ">="] @name
  right: (_) @argument) @reference.operator
(assignment_expression
  left: (_) @base
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>="] @name
  right: (_) @argument) @reference.operator
(prefix_unary_expression ["-" "+" "!" "~" "++" "--"] @name (_) @base) @reference.operator
(local_declaration_statement
  "await"? @flag.async
  "using"
  (variable_declaration (variable_declarator (_) @base .))) @reference.enter
(using_statement
  "await"? @flag.async
  (variable_declaration (variable_declarator (_) @base .))) @reference.enter
