; Packages and imports

(package_clause name: (_) @name !body) @package
(package_clause name: (_) @name body: (_) @body) @definition.namespace
(package_object name: (_) @name body: (_)? @body) @definition.namespace
(import_declaration) @import

; Definitions. The code makes an object more of the class or trait beside it that has its name.

(class_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)? "abstract"? @flag.abstract)?
  name: (_) @name
  class_parameters: (class_parameters)? @parameters
  extend: (extends_clause
    type: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)] @base)?
  body: (_)? @body) @definition.class
(trait_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name
  class_parameters: (class_parameters)? @parameters
  extend: (extends_clause
    type: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)] @base)?
  body: (_)? @body) @definition.trait
(object_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name
  extend: (extends_clause
    type: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)] @base)?
  body: (_)? @body) @definition.class
(enum_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name
  class_parameters: (class_parameters)? @parameters
  extend: (extends_clause
    type: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)] @base)?
  body: (_)? @body) @definition.enum
(simple_enum_case name: (_) @name @flag.static) @definition.field
(full_enum_case
  name: (_) @name
  class_parameters: (class_parameters) @parameters
  extend: (extends_clause
    type: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)] @base)?) @definition.class
(given_definition
  (annotation)? @decorator
  name: (_) @name
  return_type: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)]? @base
  body: (_)? @body) @definition.class
; `new T { ... }`
(instance_expression
  [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)]? @base
  (compound_type
    base: (_) @base
    extra: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)]? @base)?
  (template_body) @body @flag.private) @definition.class
(class_definition class_parameters: (class_parameters)) @hook
(trait_definition class_parameters: (class_parameters)) @hook
(enum_definition class_parameters: (class_parameters)) @hook
(full_enum_case) @hook

(function_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name
  parameters: (parameters) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.function
(function_declaration
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name @flag.declaration @flag.abstract
  parameters: (parameters) @parameters
  return_type: (_)? @returns) @definition.function
; Without a list of parameters it is read like a field.
(function_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name
  return_type: (_)? @returns
  body: (_) @body) @definition.property
(function_declaration
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name @flag.declaration @flag.abstract
  return_type: (_)? @returns) @definition.property
(function_definition parameters: (parameters)) @hook
(extension_definition parameters: (parameters (parameter type: (_) @base)) body: (_) @body) @definition.extension
(extension_definition) @hook
(lambda_expression parameters: (_) @parameters (_) @body .) @definition.lambda
; What a case or a loop binds is its own.
(case_block) @definition.lambda
(indented_cases) @definition.lambda
(case_clause) @definition.lambda
(for_expression) @definition.lambda
(type_definition
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name
  type: (_)? @annotation) @definition.type

(val_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  pattern: (identifier) @name
  type: (_)? @annotation
  value: (_)? @value) @definition.variable
(val_definition
  (modifiers (access_modifier "private"? @flag.private)?)?
  pattern: (identifiers (identifier) @name)?
  pattern: (tuple_pattern (identifier) @name)?
  type: (_)? @annotation
  value: (_)? @value) @definition.variable
(var_definition
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  pattern: (identifier)? @name
  pattern: (identifiers (identifier) @name)?
  type: (_)? @annotation
  value: (_)? @value) @definition.variable
(val_declaration
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name @flag.declaration
  type: (_)? @annotation) @definition.variable
(var_declaration
  (annotation)? @decorator
  (modifiers (access_modifier "private"? @flag.private)?)?
  name: (_) @name @flag.declaration
  type: (_)? @annotation) @definition.variable

; Parameters

(parameter name: (_) @name type: (repeated_parameter_type) @annotation) @parameter.variadic
(parameter name: (_) @name type: (_)? @annotation default_value: (_)? @default) @parameter
(class_parameter name: (_) @name type: (repeated_parameter_type) @annotation) @parameter.variadic
(class_parameter name: (_) @name type: (_)? @annotation default_value: (_)? @default) @parameter
(binding name: (_) @name type: (_)? @annotation) @parameter
(identifier) @parameter

; Bindings

(val_definition
  pattern: (identifier)? @target
  pattern: (identifiers (identifier) @target)?
  pattern: (tuple_pattern)? @target
  type: (_)? @annotation
  value: (_) @value @reference.read) @binding.assign
(tuple_pattern (_) @item) @target.unpack
(val_definition value: (_) @reference.read)
(var_definition
  pattern: (identifier)? @target
  pattern: (identifiers (identifier) @target)?
  type: (_)? @annotation
  value: (_) @value @reference.read) @binding.assign
(val_declaration name: (_) @target type: (_) @annotation) @binding.assign
(var_declaration name: (_) @target type: (_) @annotation) @binding.assign
(assignment_expression left: (_) @target right: (_) @value @reference.read) @binding.assign
(enumerator) @hook
(case_clause pattern: (identifier) @target) @binding.assign
(typed_pattern pattern: (identifier) @target type: (_) @annotation) @binding.assign
(case_class_pattern) @hook
; A member without parentheses in a chain may be a method.
(field_expression value: (field_expression) @reference.owner)
(field_expression value: (parenthesized_expression (field_expression) @reference.owner))
(case_class_pattern type: (_) @reference.type)
(tuple_pattern (identifier) @target) @binding.assign
(capture_pattern name: (identifier) @target pattern: (typed_pattern type: (_) @annotation)) @binding.assign
(capture_pattern name: (identifier) @target) @binding.assign
(infix_pattern left: (identifier)? @target right: (identifier)? @target) @binding.assign
(type_parameters name: (identifier) @target) @binding.assign
(covariant_type_parameter name: (identifier) @target) @binding.assign
(contravariant_type_parameter name: (identifier) @target) @binding.assign
(function_definition body: (_) @value @reference.read) @binding.return
(return_expression (_) @value @reference.read) @binding.return
(lambda_expression (_) @value @reference.read .) @binding.return
(case_clause body: (_) @reference.read)
(identifier) @target.hook
(operator_identifier) @target.hook

; Other places where a name is a value

(arguments (_) @reference.read)
(infix_expression right: (_) @reference.read)
(infix_expression left: (identifier) @reference.read)
(if_expression consequence: (identifier)? @reference.read alternative: (identifier)? @reference.read)
(block (identifier) @reference.read)
(indented_block (identifier) @reference.read)
(template_body (identifier) @reference.read)
(tuple_expression (identifier) @reference.read)
(method_value . (_) @reference.read)
(throw_expression (identifier) @reference.read)
(annotation) @hook

; Expressions

(identifier) @expr.text
(wildcard) @expr.text
(field_expression value: (_) @base field: (_) @name) @expr.attribute
(call_expression function: (_) @callee arguments: (arguments) @arguments) @reference.call
(call_expression
  function: (_) @callee
  arguments: [(block) (case_block) (colon_argument)] @argument) @reference.call
(infix_expression left: (_) @base operator: (identifier) @name right: (_) @argument) @reference.call
(instance_expression
  (compound_type base: (_) @callee)
  arguments: (arguments)? @arguments) @reference.new
(instance_expression
  [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)] @callee
  arguments: (arguments)? @arguments) @reference.new
