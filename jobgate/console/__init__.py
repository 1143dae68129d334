"""One read-only page about an installation, and what it shows: reviews, jobs, rules, health, and a place to try YAML.

- `app`: the web application: routes, headers; `caller`: who asks, and the API server as they see it
- `servers`: the servers and their health; `reviews`: the last of all of them, and what a caller may see
- `jobs`: the jobs of a cluster, watched, and one of them as a graph
- `commands`: what review, explain, audit and doctor say; `page/`: the page itself
"""
