"""The TLS server that the API server calls. Needs the extra `server`.

- `run`: listening, signals, draining
- `endpoint`: one request to one response
- `body`: reading and decoding, bounded and strict
- `connection`, `limits`: what one client can hold at most
- `deadline`: how long the caller waits
- `probes`, `metrics`, `log`, `tls`: what an operator of the server sees of it
"""

from webhook.server.endpoint import Endpoint, Reviewer, Route
from webhook.server.limits import Limits
from webhook.server.run import Addresses, Drain, Listening, serve, stopping_on_signals

__all__ = ["Addresses", "Drain", "Endpoint", "Limits", "Listening", "Reviewer", "Route", "serve", "stopping_on_signals"]
