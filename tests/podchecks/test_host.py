from jobgate.podchecks import host
from tests.podchecks.verdict import Case, judged, pod

CASES: list[Case] = [
    ("an empty pod is valid", pod(), []),
    ("host namespaces may all be shared", pod({"hostNetwork": True, "hostPID": True, "hostIPC": True}), []),
    ("a pod may have users of its own", pod({"hostUsers": False, "hostNetwork": False}), []),
    (
        "but then shares no namespace with its host",
        pod({"hostUsers": False, "hostNetwork": True, "hostPID": True, "hostIPC": True}),
        [
            f"spec.{field}: Forbidden: may not be true when hostUsers is false"
            for field in ("hostNetwork", "hostPID", "hostIPC")
        ],
    ),
    ("processes may be shared among containers", pod({"shareProcessNamespace": True, "hostPID": False}), []),
    (
        "but not with the host too",
        pod({"shareProcessNamespace": True, "hostPID": True}),
        ["spec.shareProcessNamespace: Invalid value: true: may not be true when hostPID is true"],
    ),
    ("an empty hostname is none", pod({"hostname": "", "subdomain": None}), []),
    (
        "hostname and subdomain are labels",
        pod({"hostname": "a.b", "subdomain": "A"}),
        ['spec.hostname: Invalid value: "a.b"', 'spec.subdomain: Invalid value: "A"'],
    ),
    ("a name may be overridden by a domain", pod({"hostnameOverride": "a.b", "setHostnameAsFQDN": False}), []),
    ("not by an empty one", pod({"hostnameOverride": ""}), ['spec.hostnameOverride: Invalid value: ""']),
    ("64 characters are not too many", pod({"hostnameOverride": "a" * 64}), []),
    (
        "hosts have addresses and names",
        pod({"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db.local"]}, {"ip": "fd00::1"}]}),
        [],
    ),
    (
        "that can be",
        pod({"hostAliases": [{"ip": "10.0.0.01", "hostnames": ["ok", "not_ok"]}, {"ip": ""}]}),
        [
            'spec.hostAliases[0].ip: Invalid value: "10.0.0.01"',
            'spec.hostAliases[0].hostnames[1]: Invalid value: "not_ok"',
            'spec.hostAliases[1].ip: Invalid value: ""',
        ],
    ),
    ("one address may come twice", pod({"hostAliases": [{"ip": "::1"}, {"ip": "::1"}]}), []),
    ("a pod may be put on a node", pod({"nodeName": "node-1.example"}), []),
    ("by a name that a node can have", pod({"nodeName": "Node"}), ['spec.nodeName: Invalid value: "Node"']),
    (
        "but not before its gates are gone",
        pod({"nodeName": "node", "schedulingGates": [{"name": "quota"}]}),
        ["spec.nodeName: Forbidden: may not be set while the pod has schedulingGates"],
    ),
]


test_a_pod_and_its_host_get_along = judged(host.FAMILY.check, CASES)