(extends_clause
  type: [(type_identifier) (generic_type) (stable_type_identifier) (projected_type)] @callee
  arguments: (arguments) @arguments) @reference.new
(annotation name: (_) @callee arguments: (arguments) @arguments) @reference.call
(annotation name: (_) @inner) @expr.same
(assignment_expression left: (identifier) @keyword right: (_) @value) @argument.named
(generic_function
  function: (field_expression field: (identifier) @_c)
  type_arguments: (type_arguments (_) @annotation)
  (#eq? @_c "asInstanceOf")) @expr.cast
(generic_function function: (_) @inner) @expr.same
(parenthesized_expression (_) @inner) @expr.same
(ascription_expression type: (_) @annotation) @expr.cast
(method_value . (_) @inner) @expr.same
(block (_) @inner .) @expr.same
(indented_block (_) @inner .) @expr.same
(try_expression body: (_) @inner) @expr.same
(if_expression consequence: (_) @option alternative: (_) @option) @expr.one-of
(prefix_expression "!") @literal.bool
(tuple_expression (_) @item) @elements.tuple
(string) @literal.str
(interpolated_string_expression) @literal.str
(character_literal) @literal.str
(integer_literal) @literal.int
(floating_point_literal) @literal.float
(boolean_literal) @literal.bool
(null_literal) @literal.none
(unit) @literal.none

; Types: wherever a type's name stands it is referred to

(type_identifier) @reference.type
(stable_type_identifier) @reference.type

(type_identifier) @expr.name
(stable_identifier . (_) @base (_) @name .) @expr.attribute
(stable_type_identifier . (_) @base (type_identifier) @name .) @type.attribute
(projected_type type: (_) @base selector: (_) @name) @type.attribute
(generic_type type: (_) @base type_arguments: (type_arguments (_)? @argument)) @type.generic
(annotated_type . (_) @inner) @type.same
(lazy_parameter_type type: (_) @inner) @type.same
(repeated_parameter_type type: (_) @inner) @type.same
(compound_type base: (_) @inner) @type.same
(singleton_type . (_) @inner) @type.same
(tuple_type (_) @item) @elements.tuple

; Digests

(comment) @comment
(block_comment) @comment
(block) @block
(indented_block) @block
(template_body) @block
(enum_body) @block
(string) @token

; Methods that operators run

(infix_expression left: (_) @base operator: (operator_identifier) @name right: (_) @argument) @expr.operator
(prefix_expression ["-" "+" "!" "~"] @name (_) @base) @reference.operator
