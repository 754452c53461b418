; What only C++ has.

(using_declaration "namespace" (_) @module) @import
(using_declaration (qualified_identifier)) @import
(namespace_alias_definition) @import

; Definitions

(template_declaration
  [(function_definition) (class_specifier) (struct_specifier) (union_specifier) (declaration) (alias_declaration)
   (template_declaration) (friend_declaration)] @wrapped) @wrapper.signature
(field_declaration_list) @hook

(namespace_definition name: (_) @name body: (_) @body) @definition.namespace
(class_specifier
  name: (_) @name
  (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)?
  body: (_) @body) @definition.class
(struct_specifier
  name: (_) @name
  (base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)?
  body: (_) @body) @definition.struct
(alias_declaration name: (_) @name type: (_) @annotation) @definition.type
(concept_definition name: (_) @name) @definition.type
(lambda_expression
  declarator: (abstract_function_declarator
    parameters: (_)? @parameters
    (trailing_return_type (_) @returns)?)?
  body: (_) @body) @definition.lambda

; Google Test: `TEST_F(Fixture, Name) { ... }`

(function_definition
  declarator: (function_declarator
    declarator: (identifier) @_t
    parameters: (parameter_list
      . (parameter_declaration type: (_) @extends !declarator)
      (parameter_declaration type: (_) @name @flag.test !declarator) .))
  body: (_) @body
  (#any-of? @_t "TEST" "TEST_F" "TEST_P" "TYPED_TEST" "TYPED_TEST_P")) @definition.method

; Outside of their classes

(function_definition
  declarator: [
    (function_declarator
      declarator: (qualified_identifier
        scope: (_) @extends
        name: (qualified_identifier
          scope: (_) @extends
          name: (qualified_identifier scope: (_) @extends name: (_) @name)))
      parameters: (_) @parameters
      (trailing_return_type (_) @returns)?)
    (pointer_declarator
      declarator: (function_declarator
        declarator: (qualified_identifier
          scope: (_) @extends
          name: (qualified_identifier
            scope: (_) @extends
            name: (qualified_identifier scope: (_) @extends name: (_) @name)))
        parameters: (_) @parameters))
    (reference_declarator
      (function_declarator
        declarator: (qualified_identifier
          scope: (_) @extends
          name: (qualified_identifier
            scope: (_) @extends
            name: (qualified_identifier scope: (_) @extends name: (_) @name)))
        parameters: (_) @parameters))
    (function_declarator
      declarator: (qualified_identifier
        scope: (_) @extends
        name: (qualified_identifier scope: (_) @extends name: (_) @name))
      parameters: (_) @parameters
      (trailing_return_type (_) @returns)?)
    (pointer_declarator
      declarator: (function_declarator
        declarator: (qualified_identifier
          scope: (_) @extends
          name: (qualified_identifier scope: (_) @extends name: (_) @name))
        parameters: (_) @parameters))
    (reference_declarator
      (function_declarator
        declarator: (qualified_identifier
          scope: (_) @extends
          name: (qualified_identifier scope: (_) @extends name: (_) @name))
        parameters: (_) @parameters))
    (function_declarator
      declarator: (qualified_identifier scope: (_) @extends name: (_) @name)
      parameters: (_) @parameters
      (trailing_return_type (_) @returns)?)
    (pointer_declarator
      declarator: (function_declarator
        declarator: (qualified_identifier scope: (_) @extends name: (_) @name)
        parameters: (_) @parameters))
    (reference_declarator
      (function_declarator
        declarator: (qualified_identifier scope: (_) @extends name: (_) @name)
        parameters: (_) @parameters))
    (qualified_identifier
      scope: (_) @extends
      name: (operator_cast declarator: (abstract_function_declarator parameters: (_) @parameters)) @name)
  ]
  type: (_)? @returns
  (field_initializer_list)? @body
  body: (_)? @body) @definition.function

; Functions and methods with a body, then declarations

(function_definition
  (storage_class_specifier "static"? @flag.static)?
  declarator: [
    (function_declarator parameters: (_) @parameters (trailing_return_type (_) @returns)?)
    (pointer_declarator declarator: (function_declarator parameters: (_) @parameters))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator parameters: (_) @parameters)))
    (reference_declarator (function_declarator parameters: (_) @parameters))
    (operator_cast declarator: (abstract_function_declarator parameters: (_) @parameters))
  ] @name
  type: (_)? @returns
  (field_initializer_list)? @body
  (default_method_clause)? @body
  (delete_method_clause)? @body
  body: (_)? @body) @definition.function
(field_declaration
  (storage_class_specifier "static"? @flag.static)?
  type: (_) @returns @flag.declaration
  declarator: [
    (function_declarator
      declarator: [(field_identifier) (operator_name)]
      parameters: (_) @parameters
      (trailing_return_type (_) @returns)?)
    (pointer_declarator
      declarator: (function_declarator declarator: [(field_identifier) (operator_name)] parameters: (_) @parameters))
    (pointer_declarator
      declarator: (pointer_declarator
        declarator: (function_declarator declarator: [(field_identifier) (operator_name)] parameters: (_) @parameters)))
    (reference_declarator
      (function_declarator declarator: [(field_identifier) (operator_name)] parameters: (_) @parameters))
  ] @name
  default_value: (_)? @flag.abstract) @definition.function
(field_declaration
  (storage_class_specifier "static"? @flag.static)?
  type: (_) @annotation
  declarator: [
    (field_identifier)
    (array_declarator)
    (pointer_declarator)
    (reference_declarator)
    (function_declarator declarator: (parenthesized_declarator))
  ] @name) @definition.variable
