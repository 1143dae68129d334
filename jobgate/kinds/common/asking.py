"""How a job asks for plugins."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from crdgen import Doc
from crdgen.markers import Replace

#: By plugin: its arguments, as a list of flags or as a mapping, or nothing. Null is taken, because where it is not the
#: API server drops the entry without a word, and the job runs without the plugin.
Plugins: TypeAlias = dict[
    str, Annotated[Any, Replace({"x-kubernetes-preserve-unknown-fields": True, "nullable": True})]
]

PLUGINS_DOC = Doc(
    "What is put into the pods: env, svc or ssh, each with its arguments, as flags or as a mapping of them."
)
