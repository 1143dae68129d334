from jobgate.podchecks import containers, probes
from tests.podchecks.builder import INIT, MAIN, case, container, of_container, pod, sidecar
from tests.podchecks.verdict import Case, judged

RULES = "restartPolicyRules"
EXIT = {"operator": "In", "values": [42]}

CASES: list[Case] = [
    case("one container is enough", pod()),
    case("there is at least one", pod(containers=[]), "spec.containers: Required value"),
    case("a name is needed", pod(container("")), f"{MAIN}.name: Required value"),
    case("a name of 63 characters is a label", pod(container("a" * 63))),
    case("one of 64 is none", pod(container("a" * 64)), f"{MAIN}.name: Invalid value"),
    case("nor is one with capitals", pod(container("Main")), f'{MAIN}.name: Invalid value: "Main": must consist of'),
    case(
        "two containers do not share a name",
        pod(container("a"), container("a")),
        'spec.containers[1].name: Duplicate value: "a"',
    ),
    case(
        "nor does an init container with another",
        pod(container("a"), init=[container("a")]),
        f'{INIT}.name: Duplicate value: "a"',
    ),
    case("an image is needed", pod(container(image="")), f"{MAIN}.image: Required value"),
    case("by init containers too", pod(init=[{"name": "init"}]), f"{INIT}.image: Required value"),
    case(
        "white space around it is a slip", pod(container(image="busybox ")), f'{MAIN}.image: Invalid value: "busybox "'
    ),
    case("white space in it is not judged here", pod(container(image="busy box"))),
    of_container("a pull policy is one of three", {"imagePullPolicy": "Never"}),
    of_container("an empty one is the default", {"imagePullPolicy": ""}),
    of_container("no other is known", {"imagePullPolicy": "never"}, 'imagePullPolicy: Unsupported value: "never"'),
    of_container("termination messages come from the logs too", {"terminationMessagePolicy": "FallbackToLogsOnError"}),
    of_container(
        "but from nowhere else",
        {"terminationMessagePolicy": "Logs"},
        'terminationMessagePolicy: Unsupported value: "Logs"',
    ),
    of_container("a container may have a restart policy", {"restartPolicy": "OnFailure"}),
    of_container("one that is known", {"restartPolicy": "Sometimes"}, 'restartPolicy: Unsupported value: "Sometimes"'),
    of_container("and not an empty one", {"restartPolicy": ""}, 'restartPolicy: Unsupported value: ""'),
    of_container("rules by exit code", {"restartPolicy": "Never", RULES: [{"action": "Restart", "exitCodes": EXIT}]}),
    of_container(
        "a rule may restart all",
        {"restartPolicy": "Never", RULES: [{"action": "RestartAllContainers", "exitCodes": EXIT}]},
    ),
    of_container(
        "rules need a policy beside them",
        {RULES: [{"action": "Restart", "exitCodes": EXIT}]},
        "restartPolicy: Required value: must be set when restartPolicyRules is set",
    ),
    case(
        "no ephemeral container is created with its pod",
        pod(ephemeralContainers=[container("debug", terminationMessagePolicy="File", imagePullPolicy="Always")]),
        "spec.ephemeralContainers: Forbidden",
    ),
]

INIT_CASES: list[Case] = [
    case("a plain init container is fine", pod(init=[container("init")])),
    case(
        "it has no hooks",
        pod(init=[container("init", lifecycle={"preStop": {"exec": {"command": ["true"]}}})]),
        f"{INIT}.lifecycle: Forbidden",
    ),
    case(
        "nor probes of any sort",
        pod(
            init=[
                container(
                    "init",
                    livenessProbe={"tcpSocket": {"port": 80}},
                    readinessProbe={"tcpSocket": {"port": 80}},
                    startupProbe={"tcpSocket": {"port": 80}},
                )
            ]
        ),
        f"{INIT}.livenessProbe: Forbidden",
        f"{INIT}.readinessProbe: Forbidden",
        f"{INIT}.startupProbe: Forbidden",
    ),
    case(
        "a restart policy other than Always makes no sidecar",
        pod(init=[container("init", restartPolicy="OnFailure", startupProbe={"tcpSocket": {"port": 80}})]),
        f"{INIT}.startupProbe: Forbidden",
    ),
    case("a sidecar may have probes", pod(init=[sidecar(startupProbe={"tcpSocket": {"port": 80}})])),
    case("and hooks", pod(init=[sidecar(lifecycle={"preStop": {"exec": {"command": ["true"]}}})])),
    case(
        "a stop signal alone is dropped by the server",
        pod(init=[container("init", lifecycle={"stopSignal": "SIGUSR1"})]),
    ),
    case(
        "an empty lifecycle is one all the same", pod(init=[container("init", lifecycle={})]), f"{INIT}.lifecycle: Forb"
    ),
]


test_containers = judged(containers.FAMILY.check, CASES)
test_init_containers = judged(probes.FAMILY.check, INIT_CASES)
