"""Imports and compiles what a controller process needs, so that processes forked from here start at once."""

import jobgate.cluster.client
import jobgate.serving.leader  # noqa: F401
from controlplane.jobs import dijob
from jobgate.controller.jobs import remembered
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB
from jobgate.pods import Digests

for kind in installed():
    kind.schema.check({})
remembered(DIJOB, Digests(DIJOB).of, dijob("train", "default", 2, {}))
