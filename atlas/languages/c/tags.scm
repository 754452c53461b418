; What only C has: parameters declared after their list.

(variadic_parameter) @parameter.variadic
(compound_literal_expression type: (_) @callee value: (_) @arguments) @reference.new
(parameter_list (identifier) @reference.type) @type.unknown
