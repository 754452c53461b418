; Imports

(namespace_use_declaration) @import
(require_expression) @import
(require_once_expression) @import
(include_expression) @import
(include_once_expression) @import

(use_declaration (use_list)) @hook

; Definitions; traits hide what is inherited, so they are the first bases

(namespace_definition name: (_) @name body: (_) @body) @definition.namespace
(class_declaration
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  (abstract_modifier)? @flag.abstract
  name: (_) @name
  body: (declaration_list (use_declaration [(name) (qualified_name)] @base)?) @body
  (base_clause (_) @base)?
  (class_interface_clause (_) @base)?) @definition.class
(anonymous_class
  body: (declaration_list (use_declaration [(name) (qualified_name)] @base)?) @body
  (base_clause (_) @base)?
  (class_interface_clause (_) @base)?) @definition.class
(interface_declaration
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  name: (_) @name
  (base_clause (_) @base)?
  body: (_) @body) @definition.interface
(trait_declaration
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  name: (_) @name
  body: (declaration_list (use_declaration [(name) (qualified_name)] @base)?) @body) @definition.trait
(enum_declaration
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  name: (_) @name
  body: (enum_declaration_list (use_declaration [(name) (qualified_name)] @base)?) @body
  (class_interface_clause (_) @base)?) @definition.enum
