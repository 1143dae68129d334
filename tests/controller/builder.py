"""Jobs and their declared objects for tests."""

from typing import Any

from controlplane.jobs import dijob
from jobgate.cluster import Resource
from jobgate.controller.desired import Desired, desired
from jobgate.plugins import Crew, Part
from tests.controller.trial import TrialArguments

DIJOBS = Resource("dijobs", "v2alpha1", "diengine.opendilab.org")
CONFIG_MAPS = Resource("configmaps", "v1", "")
SERVICES = Resource("services", "v1", "")
POLICIES = Resource("networkpolicies", "v1", "networking.k8s.io")
SECRETS = Resource("secrets", "v1", "")
EVENTS = Resource("events", "v1", "")


def job(name: str = "train", namespace: str = "ada", replicas: int = 2, plugins: Any = None, **fields: Any) -> Any:
    """A DIJob that asks for the trial plugin, as it is stored."""
    return dijob(name, namespace, replicas, {"trial": {}} if plugins is None else plugins, **fields)


def crew(name: str = "train", uid: str = "uid-1", replicas: int = 2, **arguments: bool) -> Crew:
    """The crew of a job that asks for the trial plugin."""
    return Crew(
        api_version="diengine.opendilab.org/v2alpha1",
        kind="DIJob",
        plural="dijobs.diengine.opendilab.org",
        namespace="ada",
        name=name,
        uid=uid,
        parts=(Part("work", replicas=replicas),),
        plugins={"trial": TrialArguments(**arguments)},
        pod=f"{name}-{{task}}-{{index}}",
        service=name,
        labels={"job": name},
    )


def wanted(of: Crew, kind: str) -> Desired:
    """The only object of a kind that has to be there beside a job."""
    (result,) = [each for each in desired(of) if each.manifest["kind"] == kind]
    return result
