local Vector = {}
Vector.__index = Vector

local function check(value)
  assert(type(value) == "number")
  return value
end

function Vector.new(x, y)
  return setmetatable({ x = check(x), y = check(y) }, Vector)
end

Vector.__add = function(a, b)
  return Vector.new(a.x + b.x, a.y + b.y)
end

function Vector:length()
  return math.sqrt(self:dot(self))
end

function Vector:dot(other)
  return self.x * other.x + self.y * other.y
end

function Vector:normalized()
  local length = self:length()
  return Vector.new(self.x / length, self.y / length)
end

return Vector
