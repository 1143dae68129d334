"""What a controller process needs, imported and compiled: processes that are forked from here start at once."""

import jobgate.cluster.client
import jobgate.serving.leader  # noqa: F401
from controlplane.jobs import dijob
from jobgate.controller.jobs import JobDigests
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB

for kind in installed():
    kind.schema.check({})
JobDigests(DIJOB).remember(dijob("train", "default", 2, {}))
