; What TypeScript and TSX have in common.

; Definitions

(function_declaration
  "async"? @flag.async
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.function
(generator_function_declaration
  "async"? @flag.async
  "*" @flag.generator
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.function
(arrow_function
  "async"? @flag.async
  parameters: (_)? @parameters
  parameter: (_)? @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.lambda
(function_expression
  "async"? @flag.async
  name: (_)? @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.lambda
(generator_function
  "async"? @flag.async
  "*" @flag.generator
  name: (_)? @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.lambda
(class_declaration
  decorator: (_)? @decorator
  name: (_) @name
  (class_heritage (extends_clause)? @base (implements_clause (_) @base)?)?
  body: (_) @body) @definition.class
(class
  decorator: (_)? @decorator
  name: (_)? @name
  (class_heritage (extends_clause)? @base (implements_clause (_) @base)?)?
  body: (_) @body) @definition.class
(method_definition
  "static"? @flag.static
  ["get" "set"]
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.property
(method_definition
  "static"? @flag.static
  "async"? @flag.async
  "*"? @flag.generator
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.method
(abstract_class_declaration
  "abstract" @flag.abstract
  decorator: (_)? @decorator
  name: (_) @name
  (class_heritage (extends_clause)? @base (implements_clause (_) @base)?)?
  body: (_) @body) @definition.class
(abstract_method_signature
  "abstract" @flag.abstract
  ["get" "set"]?
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns) @definition.method
(function_signature
  "async"? @flag.async
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns) @definition.function
(method_signature
  "static"? @flag.static
  ["get" "set"]
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns) @definition.property
(method_signature
  "static"? @flag.static
  "async"? @flag.async
  name: (_) @name
  parameters: (_) @parameters
  return_type: (_)? @returns) @definition.method
(interface_declaration
  name: (_) @name
  (extends_type_clause type: (_) @base)?
  body: (_) @body) @definition.interface
(property_signature name: (_) @name type: (_)? @annotation) @definition.field
(type_alias_declaration name: (_) @name value: (_) @annotation) @definition.type
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_assignment name: (_) @name value: (_) @value) @definition.field
(enum_body) @hook
(internal_module name: (_) @name body: (_) @body) @definition.namespace
(module name: (_) @name body: (_) @body) @definition.namespace
(variable_declarator name: (identifier) @name type: (_)? @annotation value: (_)? @value) @definition.variable
(public_field_definition
  decorator: (_)? @decorator
  "static"? @flag.static
  name: (_) @name
  value: [(arrow_function) (function_expression) (class)] @wrapped) @wrapper.signature
(public_field_definition
  decorator: (_)? @decorator
  "static"? @flag.static
  "abstract"? @flag.abstract
  name: (_) @name
  type: (_)? @annotation
  value: (_)? @value) @definition.variable

; What stands around definitions

(ambient_declaration "declare" @flag.declaration (_) @wrapped) @wrapper
(expression_statement (internal_module) @wrapped) @wrapper

; Parameters

(required_parameter pattern: (this) @name type: (_)? @annotation) @parameter.receiver
(required_parameter pattern: (identifier) @name type: (_)? @annotation value: (_)? @default) @parameter
(required_parameter
  pattern: (rest_pattern (identifier) @name)
  type: (_)? @annotation) @parameter.variadic
(required_parameter pattern: (_) @target type: (_)? @annotation value: (_)? @default) @parameter
(optional_parameter pattern: (identifier) @name type: (_)? @annotation value: (_)? @default) @parameter
(optional_parameter pattern: (_) @target type: (_)? @annotation value: (_)? @default) @parameter
(required_parameter [(accessibility_modifier) "readonly"]) @hook
(optional_parameter (accessibility_modifier)) @hook

; Bindings

(variable_declarator
  !type
  name: (_) @target
  value: (as_expression . (_) @value @reference.read (_) @annotation .)) @binding.assign
(variable_declarator
  name: (_) @target
  type: (_)? @annotation
  value: (_)? @value @reference.read) @binding.assign
(public_field_definition
  name: (_) @target
  type: (_)? @annotation
  value: (_)? @value @reference.read) @binding.assign
(catch_clause parameter: (_) @target type: (_) @annotation) @binding.catch
(type_parameter
  name: (type_identifier) @target
  !constraint
  value: (default_type (_) @annotation)) @binding.assign
(type_parameter name: (type_identifier) @target constraint: (constraint (_) @annotation)?) @binding.assign
(infer_type . (type_identifier) @target) @binding.assign
(mapped_type_clause name: (type_identifier) @target) @binding.assign
(import_alias . (identifier) @target (_) @value .) @binding.assign

; Types: wherever a type's name stands it is referred to

(type_identifier) @reference.type
(nested_type_identifier) @reference.type

(type_identifier) @expr.name
(nested_type_identifier module: (_) @base name: (_) @name) @type.attribute
(nested_identifier object: (_) @base property: (_) @name) @expr.attribute
(type_annotation (_) @inner) @type.same
(parenthesized_type (_) @inner) @type.same
(readonly_type (_) @inner) @type.same
(optional_type (_) @inner) @type.same
(extends_clause value: (_) @base type_arguments: (type_arguments (_)? @argument)?) @type.generic
(generic_type name: (_) @base type_arguments: (type_arguments (_) @argument)) @type.generic
(array_type) @type.text
[(function_type) (constructor_type) (call_signature) (construct_signature) (index_signature)] @type.text
(object_type) @type.text
(lookup_type) @type.text
(type_query) @type.text
(union_type (_) @option) @type.union
(intersection_type (_) @option) @type.union
(tuple_type (_)? @item) @elements.list
(required_parameter type: (_) @inner) @type.same
(optional_parameter type: (_) @inner) @type.same
(this_type) @type.this
(literal_type [(null) (undefined) (string) (number) (true) (false)] @inner) @type.same
(predefined_type "string") @literal.str
(predefined_type "number") @literal.int
(predefined_type "boolean") @literal.bool
(predefined_type "void") @literal.none
[(type_predicate_annotation) (asserts_annotation)] @type.text
(template_literal_type) @literal.str
(as_expression) @expr.text
(non_null_expression (member_expression) @reference.owner)
(satisfies_expression . (_) @inner) @expr.same
(non_null_expression (_) @inner) @expr.same
(instantiation_expression . (_) @inner) @expr.same

; Digests

(interface_body) @block
(enum_body) @block
