local Vector = require("game.vector")
local events = require "game.events"

local Entity = {}
Entity.__index = Entity

function Entity.new(name)
  local self = setmetatable({}, Entity)
  self.name = name
  self.position = Vector.new(0, 0)
  self:reset()
  return self
end

function Entity:reset()
  self.speed = Vector.new(1, 1):normalized()
end

function Entity:move(dt)
  self.position = self.position + self.speed
  events.emit("moved", self)
  return self
end

function Entity:distance()
  return self.position:length()
end

local Player = setmetatable({}, { __index = Entity })
Player.__index = Player

function Player.new(name)
  local self = Entity.new(name)
  self.score = 0
  return setmetatable(self, Player)
end

function Player:move(dt)
  Entity.move(self, dt)
  self:add(1)
end

function Player:add(points)
  self.score = self.score + points
end

return { Entity = Entity, Player = Player }
