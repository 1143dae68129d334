"""The TLS server that the API server calls. Needs the extra `server`.

- `run`: the life of a server: listen, serve, drain
- `listener`, `connections`, `limits`: which connections are accepted, and what one client can hold at most
- `session`: TLS; `certificates`, `candidate`, `files`: the served certificate
- `connection`, `reader`: HTTP; `body`, `answer`: the bytes that are read and written
- `endpoint`: answers each request in its turn; `review_thread`: large objects in a thread
- `deadline`: how long the caller waits
- `reviews`: the last reviews; `offer`: offers them on the plain port
- `probes`, `metrics`, `log`, `spans`: for those who run the server; `product`: its name
"""

from webhook.server.endpoint import Endpoint, Reviewer, Route
from webhook.server.files import Files
from webhook.server.limits import Limits
from webhook.server.listener import Sockets, listen
from webhook.server.product import Product
from webhook.server.run import serve, serve_files, stopping_on_signals

__all__ = [
    "Endpoint",
    "Files",
    "Limits",
    "Product",
    "Reviewer",
    "Route",
    "Sockets",
    "listen",
    "serve",
    "serve_files",
    "stopping_on_signals",
]
