"""What pods get to reach the server of their job: its address, a token that only it accepts, and its CA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from webhook.values import items, mapping, metadata_of, objects, spec_of

#: Audience of the tokens: the API server accepts none of them for itself.
AUDIENCE: Final = "jobgate-job-server"
#: The annotation of pods with the CA, which a volume shows as a file.
AUTHORITY: Final = "jobgate.dev/job-server-ca"
FOLDER: Final = "/var/run/secrets/jobgate.dev/job-server"
_VOLUME: Final = "jobgate-job-server"


class ServerAccess(NamedTuple):
    """The address of the server, and the CAs of its certificate as PEM; empty for those of the image."""

    url: str
    authority: str

    def added(self, template: Mapping[str, Any], prefix: str) -> dict[str, Any]:
        """Return a pod template with access to the server, in variables with this prefix; its own are kept."""
        metadata, spec = metadata_of(template), spec_of(template)
        token = {"audience": AUDIENCE, "expirationSeconds": 3600, "path": "token"}
        sources: list[dict[str, Any]] = [{"serviceAccountToken": token}]
        variables = {"URL": self.url, "TOKEN_FILE": f"{FOLDER}/token"}
        if self.authority:
            metadata = {**metadata, "annotations": {**mapping(metadata.get("annotations")), AUTHORITY: self.authority}}
            field = {"fieldPath": f"metadata.annotations['{AUTHORITY}']"}
            sources.append({"downwardAPI": {"items": [{"path": "ca.crt", "fieldRef": field}]}})
            variables["CA_FILE"] = f"{FOLDER}/ca.crt"
        new = [{"name": f"{prefix}_{name}", "value": value} for name, value in variables.items()]
        mount = {"name": _VOLUME, "mountPath": FOLDER, "readOnly": True}
        added: dict[str, Any] = {}
        for field_name in ("initContainers", "containers"):
            for _, container in objects(spec.get(field_name)):
                env, mounts = items(container.get("env")), items(container.get("volumeMounts"))
                own = {variable.get("name") for _, variable in objects(env)}
                env = [*env, *(variable for variable in new if variable["name"] not in own)]
                added.setdefault(field_name, []).append({**container, "env": env, "volumeMounts": [*mounts, mount]})
        added["volumes"] = [*items(spec.get("volumes")), {"name": _VOLUME, "projected": {"sources": sources}}]
        return {**template, "metadata": metadata, "spec": {**spec, **added}}
