; Definitions

(function_declaration
  "async"? @flag.async
  name: (_) @name
  parameters: (_) @parameters
  body: (_) @body) @definition.function
(generator_function_declaration
  "async"? @flag.async
  "*" @flag.generator
  name: (_) @name
  parameters: (_) @parameters
  body: (_) @body) @definition.function
(arrow_function
  "async"? @flag.async
  parameters: (_)? @parameters
  parameter: (_)? @parameters
  body: (_) @body) @definition.lambda
(function_expression
  "async"? @flag.async
  name: (_)? @name
  parameters: (_) @parameters
  body: (_) @body) @definition.lambda
(generator_function
  "async"? @flag.async
  "*" @flag.generator
  name: (_)? @name
  parameters: (_) @parameters
  body: (_) @body) @definition.lambda
(class_declaration
  decorator: (_)? @decorator
  name: (_) @name
  (class_heritage (_) @base)?
  body: (_) @body) @definition.class
(class
  decorator: (_)? @decorator
  name: (_)? @name
  (class_heritage (_) @base)?
  body: (_) @body) @definition.class
(method_definition
  decorator: (_)? @decorator
  "static"? @flag.static
  ["get" "set"]
  name: (_) @name
  parameters: (_) @parameters
  body: (_) @body) @definition.property
(method_definition
  decorator: (_)? @decorator
  "static"? @flag.static
  "async"? @flag.async
  "*"? @flag.generator
  name: (_) @name
  parameters: (_) @parameters
  body: (_) @body) @definition.method
(variable_declarator name: (identifier) @name value: (_)? @value) @definition.variable
(field_definition
  decorator: (_)? @decorator
  "static"? @flag.static
  property: (_) @name
  value: [(arrow_function) (function_expression) (class)] @wrapped) @wrapper.signature
(field_definition
  decorator: (_)? @decorator
  "static"? @flag.static
  property: (_) @name
  value: (_)? @value) @definition.variable

; Bindings

(variable_declarator name: (_) @target value: (_)? @value @reference.read) @binding.assign
(field_definition property: (_) @target value: (_) @value @reference.read) @binding.assign
