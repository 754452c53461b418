; Packages and imports

(package_header (qualified_identifier) @name) @package
(import) @import

; Definitions. A companion's members are members of the class around it.

(class_declaration
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (annotation)? @decorator)?
  "interface"
  name: (_) @name
  (delegation_specifiers
    (delegation_specifier
      (user_type)? @base
      (constructor_invocation (user_type) @base)?
      (explicit_delegation (user_type) @base)?))?
  [(class_body) (enum_class_body)]? @body) @definition.interface
(class_declaration
  (modifiers
    (class_modifier "enum")
    (visibility_modifier "private"? @flag.private)?
    (annotation)? @decorator)
  name: (_) @name
  (primary_constructor (class_parameters) @parameters)?
  (delegation_specifiers
    (delegation_specifier
      (user_type)? @base
      (constructor_invocation (user_type) @base)?
      (explicit_delegation (user_type) @base)?))?
  [(class_body) (enum_class_body)]? @body) @definition.enum
(class_declaration
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (inheritance_modifier "abstract"? @flag.abstract)?
    (class_modifier "sealed"? @flag.abstract)?
    (annotation)? @decorator)?
  name: (_) @name
  (primary_constructor (class_parameters) @parameters)?
  (delegation_specifiers
    (delegation_specifier
      (user_type)? @base
      (constructor_invocation (user_type) @base)?
      (explicit_delegation (user_type) @base)?))?
  [(class_body) (enum_class_body)]? @body) @definition.class
(class_declaration (primary_constructor)) @hook
(object_declaration
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (annotation)? @decorator)?
  name: (_) @name
  (delegation_specifiers
    (delegation_specifier
      (user_type)? @base
      (constructor_invocation (user_type) @base)?
      (explicit_delegation (user_type) @base)?))?
  (class_body)? @body) @definition.class
; `object : T() { ... }`
(object_literal
  (delegation_specifiers
    (delegation_specifier
      (user_type)? @base
      (constructor_invocation (user_type) @base)?
      (explicit_delegation (user_type) @base)?))?
  (class_body)? @body @flag.private) @definition.class
; Of an enum's entry; the code drops the bodies of other definitions.
(class_body) @definition.class
(enum_entry
  (modifiers (annotation)? @decorator)?
  (identifier) @name @flag.static) @definition.field

(secondary_constructor
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (annotation)? @decorator)?
  "constructor" @name
  (function_value_parameters) @parameters
  (block)? @body) @definition.constructor
; The code finds the receiver and the type of the result.
(function_declaration
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (inheritance_modifier "abstract"? @flag.abstract)?
    (function_modifier "suspend"? @flag.async)?
    (annotation)? @decorator)?
  name: (_) @name
  (function_value_parameters) @parameters
  (function_body)? @body) @definition.function
(function_declaration) @hook
(secondary_constructor) @hook
(lambda_literal (lambda_parameters)? @parameters) @definition.lambda
(anonymous_function
  (function_value_parameters) @parameters
  (function_body)? @body) @definition.lambda
(type_alias
  (modifiers (visibility_modifier "private"? @flag.private)?)?
  type: (_) @name
  "="
  (_) @annotation .) @definition.type

; A property that runs code is read by a call; one that only holds a value is a field.
(property_declaration
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (inheritance_modifier "abstract"? @flag.abstract)?
    (annotation)? @decorator)?
  (variable_declaration
    . (identifier) @name
    [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @returns)
  (getter) @body) @definition.property
(property_declaration
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (inheritance_modifier "abstract"? @flag.abstract)?
    (annotation)? @decorator)?
  (variable_declaration
    . (identifier) @name
    [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @annotation)
  "="
  (_) @value .) @definition.variable
(property_declaration
  (modifiers
    (visibility_modifier "private"? @flag.private)?
    (inheritance_modifier "abstract"? @flag.abstract)?
    (annotation)? @decorator)?
  (variable_declaration
    . (identifier) @name
    [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @annotation)) @definition.variable
(property_declaration
  (modifiers (visibility_modifier "private"? @flag.private)?)?
  (multi_variable_declaration (variable_declaration . (identifier) @name))) @definition.variable

; Parameters

(parameter
  (identifier) @name
  [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)] @annotation) @parameter
(class_parameter
  (modifiers (parameter_modifier "vararg"))
  (identifier) @name
  [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)] @annotation) @parameter.variadic
(class_parameter
  (identifier) @name
  [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)] @annotation
  "="
  (_) @default .) @parameter
(class_parameter
  (identifier) @name
  [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)] @annotation) @parameter
