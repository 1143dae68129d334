"""The TLS server that the API server calls. Needs the extra `server`.

- `run`: listening, signals, draining; `workers`: several processes that do so
- `listener`, `connections`, `limits`: what is accepted, and what one client can hold at most
- `session`: TLS; `certificates`, `candidate`, `files`: what it shows
- `connection`, `reader`: HTTP; `body`, `answer`: what is read and written
- `endpoint`: one request to one answer, when its turn comes; `review_thread`: large ones in a thread
- `deadline`: how long the caller waits
- `probes`, `metrics`, `log`, `spans`: what an operator of the server sees of it
"""

from webhook.server.endpoint import Endpoint, Reviewer, Route
from webhook.server.files import Files
from webhook.server.limits import Limits
from webhook.server.listener import Sockets, listen
from webhook.server.run import serve, serve_files, stopping_on_signals

__all__ = [
    "Endpoint",
    "Files",
    "Limits",
    "Reviewer",
    "Route",
    "Sockets",
    "listen",
    "serve",
    "serve_files",
    "stopping_on_signals",
]
