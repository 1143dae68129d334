-- Sends the bodies of a file, one a line, in turn, and counts the answers that lack the words they should have.
-- Six at signs in a body become the number of the request, so that no two requests have a template in common.
-- wrk … -- PATH FILE WORDS
local MARK = "@@@@@@"
local requests, index, words = {}, 0, nil
local threads = {}
wrong = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  local headers = {["Content-Type"] = "application/json", ["Accept"] = "application/json, */*"}
  for body in io.lines(arguments[2]) do
    local whole, pieces = wrk.format("POST", arguments[1] .. "?timeout=10s", headers, body), {}
    for piece in (whole .. MARK):gmatch("(.-)" .. MARK) do pieces[#pieces + 1] = piece end
    requests[#requests + 1] = pieces
  end
  words = arguments[3]
end

function request()
  index = index + 1
  return table.concat(requests[index % #requests + 1], string.format("%06x", index))
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
