; What only C has: parameters declared after their list.

(variadic_parameter) @parameter.variadic
(parameter_list (identifier) @reference.type) @type.unknown
