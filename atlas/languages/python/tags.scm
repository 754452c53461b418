; Definitions

(decorated_definition (decorator (_) @decorator) definition: (_) @wrapped) @wrapper
(decorator (_) @reference.read)
(assignment left: (identifier) @name right: (lambda) @wrapped) @wrapper.signature

(class_definition
  name: (identifier) @name
  superclasses: (argument_list
    [(identifier) (attribute) (subscript) (call)] @base)?
  body: (_) @body) @definition.class

(function_definition
  "async"? @flag.async
  name: (identifier) @name
  parameters: (_) @parameters
  return_type: (_)? @returns
  body: (_) @body) @definition.function

(lambda
  parameters: (_)? @parameters
  body: (_) @body) @definition.lambda

(type_alias_statement
  left: (type (identifier) @name)
  right: (_) @annotation) @definition.type
(type_alias_statement
  left: (type (generic_type (identifier) @name))
  right: (_) @annotation) @definition.type

(assignment
  left: (identifier) @name
  type: (_)? @annotation
  right: (_)? @value) @definition.variable
(assignment
  left: [(pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]
  right: (_) @value) @definition.variable

; Parameters

(identifier) @parameter
(typed_parameter (identifier) @name type: (_) @annotation) @parameter
(default_parameter name: (identifier) @name value: (_) @default) @parameter
(typed_default_parameter name: (identifier) @name type: (_) @annotation value: (_) @default) @parameter
(list_splat_pattern (identifier) @name) @parameter.variadic
(dictionary_splat_pattern (identifier) @name) @parameter.keywords
(typed_parameter (list_splat_pattern (identifier) @name) type: (_) @annotation) @parameter.variadic
(typed_parameter (dictionary_splat_pattern (identifier) @name) type: (_) @annotation) @parameter.keywords

; Imports

(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import

; Bindings

(assignment
  left: (_) @target
  type: (_)? @annotation
  right: (_)? @value @reference.read) @binding.assign
(augmented_assignment right: (_) @reference.read)
(named_expression name: (_) @target value: (_) @value @reference.read) @binding.assign
(for_statement left: (_) @target right: (_) @value @reference.read) @binding.iterate
(for_in_clause left: (_) @target right: (_) @value @reference.read) @binding.iterate
(with_item value: (as_pattern (_) @value @reference.read alias: (as_pattern_target (_) @target))) @binding.enter
(with_item value: [(identifier) (attribute)] @reference.read)
(except_clause
  value: (as_pattern . (_) @annotation alias: (as_pattern_target (_) @target))) @binding.catch
(except_clause value: [(identifier) (attribute) (tuple)] @reference.type)
(return_statement (_)? @value @reference.read) @binding.return
(lambda body: (_) @value @reference.read) @binding.return
(yield "from" (_) @inner @reference.read) @binding.yield
(yield (_)? @value @reference.read) @binding.yield
(global_statement (identifier) @target) @binding.outer
(nonlocal_statement (identifier) @target) @binding.outer
(function_definition
  type_parameters: (type_parameter
    (type (identifier) @target)?)) @binding.assign
(class_definition
  type_parameters: (type_parameter
    (type (identifier) @target)?)) @binding.assign
(type_alias_statement
  left: (type (generic_type (type_parameter (type (identifier) @target))))) @binding.assign
(constrained_type . (type (identifier) @target) (type) @annotation .) @binding.assign
(case_pattern (dotted_name . (identifier) @target .)) @binding.assign
(case_pattern (splat_pattern (identifier) @target)) @binding.assign
(as_pattern
  (case_pattern (class_pattern (dotted_name) @annotation))
  (identifier) @target .) @binding.assign
(as_pattern (case_pattern) (identifier) @target .) @binding.assign
(class_pattern (dotted_name) @reference.type)
(case_clause) @hook

(pattern_list (_) @item) @target.unpack
(tuple_pattern (_) @item) @target.unpack
(list_pattern (_) @item) @target.unpack
(tuple (_) @item) @target.unpack
(list (_) @item) @target.unpack
(list_splat_pattern (_) @inner) @target.same
(list_splat (_) @inner) @target.same
(parenthesized_expression (_) @inner) @target.same

; Other places where a name is a value

(argument_list (_) @reference.read)
(keyword_argument value: (_) @reference.read)
(list (_) @reference.read)
(tuple (_) @reference.read)
(set (_) @reference.read)
(pair value: (_) @reference.read)
(expression_list (_) @reference.read)
(raise_statement . [(identifier) (attribute)] @reference.raise)
(raise_statement (_) @reference.read)
(list_splat (_) @reference.read)
(dictionary_splat (_) @reference.read)
(list_comprehension body: (_) @reference.read)
(set_comprehension body: (_) @reference.read)
(generator_expression body: (_) @reference.read)
(attribute object: (attribute) @reference.owner)
(subscript value: (attribute) @reference.owner)
(subscript subscript: (_) @reference.read)
(comparison_operator (identifier) @reference.read)
(not_operator (identifier) @reference.read)
(binary_operator (identifier) @reference.read)
(unary_operator (identifier) @reference.read)
(if_statement condition: (identifier) @reference.read)
(elif_clause condition: (identifier) @reference.read)
(while_statement condition: (identifier) @reference.read)
(if_clause (identifier) @reference.read)
(assert_statement (identifier) @reference.read)
(match_statement subject: (identifier) @reference.read)
(interpolation expression: (identifier) @reference.read)
(await (identifier) @reference.read)

; Methods of objects that run without being called

(binary_operator left: (_) @base operator: "|" @name right: (_) @argument) @reference.operator
(augmented_assignment left: (_) @base operator: _ @name right: (_) @argument) @reference.operator
(comparison_operator
  . (_) @base
  operators: ["==" "!=" "<" "<=" ">" ">="] @name
  (_) @argument .) @reference.operator
(comparison_operator
  . (_) @argument
  operators: ["in" "not in"] @name
  (_) @base .) @reference.operator
(delete_statement (subscript) @reference.none)
(with_statement
  "async"? @flag.async
  (with_clause (with_item value: [(identifier) (attribute) (call) (subscript) (await)] @base))) @reference.enter
(with_statement
  "async"? @flag.async
  (with_clause (with_item value: (as_pattern . (_) @base)))) @reference.enter

; Expressions

(identifier) @expr.name
(dotted_name . (identifier) @inner .) @expr.same
(attribute object: (_) @base attribute: (_) @name) @expr.attribute
(call function: (identifier) @_f (#eq? @_f "super")) @expr.super
(call function: (_) @callee arguments: (argument_list) @arguments) @reference.call
(call function: (_) @callee arguments: (generator_expression) @argument) @reference.call
(call
  function: [(identifier) (attribute)] @_f
  (#any-of? @_f "isinstance" "issubclass" "cast" "typing.cast" "t.cast")) @hook
(call
  function: (attribute attribute: (identifier) @_m)
  (#any-of? @_m "append" "appendleft" "add" "insert" "setdefault" "update" "extend")) @hook
(call function: (identifier) @_f (#eq? @_f "setattr")) @hook
(assignment
  left: (identifier) @_s
  (#any-of? @_s
    "MIDDLEWARE" "INSTALLED_APPS" "AUTHENTICATION_BACKENDS" "AUTH_PASSWORD_VALIDATORS" "PASSWORD_HASHERS"
    "DATABASE_ROUTERS" "FILE_UPLOAD_HANDLERS" "STATICFILES_FINDERS" "TEMPLATES" "CACHES" "STORAGES" "LOGGING"
    "REST_FRAMEWORK" "CELERY_BEAT_SCHEDULE" "EMAIL_BACKEND" "TEST_RUNNER" "DEFAULT_AUTO_FIELD" "MESSAGE_STORAGE"
    "FORM_RENDERER" "WSGI_APPLICATION" "ASGI_APPLICATION" "DEFAULT_EXCEPTION_REPORTER")) @hook
(augmented_assignment
  left: (identifier) @_s
  (#any-of? @_s
    "MIDDLEWARE" "INSTALLED_APPS" "AUTHENTICATION_BACKENDS" "DATABASE_ROUTERS" "STATICFILES_FINDERS")) @hook
(keyword_argument name: (_) @keyword value: (_) @value) @argument.named
(list_splat (_) @value) @argument.spread
(dictionary_splat (_) @value) @argument.spread-keywords
(list_splat (_) @inner) @expr.spread
(subscript value: (_) @base subscript: (slice) @index) @expr.slice
(subscript value: (_) @base subscript: (_) @index) @expr.index
(await (_) @inner) @expr.await
(parenthesized_expression (_) @inner) @expr.same
(binary_operator left: (_) @option operator: "|" right: (_) @option) @expr.union
(binary_operator left: (_) @base operator: _ @name right: (_) @argument) @expr.operator
(unary_operator operator: _ @name argument: (_) @base) @expr.operator
(named_expression value: (_) @inner) @expr.same
(assignment right: (_) @inner) @expr.same
(conditional_expression . (_) @option (_) @option .) @expr.one-of
(boolean_operator left: (_) @option right: (_) @option) @expr.one-of
(string
  (string_start) @_s
  (#any-of? @_s "b\"" "b'" "b\"\"\"" "b'''" "B\"" "B'" "rb\"" "rb'" "br\"" "br'")) @literal.bytes
(string) @literal.str
(concatenated_string) @literal.str
(integer) @literal.int
(float) @literal.float
(true) @literal.bool
(false) @literal.bool
(none) @literal.none
(not_operator) @literal.bool
(list (_)? @item) @elements.list
(tuple (_)? @item) @elements.tuple
(expression_list (_) @item) @elements.tuple
(set (_) @item) @elements.set
(dictionary (pair key: (_) @key value: (_) @item)? (dictionary_splat (_) @inner)?) @elements.dict
(list_comprehension body: (_) @item) @elements.set
(set_comprehension body: (_) @item) @elements.set
(generator_expression body: (_) @item) @elements.set
(dictionary_comprehension body: (pair value: (_) @item)) @elements.dict

; Types

(type (_) @inner) @type.same
(generic_type
  (identifier) @_b
  (#eq? @_b "Literal")) @type.unknown
(generic_type
  [(identifier) (attribute)] @base
  (type_parameter (type) @argument)) @type.generic
(subscript
  value: [(identifier) (attribute)] @_b
  (#any-of? @_b "Literal" "typing.Literal" "t.Literal")) @type.unknown
(subscript value: (_) @base subscript: (_) @argument) @type.generic
(union_type (_) @option) @type.union
(binary_operator left: (_) @option operator: "|" right: (_) @option) @type.union
(member_type) @type.unknown
(constrained_type . (_) @inner) @type.same
(string) @type.text
(dotted_name) @type.text
(tuple (_) @option) @type.union

; Digests

(comment) @comment
(module) @block
(block) @block
(string) @token
