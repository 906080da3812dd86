-- POST bodies from a file, one a line, in an order by chance.  env: BENCH_PATH, BENCH_BODIES (the file), BENCH_SEED
local path = os.getenv("BENCH_PATH")
local headers = { ["Content-Type"] = "application/json; charset=utf-8" }
local bodies = {}
for line in io.lines(os.getenv("BENCH_BODIES")) do bodies[#bodies + 1] = line end
local threads = 0
function setup(thread) thread:set("id", threads); threads = threads + 1 end
function init(args) math.randomseed(tonumber(os.getenv("BENCH_SEED") or "1") * 7919 + id) end
function request() return wrk.format("POST", path, headers, bodies[math.random(1, #bodies)]) end
function done(summary, latency, requests)
  io.write(string.format("RESULT %d %d %d %d %d %d %d %d %d %d\n", summary.requests, summary.duration,
    summary.errors.status, summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50), latency:percentile(90), latency:percentile(99), latency:percentile(99.9), latency.max, summary.bytes))
end
