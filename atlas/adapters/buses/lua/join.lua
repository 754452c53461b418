-- args: group, stream. Creates the stream and the group, which begins with the first entry, and registers the stream.
local made = redis.pcall('XGROUP', 'CREATE', stream, args.group, '0', 'MKSTREAM')
if made.err and not string.find(made.err, '^BUSYGROUP') then
  return made
end
redis.call('SADD', KEYS[4], args.stream)
return 'null'
