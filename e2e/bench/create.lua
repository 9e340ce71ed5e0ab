-- The script of wrk: creates, each with its own id, from one thread. Arguments after "--":
--
--   the token
--   the order of the ids: ascending or scattered
--   the number of the first create in this order, from 0 on
--
-- All ids have 16 digits, so that all requests have the same length. Scattered ids are
-- pseudorandom: in a range of 8e15, no id comes twice in practice.

local format, time = string.format, os.time
local template, step, thread

-- The requests that were sent in each second of the clock. A connection sends a request when it
-- has the previous response, so that these are the responses, too.
counts = {}

local function ascending(first)
  local id = 1e15 + first - 1
  return function()
    id = id + 1
    return id
  end
end

local function scattered(first)
  math.randomseed(first)
  return function()
    return 1e15 + math.floor(8e15 * math.random())
  end
end

function setup(t)
  thread = t
end

function init(args)
  step = (args[2] == "ascending" and ascending or scattered)(tonumber(args[3]))
  first = time()
  local body = '{"id":%.0f,"name":"Fern","tag":"indoor"}'
  template = table.concat({
    "POST /plants HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Bearer " .. args[1],
    "Content-Type: application/json",
    "Content-Length: " .. #format(body, 1e15),
    "", body,
  }, "\r\n")
end

function request()
  local now = time()
  counts[now] = (counts[now] or 0) + 1
  return format(template, step())
end

-- The lowest second as a share of the median one. The first and the last second are incomplete.
local function lowest(duration)
  local counts, first, seconds = thread:get("counts"), thread:get("first"), {}
  for second = 1, math.floor(duration) - 1 do
    seconds[second] = counts[first + second] or 0
  end
  table.sort(seconds)
  local median = seconds[math.ceil(#seconds / 2)] or 0
  return median > 0 and seconds[1] / median or 0
end

-- Prints the figures in one line; latencies are in milliseconds.
function done(summary, latency)
  local e, seconds = summary.errors, summary.duration / 1e6
  print(format('{"requests":%d,"creates":%.3f,"p50":%.3f,"p99":%.3f,"longest":%.3f,"lowest":%.3f,"bad":%d}',
    summary.requests, summary.requests / seconds, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    lowest(seconds), e.status + e.connect + e.read + e.write + e.timeout))
end
