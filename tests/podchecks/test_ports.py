from jobgate.podchecks import containers
from tests.podchecks.builder import INIT, MAIN, case, container, of_container, pod, sidecar
from tests.podchecks.verdict import Case, judged


def of_port(sentence: str, port: dict[str, object], *expected: str) -> Case:
    """Return a row about one port."""
    return of_container(sentence, {"ports": [port]}, *(f"ports[0].{begins}" for begins in expected))


def listening(container_name: str, *numbers: int, **fields: object) -> dict[str, object]:
    return container(container_name, ports=[{"containerPort": number, **fields} for number in numbers])


CASES: list[Case] = [
    of_port("a port is a number", {"containerPort": 80}),
    of_port("with a name", {"containerPort": 80, "name": "http-2"}),
    of_port("of at most 15 characters", {"containerPort": 80, "name": "a" * 16}, "name: Invalid value"),
    of_port("with a letter in it", {"containerPort": 80, "name": "8080"}, 'name: Invalid value: "8080"'),
    of_port("and no two dashes", {"containerPort": 80, "name": "a--b"}, 'name: Invalid value: "a--b"'),
    of_port("0 is no port", {"containerPort": 0}, "containerPort: Invalid value: 0"),
    of_port("65535 is the last", {"containerPort": 65535}),
    of_port("65536 is none", {"containerPort": 65536}, "containerPort: Invalid value: 65536"),
    of_port("nor is -1 one of the host", {"containerPort": 80, "hostPort": -1}, "hostPort: Invalid value: -1"),
    of_port("a host port of 0 is none", {"containerPort": 80, "hostPort": 0}),
    of_port("the protocol is TCP, UDP or SCTP", {"containerPort": 80, "protocol": "SCTP"}),
    of_port("an empty one is TCP", {"containerPort": 80, "protocol": ""}),
    of_port("no other is known", {"containerPort": 80, "protocol": "tcp"}, 'protocol: Unsupported value: "tcp"'),
    of_container(
        "two ports of a container do not share a name",
        {"ports": [{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}]},
        'ports[1].name: Duplicate value: "a"',
    ),
    of_container("they may share a number", {"ports": [{"containerPort": 80}, {"containerPort": 80}]}),
    case(
        "ports of two containers may share a name",
        pod(listening("a", 80, name="http"), listening("b", 81, name="http")),
    ),
    case(
        "but not a port of the host",
        pod(listening("a", 80, hostPort=8080), listening("b", 81, hostPort=8080)),
        "spec.containers[1].ports[0].hostPort: Duplicate value: 8080",
    ),
    case(
        "unless the protocol differs",
        pod(listening("a", 80, hostPort=8080), listening("b", 81, hostPort=8080, protocol="UDP")),
    ),
    case(
        "TCP is the same, given or not",
        pod(listening("a", 80, hostPort=8080, protocol="TCP"), listening("b", 81, hostPort=8080)),
        "spec.containers[1].ports[0].hostPort: Duplicate value: 8080",
    ),
    case(
        "or the address does",
        pod(listening("a", 80, hostPort=8080, hostIP="10.0.0.1"), listening("b", 81, hostPort=8080)),
    ),
    case(
        "init containers run one by one",
        pod(listening("a", 80, hostPort=8080), init=[listening("b", 80, hostPort=8080), sidecar()]),
    ),
    case(
        "but one must not be in its own way",
        pod(init=[listening("b", 80, 81, hostPort=8080)]),
        f"{INIT}.ports[1].hostPort: Duplicate value: 8080",
    ),
    case(
        "on the host's network a port is the host's",
        pod(listening("a", 80), listening("b", 80), hostNetwork=True),
        "spec.containers[1].ports[0].containerPort: Duplicate value: 80",
    ),
    case(
        "and the same there",
        pod(listening("a", 80, hostPort=8080), hostNetwork=True),
        f"{MAIN}.ports[0].hostPort: Invalid value: 8080: must be 80, the containerPort",
    ),
    case("which is not asked of init containers", pod(init=[listening("a", 80, hostPort=8080)], hostNetwork=True)),
]


test_ports = judged(containers.FAMILY.check, CASES)
