local M = {}

local handlers = {}

local function list(name)
  handlers[name] = handlers[name] or {}
  return handlers[name]
end

function M.on(name, handler)
  table.insert(list(name), handler)
end

M.emit = function(name, ...)
  for _, handler in ipairs(list(name)) do
    handler(...)
  end
end

function M:clear()
  handlers = {}
  M.log("cleared")
end

function M.log(text)
  print(text)
end

return M