(method_declaration
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  (abstract_modifier)? @flag.abstract
  (static_modifier)? @flag.static
  (visibility_modifier "private"? @flag.private "protected"? @flag.private)?
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.method
(method_declaration
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  (static_modifier)? @flag.static
  (visibility_modifier "private"? @flag.private "protected"? @flag.private)?
  name: (_) @name @flag.abstract @flag.declaration
  parameters: (_) @parameters
  return_type: (_)? @returns) @definition.method
(function_definition
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.function
(anonymous_function
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.lambda
(arrow_function
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.lambda
(property_declaration
  (static_modifier)? @flag.static
  (visibility_modifier "private"? @flag.private "protected"? @flag.private)?
  type: (_)? @annotation
  (property_element name: (variable_name (name) @name) default_value: (_)? @value)) @definition.variable
(const_declaration
  (visibility_modifier "private"? @flag.private "protected"? @flag.private)?
  type: (_)? @annotation
  (const_element . (name) @name @flag.static)) @definition.variable
(enum_case
  attributes: (attribute_list (attribute_group (attribute) @decorator))?
  name: (_) @name @flag.static
  value: (_)? @value) @definition.field
(function_call_expression
  function: (name) @_f
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_f "define")) @definition.variable
(property_promotion_parameter) @hook

; Parameters

(simple_parameter type: (_)? @annotation name: (_) @name default_value: (_)? @default) @parameter
(property_promotion_parameter
  type: (_)? @annotation
  name: (_) @name
  default_value: (_)? @default) @parameter
(variadic_parameter type: (_)? @annotation name: (_) @name) @parameter.variadic

; Bindings

(assignment_expression left: (_) @target right: (_) @value @reference.read) @binding.assign
(reference_assignment_expression left: (_) @target right: (_) @value @reference.read) @binding.assign
(augmented_assignment_expression
  left: (_) @target
  operator: "??="
  right: (_) @value @reference.read) @binding.assign
(property_declaration
  type: (_) @annotation
  (property_element name: (variable_name (name) @target))) @binding.assign
(property_element name: (variable_name (name) @target) default_value: (_) @value @reference.read) @binding.assign
(static_variable_declaration name: (_) @target value: (_)? @value @reference.read) @binding.assign
(foreach_statement) @hook
(catch_clause type: (_) @annotation name: (_) @target) @binding.catch
(return_statement (_)? @value @reference.read) @binding.return
(arrow_function body: (_) @value @reference.read) @binding.return
(yield_expression "yield from" (_) @inner @reference.read) @binding.yield
(yield_expression (array_element_initializer (_) @value @reference.read .)) @binding.yield
(yield_expression) @binding.yield

(list_literal (_) @item) @target.unpack
(array_creation_expression (array_element_initializer (_) @item .)) @target.unpack
(by_ref (_) @inner) @target.same

; Other places where a name is a value, or a type

(argument (_) @reference.read .)
(array_element_initializer (_) @reference.read)
(const_element (_) @reference.read .)
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @reference.type) @hook
(array_creation_expression) @hook

; Expressions

(variable_name (name) @_n (#eq? @_n "this")) @expr.this
(variable_name) @expr.name
(dynamic_variable_name) @expr.unknown
(relative_scope) @expr.text
(name) @expr.text
(qualified_name) @expr.text
(relative_name) @expr.text
(named_type (_) @inner) @expr.same
(member_access_expression object: (_) @base name: (_) @name) @expr.attribute
(nullsafe_member_access_expression object: (_) @base name: (_) @name) @expr.attribute
(scoped_property_access_expression scope: (_) @base name: (variable_name (name) @name)) @expr.attribute
(class_constant_access_expression . (_) @inner (name) @_c . (#eq? @_c "class")) @expr.same
(class_constant_access_expression . (_) @base (name) @name .) @expr.attribute
; `f(...)` is the function itself.
(function_call_expression function: (_) @inner @reference.read arguments: (arguments (variadic_placeholder))) @expr.same
(member_call_expression
  object: (_) @base
  name: (_) @name
  arguments: (arguments (variadic_placeholder))) @expr.attribute
(scoped_call_expression
  scope: (_) @base
  name: (_) @name
  arguments: (arguments (variadic_placeholder))) @expr.attribute
(function_call_expression function: (_) @callee arguments: (_) @arguments) @reference.call
(member_call_expression object: (_) @base name: (_) @name arguments: (_) @arguments) @reference.call
(nullsafe_member_call_expression object: (_) @base name: (_) @name arguments: (_) @arguments) @reference.call
(scoped_call_expression scope: (_) @base name: (_) @name arguments: (_) @arguments) @reference.call
(object_creation_expression (anonymous_class) @callee) @expr.unknown
(object_creation_expression . (_) @callee (arguments)? @arguments) @reference.new
(attribute . (_) @callee parameters: (arguments)? @arguments) @reference.new
(argument name: (_) @keyword (_) @value .) @argument.named
(argument (_) @inner .) @expr.same
(array_element_initializer (_) @inner .) @expr.same
(subscript_expression . (_) @base (_)? @index .) @expr.index
(parenthesized_expression (_) @inner) @expr.same
(clone_expression (_) @inner) @expr.same
(assignment_expression right: (_) @inner) @expr.same
(augmented_assignment_expression left: (_) @option operator: "??=" right: (_) @option) @expr.one-of
(conditional_expression body: (_) @option alternative: (_) @option) @expr.one-of
(conditional_expression condition: (_) @option alternative: (_) @option) @expr.one-of
(binary_expression left: (_) @option operator: "??" right: (_) @option) @expr.one-of
(binary_expression operator: ["==" "===" "!=" "!==" "<" ">" "<=" ">=" "&&" "||" "instanceof"]) @literal.bool
(binary_expression operator: ".") @literal.str
(unary_op_expression "!") @literal.bool
(match_expression body: (match_block (_ return_expression: (_) @option))) @expr.one-of
(string) @literal.str
(encapsed_string) @literal.str
(heredoc) @literal.str
(nowdoc) @literal.str
(integer) @literal.int
(float) @literal.float
(boolean) @literal.bool
(null) @literal.none
(array_creation_expression
  . (array_element_initializer . (_) @base .)
  (array_element_initializer . (string) @name .) .) @expr.attribute
(array_creation_expression (array_element_initializer . (_) @key "=>" (_) @item .)) @elements.dict
(array_creation_expression (array_element_initializer (_) @item .)?) @elements.list

; Types

(optional_type (_) @inner) @type.same
(union_type (_) @option) @type.union
(intersection_type (_) @option) @type.union
(disjunctive_normal_form_type (_) @option) @type.union
(type_list (_) @option) @type.union
(primitive_type) @type.text

; Digests

(comment) @comment
(program) @block
(compound_statement) @block
(declaration_list) @block
(enum_declaration_list) @block
(variable_name) @token
(string) @token
(nowdoc) @token
