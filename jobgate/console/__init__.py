"""One read-only page about an installation, and what it shows: reviews, jobs, rules, health, and a place to try YAML.

- `app`: the web application: routes, streams, headers; `caller`: who asks, and the API server as they see it
- `servers`: reads the reviews that servers keep; `reviews`: the last of all of them, and what a caller may see
- `lines`: objects as lines of YAML, places in them, differences
- `jobs`: the jobs of a cluster, watched; `graph`: one job with its tasks
- `health`: servers, latency, certificates; `audit`: stored jobs, and what the doctor finds
- `trial`: the review of pasted YAML; `page/`: the page itself
"""
