-- Precedes every script. KEYS: the stream; the ids of queued events, which no group has taken yet, by event; the stream
-- of dead letters. ARGV: one JSON object, whose fields each script lists. Entries hold p (project) and k (key).
local stream, queued, dead_letters = KEYS[1], KEYS[2], KEYS[3]
local args = cjson.decode(ARGV[1])

local function list(items)
  return #items == 0 and '[]' or cjson.encode(items)
end

local function mark(project, key)
  return project .. '\0' .. key
end

-- Calls f with at most 1,000 of the items at a time: the number of arguments of a command is limited.
local function in_parts(items, f)
  for first = 1, #items, 1000 do
    f({ unpack(items, first, math.min(first + 999, #items)) })
  end
end

-- Removes entries from the queued events: they are taken now, so the same event can be published again.
local function unmark(entries)
  in_parts(entries, function(part)
    local names, gone = {}, {}
    for position, entry in ipairs(part) do
      names[position] = mark(entry[2][2], entry[2][4])
    end
    for position, id in ipairs(redis.call('HMGET', queued, unpack(names))) do
      if id == part[position][1] then
        gone[#gone + 1] = names[position]
      end
    end
    if #gone > 0 then
      redis.call('HDEL', queued, unpack(gone))
    end
  end)
end

local function moment(id)
  local time, count = string.match(id, '(%d+)-(%d+)')
  return tonumber(time), tonumber(count)
end

local function groups_of(key)
  local groups = {}
  for _, pairs_of_group in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    local group = {}
    for position = 1, #pairs_of_group, 2 do
      group[pairs_of_group[position]] = pairs_of_group[position + 1]
    end
    groups[#groups + 1] = group
  end
  return groups
end

-- Removes the ids from the group's pending entries, and deletes entries that no group has pending or still to take.
local function remove(ids)
  in_parts(ids, function(part)
    redis.call('XACK', stream, args.group, unpack(part))
  end)
  local groups, gone = groups_of(stream), {}
  for _, group in ipairs(groups) do
    group.time, group.count = moment(group['last-delivered-id'])
  end
  for _, id in ipairs(ids) do
    local time, count = moment(id)
    local needed = false
    for _, group in ipairs(groups) do
      needed = needed or time > group.time or (time == group.time and count > group.count)
        or (group.name ~= args.group and #redis.call('XPENDING', stream, group.name, id, id, 1) > 0)
    end
    if not needed then
      gone[#gone + 1] = id
    end
  end
  in_parts(gone, function(part)
    redis.call('XDEL', stream, unpack(part))
  end)
end

local function dead_letter(id, attempts, reason)
  local entry = redis.call('XRANGE', stream, id, id)[1]
  if entry then
    local fields = entry[2]
    unmark({ entry })
    redis.call('XADD', dead_letters, 'MAXLEN', '=', args.max_dead_letters, '*', 's', args.stream, 'g', args.group,
      'p', fields[2], 'k', fields[4], 'n', attempts, 'r', reason)
  end
  remove({ id })
end