(variable_declaration
  . (identifier) @name
  [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @annotation) @parameter
(multi_variable_declaration) @parameter

; Bindings

(property_declaration (getter)) @binding.outer
(property_declaration
  (variable_declaration
    . (identifier) @target
    [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @annotation)
  "="
  (_) @value @reference.read .) @binding.assign
(property_declaration
  (variable_declaration
    . (identifier) @target
    [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @annotation)
  (property_delegate
    (call_expression
      . (identifier) @_l
      (annotated_lambda (lambda_literal (_) @value .))))
  (#eq? @_l "lazy")) @binding.assign
(property_declaration
  (variable_declaration
    . (identifier) @target
    [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @annotation)) @binding.assign
(property_declaration
  (multi_variable_declaration) @target
  "="
  (_) @value @reference.read .) @binding.assign
(when_subject
  (variable_declaration
    . (identifier) @target
    [(user_type) (nullable_type) (function_type) (parenthesized_type) (non_nullable_type)]? @annotation)
  (_) @value @reference.read .) @binding.assign
(assignment left: (_) @target operator: "=" right: (_) @value @reference.read) @binding.assign
(assignment right: (_) @reference.read)
(for_statement) @hook
(is_expression) @hook
(type_test) @hook
(catch_block (identifier) @target (user_type) @annotation) @binding.catch
(type_parameter
  (identifier) @target
  [(user_type) (nullable_type)]? @annotation) @binding.assign
(function_body "=" (_) @value @reference.read .) @binding.return
(return_expression !label (_) @value @reference.read) @binding.return
(lambda_literal (_) @value @reference.read .) @binding.return
(identifier) @target.hook
(variable_declaration . (identifier) @inner) @target.same
(multi_variable_declaration (variable_declaration) @item) @target.unpack

; Variables of a part of a function, and types of variables there

(is_expression . (identifier) @name) @local.guarded
(when_expression
  (when_subject (identifier) @name)
  (when_entry (type_test)) @scope) @local.each
(when_expression
  (when_subject (variable_declaration . (identifier) @name))
  (when_entry (type_test)) @scope) @local.each
(catch_block (identifier) @name) @local
(block (property_declaration (variable_declaration . (identifier) @name))) @local.rest

; Other places where a name is a value

(value_argument (_) @reference.read .)
(infix_expression (_) @reference.read .)
; Properties whose value has the member that is named next, or is compared.
(navigation_expression . [(navigation_expression) (identifier)] @reference.owner)
(index_expression . (navigation_expression) @reference.owner)
(binary_expression left: (navigation_expression) @reference.owner)
(binary_expression right: (_) @reference.read)
(annotation) @hook
(file_annotation) @hook

; Expressions

(identifier) @expr.name
(this_expression "this@") @expr.text
(this_expression) @expr.this
(super_expression) @expr.super
"this" @expr.class
"super" @expr.super
(navigation_expression . (_) @inner "::" (identifier) @_c . (#eq? @_c "class")) @expr.same
(navigation_expression . (_) @base (identifier) @name .) @expr.attribute
(call_expression
  . (call_expression . (_) @callee (value_arguments (value_argument)? @argument))
  (annotated_lambda (lambda_literal) @argument)) @reference.call
(call_expression
  . (_) @callee
  (value_arguments (value_argument)? @argument)?
  (annotated_lambda (lambda_literal) @argument)?) @reference.call
(infix_expression) @reference.call
(constructor_invocation
  (user_type) @callee
  (value_arguments (value_argument)? @argument)?) @reference.new
(constructor_delegation_call
  ["this" "super"] @callee
  (value_arguments (value_argument)? @argument)?) @reference.call
(annotation
  (constructor_invocation
    (user_type) @callee
    (value_arguments (value_argument)? @argument)?)) @reference.call
(annotation (user_type) @inner) @expr.same
(value_argument (identifier) @keyword "=" (_) @value .) @argument.named
(value_argument (_) @value .) @argument.named
(callable_reference (identifier) @inner .) @expr.same
(index_expression . (_) @base (_) @index .) @expr.index
(as_expression right: (_) @annotation) @expr.cast
; The grammar reads `!f(x)` as `(!f)(x)` and `-a.b()` as `(-a).b()`.
(unary_expression argument: (_) @inner) @expr.same
(parenthesized_expression (_) @inner) @expr.same
(labeled_expression (_) @inner .) @expr.same
(annotated_expression (_) @inner .) @expr.same
(binary_expression left: (_) @option operator: "?:" right: (_) @option) @expr.one-of
(binary_expression operator: ["==" "!=" "===" "!==" "<" "<=" ">" ">=" "&&" "||"]) @literal.bool
(is_expression) @literal.bool
(in_expression) @literal.bool
(if_expression "else" (_) @option) @expr.one-of
(when_expression (when_entry (_) @option .)) @expr.one-of
(try_expression . (block) @option (catch_block (block) @option)?) @expr.one-of
(block (_) @inner .) @expr.same
(collection_literal (_)? @item) @elements.list
(string_literal) @literal.str
(multiline_string_literal) @literal.str
(character_literal) @literal.str
(number_literal) @literal.int
(float_literal) @literal.float

; Types: wherever a type's name stands it is referred to

(user_type) @reference.type

(user_type ".") @expr.text
(function_type) @type.text
(user_type . (identifier) @base (type_arguments (type_projection (_)? @argument .)?)) @expr.generic
(user_type (identifier) @inner) @expr.same
(nullable_type (_) @inner .) @expr.same
(non_nullable_type (_) @inner .) @expr.same
(parenthesized_type (_) @inner .) @expr.same

; Digests

(line_comment) @comment
(block_comment) @comment
(block) @block
(class_body) @block
(enum_class_body) @block
(string_literal) @token
(multiline_string_literal) @token

; Methods that operators run

(binary_expression left: (_) @base operator: ["+" "-" "*" "/" "%"] @name right: (_) @argument) @expr.operator
(range_expression . (_) @base [".." "..<"] @name (_) @argument .) @expr.operator
(binary_expression
  left: (_) @base
  operator: ["==" "!=" "<" "<=" ">" ">="] @name
  right: (_) @argument) @reference.operator
(in_expression left: (_) @argument ["in" "!in"] @name right: (_) @base) @reference.operator
(assignment left: (_) @base operator: ["+=" "-=" "*=" "/=" "%="] @name right: (_) @argument) @reference.operator
(unary_expression operator: ["-" "+" "!" "++" "--"] @name argument: (_) @base) @reference.operator
