-- The script of wrk: creates, each with an id of its own. The harness starts wrk
-- with one thread and these arguments after "--":
--
--   file with a token on each line, all of one length
--   order of the ids: ascending or scattered
--   number of the first create, and for scattered ids the state that belongs to it
--
-- All ids have 16 digits, so that all requests have the same length and one
-- string.format makes each of them.

local format = string.format
local tokens, template, step
local count = 0

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
  return format(template, tokens[count % #tokens + 1], step())
end

-- One line for the harness; times are in microseconds.
function done(summary, latency)
  local e = summary.errors
  print(format('{"requests":%d,"duration":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.status, e.connect + e.read + e.write + e.timeout))
end
