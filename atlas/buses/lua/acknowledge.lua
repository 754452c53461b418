-- given: group, ids.
if redis.call('EXISTS', stream) == 1 then
  answered(given.ids)
end
return 'null'
