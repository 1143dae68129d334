-- Sends the bodies of a file, one a line, in turn, and counts the answers that lack the words they should have.
-- wrk … -- PATH FILE WORDS [RATE]: with a rate, requests a second come at random (Poisson arrivals), as those of an API
-- server do; without one, a connection sends as soon as it is answered.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long seconds, nanoseconds; } bench_time;
  int clock_gettime(int clock, bench_time *time);
]]
local MONOTONIC, clock = 1, ffi.new("bench_time")
local requests, index, words, rate, due = {}, 0, nil, nil, 0
local threads = {}
wrong = 0

local function milliseconds()
  ffi.C.clock_gettime(MONOTONIC, clock)
  return tonumber(clock.seconds) * 1e3 + tonumber(clock.nanoseconds) / 1e6
end

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  local headers = {["Content-Type"] = "application/json", ["Accept"] = "application/json, */*"}
  for body in io.lines(arguments[2]) do
    requests[#requests + 1] = wrk.format("POST", arguments[1] .. "?timeout=10s", headers, body)
  end
  words, rate = arguments[3], tonumber(arguments[4])
  due = milliseconds()
  if not rate then delay = nil end
end

function delay()
  local now = milliseconds()
  due = math.max(due, now - 100) - math.log(1 - math.random()) * 1e3 / rate
  return math.max(0, math.floor(due - now + 0.5))
end

function request()
  index = index % #requests + 1
  return requests[index]
end

function response(status, _, body)
  if status ~= 200 or not body:find(words, 1, true) then wrong = wrong + 1 end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%f,"failed":%d,"wrong":%d,"p50":%f,"p99":%f,"p999":%f}\n',
    summary.requests, summary.duration / 1e6, errors.connect + errors.read + errors.write + errors.timeout,
    threads[1]:get("wrong"),
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3))
end