; Constructors, destructors and conversions have no type.
(declaration
  !type
  declarator: [
    (function_declarator parameters: (_) @parameters)
    (operator_cast declarator: (abstract_function_declarator parameters: (_) @parameters))
  ] @name @flag.declaration) @definition.function
(declaration
  (storage_class_specifier "static"? @flag.static)?
  type: (_) @returns @flag.declaration
  declarator: [
    (function_declarator declarator: [(identifier) (operator_name)] parameters: (_) @parameters)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) parameters: (_) @parameters))
    (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] parameters: (_) @parameters))
  ] @name) @definition.function

; Parameters

(parameter_declaration
  type: (_) @annotation
  declarator: (reference_declarator [(identifier) (array_declarator) (pointer_declarator) (parenthesized_declarator)]) @name) @parameter
(optional_parameter_declaration
  type: (_) @annotation
  declarator: (_)? @name
  default_value: (_) @default) @parameter
(variadic_parameter_declaration type: (_) @annotation declarator: (_ (identifier)) @name) @parameter.variadic
(parameter_declaration
  type: [(qualified_identifier) (template_type) (placeholder_type_specifier)] @annotation
  !declarator) @parameter

; Bindings

(for_range_loop
  type: [(type_identifier) (qualified_identifier) (template_type)] @annotation
  declarator: (_) @target
  right: (_) @value @reference.read) @binding.iterate
(for_range_loop declarator: (_) @target right: (_) @value @reference.read) @binding.iterate
(field_declaration declarator: (field_identifier) @target default_value: (_) @value @reference.read) @binding.assign
(catch_clause
  parameters: (parameter_list (parameter_declaration type: (_) @annotation declarator: (_) @target))) @binding.catch
(type_parameter_declaration (type_identifier) @target) @binding.assign
(optional_type_parameter_declaration name: (_) @target) @binding.assign
(variadic_type_parameter_declaration (type_identifier) @target) @binding.assign
(field_initializer) @hook
(lambda_capture_initializer left: (_) @target right: (_) @value @reference.read) @binding.assign

; A bare name that no declaration made is a member.
(identifier) @target.hook
(reference_declarator (_) @inner) @target.same
(variadic_declarator (_) @inner) @target.same
(structured_binding_declarator (_) @item) @target.unpack

; Variables of a part of a function

(compound_statement (declaration declarator: (_) @name)) @local.rest
(for_statement initializer: (declaration declarator: (_) @name)) @local.rest
(if_statement condition: (condition_clause value: (declaration declarator: (_) @name))) @local.rest
(if_statement condition: (condition_clause initializer: (_ (declaration declarator: (_) @name)))) @local.rest
(for_range_loop declarator: (_) @name @scope body: (_) @scope) @local
(catch_clause parameters: (parameter_list (parameter_declaration declarator: (_) @name))) @local

; Other places where a name is a value, or a type

(throw_statement (_) @reference.read)
(template_argument_list (type_descriptor) @reference.type)

; Expressions

(this) @expr.this
(namespace_identifier) @expr.name
(qualified_identifier) @expr.attribute
(field_expression argument: (_) @base field: (template_method name: (_) @name)) @expr.attribute
(field_expression argument: (_) @base field: (dependent_name (template_method name: (_) @name))) @expr.attribute
(call_expression
  function: (template_function
    name: (identifier) @_c
    arguments: (template_argument_list . (_) @annotation))
  arguments: (argument_list (_) @inner)
  (#any-of? @_c "static_cast" "dynamic_cast" "reinterpret_cast" "const_cast" "down_cast")) @expr.cast
(call_expression
  function: (qualified_identifier
    name: (template_function
      name: (identifier) @_c
      arguments: (template_argument_list . (type_descriptor) @annotation .)))
  arguments: (argument_list (_) @inner)
  (#any-of? @_c "get" "get_if" "any_cast" "static_pointer_cast" "dynamic_pointer_cast")) @expr.cast
(call_expression
  function: [
    (template_function name: (identifier) @_c arguments: (template_argument_list . (_) @callee))
    (qualified_identifier
      name: (template_function name: (identifier) @_c arguments: (template_argument_list . (_) @callee)))
  ]
  arguments: (argument_list) @arguments
  (#any-of? @_c "make_unique" "make_shared" "MakeUnique" "WrapUnique")) @reference.new
(call_expression function: (primitive_type)) @literal.int
(template_function name: (_) @inner) @expr.same
(new_expression type: (_) @callee arguments: (_)? @arguments) @reference.new
(delete_expression (_) @inner) @expr.same
(co_await_expression argument: (_) @inner) @expr.await
(compound_literal_expression type: (_) @callee value: (_) @arguments) @reference.new
(raw_string_literal) @literal.str
(user_defined_literal) @literal.str

; Types

(class_specifier name: (_) @inner) @type.same
(template_type name: (_) @base arguments: (template_argument_list (_) @argument)) @type.generic
(template_type name: (_) @inner) @expr.same
(placeholder_type_specifier) @type.unknown
(decltype) @type.unknown
(dependent_type (_) @inner) @expr.same

; Digests

(declaration_list) @block
(raw_string_literal) @token

; Methods that operators run

(binary_expression
  left: (_) @base
  operator: ["+" "-" "*" "/" "%" "&" "|" "^" "<<" ">>"] @name
  right: (_) @argument) @expr.operator
(binary_expression
  left: (_) @base
  operator: ["==" "!=" "<" "<=" ">" ">=" "<=>"] @name
  right: (_) @argument) @reference.operator
(assignment_expression
  left: (_) @base
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>="] @name
  right: (_) @argument) @reference.operator
(unary_expression operator: ["-" "+" "!" "~"] @name argument: (_) @base) @reference.operator
(update_expression operator: ["++" "--"] @name argument: (_) @base) @reference.operator
