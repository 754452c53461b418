local entity = require("game.entity")
local events = require("game.events")
local Player = entity.Player
local log = events.log

local function make(count)
  local players = {}
  for i = 1, count do
    players[#players + 1] = Player.new("p" .. i)
  end
  return players
end

local function update(world)
  local rock = entity.Entity.new("rock")
  rock:move(1):distance()
  local player = Player.new("one")
  player:add(2)
  player:distance()
  world.step()
end

local commands = {
  clear = function() events:clear() end,
  update = update,
}

function commands.help()
  log("help")
end

local world = { players = make(2) }

function world.step()
  for _, player in ipairs(world.players) do
    player:move(0.1)
  end
end

events.on("moved", function(who)
  log(who:distance())
end)

update(world)
commands.help()
commands["clear"]()
local ok, err = pcall(update, world)
