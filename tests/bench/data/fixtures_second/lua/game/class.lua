local function class(base)
  local cls = {}
  cls.__index = cls
  if base then
    setmetatable(cls, { __index = base })
  end
  return cls
end

return class
