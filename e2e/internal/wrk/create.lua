-- The script of wrk: creates, each with an id of its own. The harness starts wrk
-- with one thread and these arguments after "--":
--
--   file with a token on each line, all of one length
--   order of the ids: ascending or scattered
--   number of the first create, and for scattered ids the state that belongs to it
--   "paced" to count the requests of each second
--
-- All ids have 16 digits, so that all requests have the same length and one
-- string.format makes each of them.

local format = string.format
local tokens, template, step
local count = 0

-- When requests were sent, in microseconds, the longest time between two, and how
-- many in each second. A connection sends one when it has the response to the last,
-- so that these are the responses, too. done reads the globals.
local clock
started, last, pause, counts = nil, nil, 0, {}

-- The monotonic clock in microseconds; that of Lua counts whole seconds.
local function monotonic()
  local ffi = require("ffi")
  ffi.cdef [[
    struct timespec { long sec; long nsec; };
    int clock_gettime(int clock, struct timespec *now);
  ]]
  local now = ffi.new("struct timespec")
  return function()
    ffi.C.clock_gettime(1, now)
    return tonumber(now.sec) * 1e6 + tonumber(now.nsec) / 1e3
  end
end

local function pace()
  local now = clock()
  if not started then
    started, last = now, now
  end
  pause = math.max(pause, now - last)
  last = now
  local second = math.floor((now - started) / 1e6) + 1
  counts[second] = (counts[second] or 0) + 1
end

-- Ascending ids, one after the other.
local function ascending(first)
  local id = 1e15 + first - 1
  return function()
    id = id + 1
    return id
  end
end

-- All ids of a range of 2^32, each once, scattered: a linear congruential
-- generator of full period. Its products stay below 2^53, so they are exact.
local function scattered(state)
  return function()
    state = (1664525 * state + 1013904223) % 4294967296
    return 1e15 + state
  end
end

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  tokens = {}
  for line in io.lines(args[1]) do
    tokens[#tokens + 1] = line
  end
  if args[2] == "ascending" then
    step = ascending(tonumber(args[3]))
  else
    step = scattered(tonumber(args[4]))
  end
  if args[5] == "paced" then
    clock = monotonic()
  end
  local body = '{"id":%.0f,"name":"Fern","tag":"indoor"}'
  template = table.concat({
    "POST /plants HTTP/1.1",
    "Host: " .. wrk.host .. ":" .. wrk.port,
    "Authorization: Bearer %s",
    "Content-Type: application/json",
    "Content-Length: " .. #format(body, 1e15),
    "", body,
  }, "\r\n")
end

function request()
  count = count + 1
  if clock and count > 1 then -- the first is not sent
    pace()
  end
  return format(template, tokens[count % #tokens + 1], step())
end

-- What belongs to the last second, which is not a whole one, is left out. A pause
-- may last until the end.
local function paces(summary)
  local thread = threads[1]
  local started, last, pause = thread:get("started"), thread:get("last"), thread:get("pause")
  if not started then
    return ""
  end
  local counts, all = thread:get("counts"), {}
  for second = 1, math.floor(summary.duration / 1e6) do
    all[second] = counts[second] or 0
  end
  pause = math.max(pause, started + summary.duration - last)
  return format(',"pause":%d,"seconds":[%s]', pause, table.concat(all, ","))
end

-- One line for the harness; times are in microseconds.
function done(summary, latency)
  local e = summary.errors
  print(format('{"requests":%d,"duration":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d%s}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.status, e.connect + e.read + e.write + e.timeout, paces(summary)))
end
