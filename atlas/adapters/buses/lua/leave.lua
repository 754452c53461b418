-- args: group, consumer. Removes the consumer if it has no pending entries, and consumers idle for a day.
for _, pairs_of_consumer in ipairs(redis.call('XINFO', 'CONSUMERS', stream, args.group)) do
  local consumer = {}
  for position = 1, #pairs_of_consumer, 2 do
    consumer[pairs_of_consumer[position]] = pairs_of_consumer[position + 1]
  end
  if consumer.pending == 0 and (consumer.name == args.consumer or consumer.idle > 86400000) then
    redis.call('XGROUP', 'DELCONSUMER', stream, args.group, consumer.name)
  end
end
return 'null'
