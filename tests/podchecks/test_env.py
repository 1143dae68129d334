from jobgate.podchecks import env
from tests.podchecks.builder import container, of_container, pod
from tests.podchecks.verdict import Case, findings, judged

FROM = "env[0].valueFrom"


def variable(source: object, *expected: str, sentence: str, **fields: object) -> Case:
    """Return a row about the source of one variable."""
    return of_container(
        sentence,
        {"env": [{"name": "A", "valueFrom": source, **fields}]},
        *(f"{FROM}{begins}" for begins in expected),
    )


def field(path: str, *expected: str, sentence: str) -> Case:
    return variable({"fieldRef": {"fieldPath": path}}, *expected, sentence=sentence)


def resource(name: str, divisor: object, *expected: str, sentence: str) -> Case:
    return variable({"resourceFieldRef": {"resource": name, "divisor": divisor}}, *expected, sentence=sentence)


CASES: list[Case] = [
    of_container("a variable has a name and a value", {"env": [{"name": "A", "value": "b"}, {"name": "B"}]}),
    of_container("names repeat as they like", {"env": [{"name": "A"}, {"name": "A"}]}),
    of_container("a name may be anything printable", {"env": [{"name": "0 my-name!"}]}),
    of_container("but =", {"env": [{"name": "A=B"}]}, 'env[0].name: Invalid value: "A=B"'),
    of_container("and not empty", {"env": [{"name": ""}]}, "env[0].name: Required value"),
    of_container("nor of other letters", {"env": [{"name": "é"}]}, 'env[0].name: Invalid value: "é"'),
    variable({}, ": Required value", sentence="a source is one of five"),
    variable(
        {"fieldRef": {"fieldPath": "metadata.name"}, "secretKeyRef": {"name": "s", "key": "k"}},
        ": Forbidden",
        sentence="and not two of them",
    ),
    variable(
        {"secretKeyRef": {"name": "s", "key": "k"}},
        ": Forbidden: may not be set together with value: remove one of them",
        sentence="nor beside a value",
        value="x",
    ),
    variable({"secretKeyRef": {"name": "s", "key": "k"}}, sentence="an empty value is none", value=""),
    field("metadata.name", sentence="a pod may learn its name"),
    field("metadata.labels['example.com/team']", sentence="a label of its own"),
    field("metadata.annotations['Example.com/Team']", sentence="an annotation, in any case"),
    field("spec.host", sentence="its node, by an old word"),
    field("metadata.labels['Example.com/Team']", ".fieldRef.fieldPath: Invalid value", sentence="labels have one case"),
    field("metadata.labels", ".fieldRef.fieldPath: Unsupported value", sentence="not all of its labels"),
    field("status.phase", ".fieldRef.fieldPath: Unsupported value", sentence="nor its phase"),
    field("", ".fieldRef.fieldPath: Required value", sentence="a field is needed"),
    field("spec.nodeName['a']", ".fieldRef.fieldPath: Invalid value", sentence="only maps have entries"),
    field("['a']", ".fieldRef.fieldPath: Unsupported value", sentence="an entry is of a map"),
    variable(
        {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}},
        ".fieldRef.apiVersion: Unsupported value",
        sentence="the field is of v1",
    ),
    resource("limits.cpu", "1m", sentence="a limit in thousandths"),
    resource("limits.cpu", "1000m", sentence="a divisor is read as Kubernetes writes it"),
    resource("limits.memory", "1Mi", sentence="memory in MiB"),
    resource("limits.memory", "1024Ki", sentence="or in as many KiB"),
    resource("limits.memory", "1000", sentence="but in 1000, which is 1k"),
    resource("limits.memory", "0", sentence="zero is the default"),
    resource("limits.memory", 1, sentence="a number will do"),
    resource("requests.hugepages-2Mi", "1Mi", sentence="huge pages of any size"),
    resource(
        "limits.nvidia.com/gpu", 0, ".resourceFieldRef.resource: Unsupported", sentence="devices cannot be learnt"
    ),
    resource("", 0, ".resourceFieldRef.resource: Required value", sentence="a resource is needed"),
    variable({"configMapKeyRef": {"name": "c", "key": "a.b"}}, sentence="a key of a ConfigMap"),
    variable(
        {"configMapKeyRef": {"name": "C", "key": "a b"}},
        '.configMapKeyRef.name: Invalid value: "C"',
        '.configMapKeyRef.key: Invalid value: "a b"',
        sentence="both legal",
    ),
    variable(
        {"secretKeyRef": {}},
        ".secretKeyRef.name: Required value",
        ".secretKeyRef.key: Required value",
        sentence="both given",
    ),
    of_container("variables in bulk", {"envFrom": [{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "s"}}]}),
    of_container("with a prefix", {"envFrom": [{"prefix": "0-", "secretRef": {"name": "s"}}]}),
    of_container("that is legal", {"envFrom": [{"prefix": "=", "secretRef": {"name": "s"}}]}, "envFrom[0].prefix: Inv"),
    of_container("from somewhere", {"envFrom": [{}]}, "envFrom[0]: Required value"),
    of_container(
        "from one place",
        {"envFrom": [{"configMapRef": {"name": "c"}, "secretRef": {"name": "s"}}]},
        "envFrom[0]: Forbidden",
    ),
    of_container("which has a name", {"envFrom": [{"secretRef": {}}]}, "envFrom[0].secretRef.name: Required value"),
    of_container("that may end with a dash", {"envFrom": [{"secretRef": {"name": "s-"}}]}),
    of_container(
        "but not begin so", {"envFrom": [{"secretRef": {"name": "-s"}}]}, "envFrom[0].secretRef.name: Invalid"
    ),
]


test_env = judged(env.FAMILY.check, CASES)


def test_no_finding_shows_a_value() -> None:
    secret = "hunter2"
    source = {"secretKeyRef": {"name": "S", "key": "="}}
    result = findings(env.FAMILY.check, pod(container(env=[{"name": "=", "value": secret, "valueFrom": source}])))
    assert len(result) == 4
    assert not any(secret in finding for finding in result)
