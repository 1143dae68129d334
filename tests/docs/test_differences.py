"""Claims about verdicts in the pages of docs/reference/differences/: each has a job and its expected verdict."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, Verdict, judge
from tests.kinds.dijob import jobs as di
from tests.kinds.mxjob import jobs as mx
from tests.kinds.torchjob import jobs as torch
from tests.kinds.vcjob import jobs as vc
from tests.kinds.vcjob.test_flows import as_template, flow, jobflow
from webhook import Operation

PAGES = Path("docs/reference/differences")
KINDS = installed()


class Claim(NamedTuple):
    """A claim of a page.

    Attributes:
        page: name of the page.
        text: some words of the claim, which the page must have.
        job: an example of the claim.
        verdict: `denied` or `warned` with the field, `allowed`, or `silent`: allowed without warnings.
        old: the stored job, for an update.
        operator_can: values of the setting `operator_can`.
    """

    page: str
    text: str
    job: dict[str, Any]
    verdict: str
    old: dict[str, Any] | None = None
    operator_can: tuple[str, ...] = ()


def learner(**spec: Any) -> dict[str, Any]:
    return di.job(di.task("learner"), **spec)


def di_main(**container: Any) -> dict[str, Any]:
    return di.job(
        di.task("learner", template=di.template(containers=[{"name": "di-container", "image": "a", **container}]))
    )


def running(job: dict[str, Any]) -> dict[str, Any]:
    return job | {"status": {"phase": "Running"}}


def roles(*changed: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return mx.job("dist", *changed, **spec)


def mx_container(**fields: Any) -> dict[str, Any]:
    return {"template": mx.template(mx.container(**fields))}


def mounting(path: str) -> dict[str, Any]:
    mounts = [{"name": "own", "mountPath": path}]
    return vc.template(
        containers=[{"name": "main", "image": "busybox", "volumeMounts": mounts}],
        volumes=[{"name": "own", "emptyDir": {}}],
    )


TWO = (di.task("learner"), di.task("collector"))
ROLES = (mx.role("SCHEDULER"), mx.role("SERVER"), mx.role("WORKER"))
RESTART = {"event": "PodFailed", "action": "RestartJob"}
ELASTIC = torch.elastic()
MODEL = {"spec": {"modelName": "m", "imageRepo": "r/m", "storage": {"localStorage": {"path": "/p", "mountPath": "/m"}}}}

CLAIMS = [
    # DIJob
    Claim("dijob", "two tasks of one type", di.job(di.task("learner", "a"), di.task("learner", "b")), "denied spec.tasks[1].type"),
    Claim("dijob", "a task of type `none` without a name", di.job(di.task("none")), "denied spec.tasks[0].name"),
    Claim("dijob", "two tasks of one name", di.job(di.task("none", "a"), di.task("none", "a")), "denied spec.tasks[1].name"),
    Claim("dijob", "no task", di.job(), "denied spec.tasks"),
    Claim("dijob", "DNS label of at most 63 characters", di.job(di.task("learner"), name="a" * 62), "denied metadata.name"),
    Claim("dijob", "would reject in a Pod", di.job(di.task("learner", template=di.template(containers=[]))), "denied spec.tasks[0].template.spec.containers"),
    Claim("dijob", "fields newer than Kubernetes 1.21", di.job(di.task("learner", template=di.template(hostUsers=False))), "denied spec.tasks[0].template.spec.hostUsers"),
    Claim("dijob", "1e1.5", di_main(resources={"limits": {"cpu": "1e1.5"}}), "denied spec.tasks[0].template.spec.containers[0].resources.limits[cpu]"),
    Claim("dijob", "`preemptible: true`", learner(preemptible=True), "denied spec.preemptible"),
    Claim("dijob", "--operator-can dijobs/preemptible", learner(preemptible=True), "allowed", operator_can=("dijobs/preemptible",)),
    Claim("dijob", "negative `backoffLimit`", learner(backoffLimit=-1), "denied spec.backoffLimit"),
    Claim("dijob", "jobgate convert FILE", {**learner(), "spec": {"template": di.template(), "engineFields": {"topology": "star"}}}, "denied spec"),
    Claim("dijob", "another `name` or `type`", di.job(di.task("evaluator")), "denied spec.tasks", old=running(di.job(di.task("learner")))),
    Claim("dijob", "changes places with others", di.job(*reversed(TWO)), "denied spec.tasks", old=running(di.job(*TWO))),
    Claim("dijob", "`minReplicas` and `maxReplicas`", learner(minReplicas=2), "denied spec.minReplicas"),
    Claim("dijob", "they cause no warning", learner(minReplicas=1, maxReplicas=2), "silent"),
    Claim("dijob", "they cause no warning", learner(minReplicas=1, queue="q"), "silent", operator_can=("dijobs/queue",)),
    Claim("dijob", "`minAvailable`", learner(minAvailable=1), "warned spec.minAvailable"),
    Claim("dijob", "`policies`", learner(policies=[{"event": "PodFailed", "action": "RestartJob"}]), "warned spec.policies"),
    Claim("dijob", "`dependsOn`", di.job(di.task("learner"), di.task("collector", dependsOn={"name": ["learner"]})), "warned spec.tasks[1].dependsOn"),
    Claim("dijob", "`queue`", learner(queue="q"), "warned spec.queue"),
    Claim("dijob", "`schedulerName`", learner(schedulerName="volcano"), "warned spec.schedulerName"),
    Claim("dijob", "`priorityClassName`", learner(priorityClassName="high"), "warned spec.priorityClassName"),
    Claim("dijob", "`ttlSecondsAfterFinished`", learner(ttlSecondsAfterFinished=1), "warned spec.ttlSecondsAfterFinished"),
    Claim("dijob", "`suspend: true`", learner(suspend=True), "denied spec.suspend"),
    Claim("dijob", "--operator-can dijobs/queue", learner(queue="q"), "allowed", operator_can=("dijobs/queue",)),
    # JobFlow
    Claim("jobflow", "all rules of the [Volcano Job]", as_template(vc.job(vc.task("a"), minAvailable=2)), "denied spec.minAvailable"),
    Claim("jobflow", "two flows may have one name", jobflow(flow("a"), flow("a")), "denied spec.flows[1].name"),
    Claim("jobflow", "names the flow, the target", jobflow(flow("a", "b"), flow("b", "a")), "denied spec.flows[1].dependsOn.targets[0]"),
    Claim("jobflow", "`<JobFlow>-<flow>` at most 59", jobflow(flow("a" * 54)), "denied spec.flows[0].name"),
    Claim("jobflow", "`probe` and `patch`", jobflow(flow("a", patch={"jobSpec": {}})), "warned spec.flows[0].patch"),
    # Volcano
    Claim("vcjob", "An update that leaves the spec as it is passes", vc.job(metadata={"name": "j", "labels": {"a": "b"}}), "allowed", old=vc.job(name="j")),
    Claim("vcjob", "an empty `queue`", vc.job(vc.task("a"), queue=""), "denied spec.queue"),
    Claim("vcjob", "`schedulerName` or task `name`", vc.job(vc.task("a"), schedulerName=""), "denied spec.schedulerName"),
    Claim("vcjob", "or task `name`", vc.job(vc.task("")), "denied spec.tasks[0].name"),
    Claim("vcjob", "A task with no pods is a warning", vc.job(vc.task("a"), vc.task("b", 0)), "warned spec.tasks[1].replicas"),
    Claim("vcjob", "`minAvailable: 0` is no gang", vc.job(vc.task("a"), minAvailable=0), "allowed"),
    Claim("vcjob", "`<job>-<task>-<index>`", vc.job(vc.task("a" * 57, 1000)), "denied spec.tasks[0].name"),
    Claim("vcjob", "of at most 59 characters", vc.job(vc.task("a"), name="a" * 60, plugins={"svc": []}), "denied metadata.name"),
    Claim("vcjob", "of at most 54", vc.job(vc.task("head"), vc.task("worker"), name="a" * 55, plugins={"ray": []}), "denied metadata.name"),
    Claim("vcjob", "may begin with a digit and hold", vc.job(vc.task("a"), name="1.a"), "allowed"),
    Claim("vcjob", "any argument of `env`", vc.job(vc.task("a"), plugins={"env": ["x"]}), "denied spec.plugins[env]"),
    Claim("vcjob", "words that are no flags", vc.job(vc.task("a"), plugins={"svc": ["word"]}), "denied spec.plugins[svc]"),
    Claim("vcjob", "All forms of Go's flags", vc.job(vc.task("a"), plugins={"svc": ["-publish-not-ready-addresses=true"]}), "allowed"),
    Claim("vcjob", '`ssh: ["--no-root"]`', vc.job(vc.task("a"), plugins={"ssh": ["--no-root"]}), "warned spec.plugins[ssh]"),
    Claim("vcjob", "a `volumeClaim` that the API server would reject", vc.job(vc.task("a"), volumes=[{"mountPath": "/v", "volumeClaim": {"accessModes": ["Any"]}}]), "denied spec.volumes[0].volumeClaim"),
    Claim("vcjob", "a container mounts already", vc.job(vc.task("a", template=mounting("/v")), volumes=[{"mountPath": "/v", "volumeClaimName": "c"}]), "denied spec.tasks[0].template.spec.containers[0].volumeMounts[0].mountPath"),
    Claim("vcjob", "a queue name of more than 63 characters", vc.job(vc.task("a"), queue="q" * 64), "denied spec.queue"),
    Claim("vcjob", "internal or unknown action", vc.job(vc.task("a"), policies=[{"exitCode": 1, "action": "Unknown"}]), "denied spec.policies[0].action"),
    Claim("vcjob", "or with none", vc.job(vc.task("a"), policies=[{"exitCode": 1}]), "denied spec.policies[0].action"),
    Claim("vcjob", "`dependsOn.iteration`", vc.job(vc.task("a"), vc.task("b", dependsOn={"name": ["a"], "iteration": "some"})), "denied spec.tasks[1].dependsOn.iteration"),
    Claim("vcjob", "a `timeout`", vc.job(vc.task("a"), policies=[{"event": "PodPending", "action": "RestartJob", "timeout": "-1s"}]), "denied spec.policies[0].timeout"),
    Claim("vcjob", "`runningEstimate`", vc.job(vc.task("a"), runningEstimate="-1s"), "denied spec.runningEstimate"),
    Claim("vcjob", "no DNS subdomain", vc.job(vc.task("a"), priorityClassName="A_b"), "denied spec.priorityClassName"),
    Claim("vcjob", "negative counts", vc.job(vc.task("a", -1)), "denied spec.tasks[0].replicas"),
    Claim("vcjob", "`minSuccess: 0`", vc.job(vc.task("a"), minSuccess=0), "denied spec.minSuccess"),
    Claim("vcjob", "`null` in a list", vc.job(vc.task("a"), None), "denied spec.tasks[1]"),
    Claim("vcjob", "a task's name with dots", vc.job(vc.task("a.b")), "denied spec.tasks[0].name"),
    Claim("vcjob", "`minPartitions` above `totalPartitions`", vc.job(vc.task("a", 4, partitionPolicy={"totalPartitions": 2, "partitionSize": 2, "minPartitions": 3})), "denied spec.tasks[0].partitionPolicy.minPartitions"),
    Claim("vcjob", "a numeric `priority`", vc.job(vc.task("a", template=vc.template(priority=5))), "denied spec.tasks[0].template.spec.priority"),
    Claim("vcjob", "replicas that add up to more than", vc.job(vc.task("a", 2**31 - 1), vc.task("b", 1)), "denied spec.tasks"),
    Claim("vcjob", "where nothing is known of queues", vc.job(vc.task("a"), queue="unknown"), "allowed"),
    Claim("vcjob", "`root` is denied", vc.job(vc.task("a"), queue="root"), "denied spec.queue"),
    Claim("vcjob", "a job with `generateName` and no name", vc.job(vc.task("a"), metadata={"generateName": "a-"}), "allowed"),
    Claim("vcjob", "whose stored value is its default", vc.job(vc.task("a", 2)), "allowed", old=vc.job(vc.task("a"), queue="default", maxRetry=3)),
    Claim("vcjob", "a gang that its dependencies keep from starting", vc.job(vc.task("a"), vc.task("b", dependsOn={"name": ["a"]}), minAvailable=2), "warned spec.minAvailable"),
    Claim("vcjob", "a `minSuccess` above the number of pods", vc.job(vc.task("a"), minSuccess=2), "warned spec.minSuccess"),
    Claim("vcjob", "a `mountPath` with `:`", vc.job(vc.task("a"), volumes=[{"mountPath": "/a:b", "volumeClaimName": "c"}]), "warned spec.volumes[0].mountPath"),
    Claim("vcjob", "one claim mounted twice", vc.job(vc.task("a"), volumes=[{"mountPath": "/a", "volumeClaimName": "c"}, {"mountPath": "/b", "volumeClaimName": "c"}]), "warned spec.volumes[1]"),
    Claim("vcjob", "`pytorch` without its master", vc.job(vc.task("a"), plugins={"pytorch": []}), "warned spec.plugins[pytorch]"),
    Claim("vcjob", "`ray` without its head", vc.job(vc.task("a"), plugins={"ray": []}), "warned spec.plugins[ray]"),
    Claim("vcjob", "priorities that only some tasks of a gang have", vc.job(vc.task("a", template=vc.template(priorityClassName="p")), vc.task("b")), "warned spec.tasks[1]"),
    Claim("vcjob", "`spec.minAvailable`", vc.job(vc.task("a", 3), minAvailable=2), "allowed", old=vc.job(vc.task("a", 3), minAvailable=1)),
    Claim("vcjob", "`spec.tasks[].replicas`", vc.job(vc.task("a", 3)), "allowed", old=vc.job(vc.task("a", 2))),
    Claim("vcjob", "`spec.priorityClassName`", vc.job(vc.task("a"), priorityClassName="b"), "allowed", old=vc.job(vc.task("a"), priorityClassName="a")),
    Claim("vcjob", "writes the `false` of a switch that was absent", vc.job(vc.task("a", template=vc.template(hostNetwork=False))), "denied spec", old=vc.job(vc.task("a"))),
    Claim("vcjob", "a job without `metadata.namespace`", vc.job(vc.task("a"), metadata={"name": "a"}), "allowed"),
    Claim("vcjob", 'null, `{}`, `[]` or `""` where it was absent', vc.job(vc.task("a"), policies=[], queue="default", volumes=None), "allowed", old=vc.job(vc.task("a"))),
    # MxJob
    Claim("mxjob", "`RuntimeId` is a warning", roles(*ROLES, RuntimeId="abcd"), "warned spec.RuntimeId"),
    Claim("mxjob", "Both at once are denied", roles(*ROLES, RuntimeId="abcd", runtimeId="abcd"), "denied spec.RuntimeId"),
    Claim("mxjob", "A port elsewhere is a warning", roles(ROLES[0], mx.role("SERVER", psRootPort=9000), ROLES[2]), "warned spec.replicaSpecs[1].psRootPort"),
    Claim("mxjob", "anything but `OnFailure` and `Never` is denied", mx.local(template=mx.template(restartPolicy="Always")), "denied spec.replicaSpecs[0].template.spec.restartPolicy"),
    Claim("mxjob", "missing roles in the order", roles(mx.role("WORKER")), "denied spec.replicaSpecs"),
    Claim("mxjob", "`local` or `dist`, in the schema", mx.job("other", mx.role("WORKER")), "denied spec.jobMode"),
    Claim("mxjob", "Denied with its index", mx.job("dist", *ROLES, None), "denied spec.replicaSpecs[3]"),
    Claim("mxjob", "One element a role", roles(*ROLES, mx.role("SERVER")), "denied spec.replicaSpecs[3]"),
    Claim("mxjob", "Exactly one WORKER, `replicas: 1`", mx.local(replicas=2), "denied spec.replicaSpecs[0].replicas"),
    Claim("mxjob", "`replicas` ≥ 1", roles(ROLES[0], ROLES[1], mx.role("WORKER", replicas=0)), "denied spec.replicaSpecs[2].replicas"),
    Claim("mxjob", "the port 1 to 65535", roles(mx.role("SCHEDULER", psRootPort=0), *ROLES[1:]), "denied spec.replicaSpecs[0].psRootPort"),
    Claim("mxjob", "A second scheduler replica", roles(mx.role("SCHEDULER", replicas=2), *ROLES[1:]), "denied spec.replicaSpecs[0].replicas"),
    Claim("mxjob", "has at most 63 characters up to the largest index", mx.dist(name="a" * 60), "denied metadata.name"),
    Claim("mxjob", "the name has no dots", mx.dist(name="a.b"), "denied metadata.name"),
    Claim("mxjob", "labels of batch Jobs", mx.local(template={**mx.template(), "metadata": {"labels": {"job-name": "a"}}}), "denied spec.replicaSpecs[0].template.metadata.labels[job-name]"),
    Claim("mxjob", "Fields that came after Kubernetes 1.21", mx.local(template=mx.template(hostUsers=False)), "denied spec.replicaSpecs[0].template.spec.hostUsers"),
    Claim("mxjob", "Edits of a job", mx.local(**mx_container(image="b")), "denied spec.replicaSpecs", old=mx.local()),
    Claim("mxjob", "Writing one of them there is a warning", mx.dist(worker=mx_container(env=[{"name": "DMLC_ROLE", "value": "x"}])), "warned spec.replicaSpecs[2].template.spec.containers[0].env[0]"),
    Claim("mxjob", "A warning on a distributed job whose container", mx.dist(worker=mx_container(env=[{"name": "A", "value": "x"}])), "warned spec.replicaSpecs[2].template.spec.containers[0].env"),
    Claim("mxjob", "operator-can: [mxjobs/env]", mx.dist(worker=mx_container(env=[{"name": "A", "value": "x"}])), "allowed", operator_can=("mxjobs/env",)),
    Claim("mxjob", "Of two WORKER elements in a local job", mx.job("local", mx.role("WORKER"), mx.role("WORKER")), "denied spec.replicaSpecs[1]"),
    # TorchJob
    Claim("torchjob", "the canonical spelling", torch.job(clenPodPolicy="All"), "warned spec.clenPodPolicy"),
    Claim("torchjob", "torch-on-k8s does not read them", torch.job(cleanPodPolicy="All"), "warned spec.cleanPodPolicy"),
    Claim("torchjob", "--operator-can torchjobs/canonical-spellings", torch.job(cleanPodPolicy="All"), "allowed", operator_can=("torchjobs/canonical-spellings",)),
    Claim("torchjob", "`None`, `Running`, `All`", torch.job(cleanPodPolicy="Some"), "denied spec.cleanPodPolicy"),
    Claim("torchjob", "`restartPolicy`: `Always`, `OnFailure`, `ExitCode`, `Never`", torch.job(torch.tasks(worker=torch.task(1, restartPolicy="Some"))), "denied spec.torchTaskSpecs[Worker].restartPolicy"),
    Claim("torchjob", "`c10d`, `etcd`, `etcd-v2`, `static`", torch.job(**torch.elastic(rendezvousBackend="other")), "denied spec.torchElasticPolicy.rendezvousBackend"),
    Claim("torchjob", "`numTasks` ≥ 0", torch.job(torch.tasks(worker=torch.task(-1))), "denied spec.torchTaskSpecs[Worker].numTasks"),
    Claim("torchjob", "both spellings of one", torch.job(cleanPodPolicy="All", clenPodPolicy="All"), "denied spec.clenPodPolicy"),
    Claim("torchjob", "--operator-can torchjobs/dependsOn", torch.job(torch.tasks(worker=torch.task(4, dependsOn=[{"dependsOn": "Master"}]))), "warned spec.torchTaskSpecs[Worker].dependsOn"),
    Claim("torchjob", "the same but for case are denied", torch.job(torch.tasks() | {"worker": torch.task(1)}), "denied spec.torchTaskSpecs"),
    Claim("torchjob", "`metadata` and `status` in it are a warning", torch.job(modelVersion={**MODEL, "metadata": {"name": "a"}}), "warned spec.modelVersion.metadata"),
    Claim("torchjob", "there is a Master, with one pod", torch.job({"Worker": torch.task(1)}), "denied spec.torchTaskSpecs"),
    Claim("torchjob", "with one pod", torch.job(torch.tasks(master=torch.task(2))), "denied spec.torchTaskSpecs[Master].numTasks"),
    Claim("torchjob", "no type but Master, Worker, AIMaster", torch.job(torch.tasks(Other=torch.task(1))), "denied spec.torchTaskSpecs[Other]"),
    Claim("torchjob", "a Worker has a pod", torch.job(torch.tasks(worker=torch.task(0))), "denied spec.torchTaskSpecs[Worker].numTasks"),
    Claim("torchjob", "have a container `torch`", torch.job(torch.tasks(worker=torch.task(1, template=torch.template(torch.container("other"))))), "denied spec.torchTaskSpecs[Worker].template.spec.containers"),
    Claim("torchjob", "begins with a letter", torch.job(name="1a"), "denied metadata.name"),
    Claim("torchjob", "never the Master", torch.job(torch.tasks(master=torch.task(1, spotTaskSpec={"numSpotTasks": 1}))), "denied spec.torchTaskSpecs[Master].spotTaskSpec"),
    Claim("torchjob", "`minMembers` are for Master or Worker", torch.job(minMembers={"Worker": 5}), "denied spec.minMembers[Worker]"),
    Claim("torchjob", "`dependsOn` names types that are there", torch.job(torch.tasks(worker=torch.task(4, dependsOn=[{"dependsOn": "AIMaster"}]))), "denied spec.torchTaskSpecs[Worker].dependsOn[0].dependsOn"),
    Claim("torchjob", "comes with a policy", torch.job(enableTorchElastic=True), "denied spec.torchElasticPolicy"),
    Claim("torchjob", "`numTasks` of the Worker is within the bounds", torch.job(torch.tasks(worker=torch.task(9)), **ELASTIC), "denied spec.torchTaskSpecs[Worker].numTasks"),
    Claim("torchjob", "distributed.io/enable-elastic-training", torch.job(annotations={"distributed.io/enable-elastic-training": "true"}, **ELASTIC), "denied spec.enableTorchElastic"),
    Claim("torchjob", "distributed.io/network-mode", torch.job(annotations={"distributed.io/network-mode": "other"}), "denied metadata.annotations[distributed.io/network-mode]"),
    Claim("torchjob", "a model version has a name", torch.job(modelVersion={"spec": {**MODEL["spec"], "modelName": ""}}), "denied spec.modelVersion.spec.modelName"),
    Claim("torchjob", "no volume `modelvolume`", torch.job(torch.tasks(worker=torch.task(1, template=torch.template(volumes=[{"name": "modelvolume", "emptyDir": {}}]))), modelVersion=MODEL), "denied spec.torchTaskSpecs[Worker].template.spec.volumes[0].name"),
    Claim("torchjob", "a template's `restartPolicy`", torch.job(torch.tasks(worker=torch.task(1, template=torch.template(restartPolicy="Always")))), "warned spec.torchTaskSpecs[Worker].template.spec.restartPolicy"),
    Claim("torchjob", "`MASTER_ADDR`", torch.job(torch.tasks(worker=torch.task(1, template=torch.template(torch.container(env=[{"name": "MASTER_ADDR", "value": "x"}]))))), "warned spec.torchTaskSpecs[Worker].template.spec.containers[0].env[0]"),
    Claim("torchjob", "a policy without `enableTorchElastic`", torch.job(torchElasticPolicy=ELASTIC["torchElasticPolicy"]), "warned spec.torchElasticPolicy"),
    Claim("torchjob", "`worker` in another case in an elastic job", torch.job({"Master": torch.task(), "worker": torch.task(4)}, **ELASTIC), "warned spec.torchTaskSpecs[worker]"),
    Claim("torchjob", "the annotation for elastic training", torch.job(annotations={"distributed.io/enable-elastic-training": "yes"}), "warned metadata.annotations[distributed.io/enable-elastic-training]"),
    Claim("torchjob", "an AIMaster of no pods", torch.job(torch.tasks(AIMaster=torch.task(0))), "warned spec.torchTaskSpecs[AIMaster].numTasks"),
    Claim("torchjob", "`numTasks` of the Worker", torch.job(torch.tasks(worker=torch.task(5))), "allowed", old=torch.job()),
    Claim("torchjob", "which torch-on-k8s does not have", torch.job(policies=[RESTART]), "warned spec.policies"),
    Claim("torchjob", "`dependsOn`, `policies` |", torch.job(), "allowed", old=torch.job(policies=[RESTART])),
    Claim("mxjob", "a warning, unless jobgate runs the job", mx.job("local", mx.role("WORKER", policies=[RESTART])), "warned spec.replicaSpecs[0].policies"),
    Claim("torchjob", "`numTasks` of the others", torch.job(torch.tasks(AIMaster=torch.task(2))), "denied spec.torchTaskSpecs[AIMaster].numTasks", old=torch.job(torch.tasks(AIMaster=torch.task(1)))),
    Claim("torchjob", "`restartPolicy` |", torch.job(torch.tasks(worker=torch.task(4, restartPolicy="Never"))), "denied spec.torchTaskSpecs[Worker].restartPolicy", old=torch.job()),
    Claim("torchjob", "`schedulingPolicy.queue`", torch.job(schedulingPolicy={"queue": "b"}), "denied spec.schedulingPolicy", old=torch.job(schedulingPolicy={"queue": "a"})),
    Claim("torchjob", "`modelVersion` |", torch.job(), "denied spec.modelVersion", old=torch.job(modelVersion=MODEL)),
    Claim("torchjob", "its rendezvous, `enableTorchElastic`", torch.job(**torch.elastic(rendezvousEndpoint="job-master-0:1")), "denied spec.torchElasticPolicy.rendezvousEndpoint", old=torch.job(**ELASTIC)),
    Claim("torchjob", "bounds and processes of `torchElasticPolicy`", torch.job(**torch.elastic(numMaxReplicas=6)), "allowed", old=torch.job(**ELASTIC)),
]  # fmt: skip


def judged(claim: Claim) -> Verdict:
    """Return the verdict on the claim's job."""
    settings = Settings(operator_can=frozenset(claim.operator_can))
    if claim.old is None:
        return judge(claim.job, ReviewOptions(KINDS, settings=settings))
    stored = {**judge(claim.old, ReviewOptions(KINDS)).document, "status": claim.old.get("status", {})}
    return judge(claim.job, ReviewOptions(KINDS, operation=Operation.UPDATE, stored=(stored,), settings=settings))


def outcomes(claim: Claim) -> list[str]:
    """Return each fault and each warning of the job, with its field."""
    verdict = judged(claim)
    causes = (verdict.status or {}).get("details", {}).get("causes", [])
    return [f"denied {cause.get('field', '')}" for cause in causes] + [f"warned {text}" for text in verdict.warnings]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.page}: {claim.text}")
def test_a_claim_is_on_its_page_and_holds(claim: Claim) -> None:
    words = " ".join((PAGES / f"{claim.page}.md").read_text(encoding="utf-8").split())
    assert claim.text in words
    reported = outcomes(claim)
    if claim.verdict == "silent":
        assert judged(claim).allowed
        assert reported == []
    elif claim.verdict == "allowed":
        assert judged(claim).allowed, reported
        # The setting removes the warning of its field.
        fields = [word.partition("/")[2] for word in claim.operator_can]
        assert not [text for text in reported for field in fields if f".{field}" in text]
    else:
        assert any(text.startswith(claim.verdict) for text in reported), reported
