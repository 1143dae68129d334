from jobgate.podchecks import host
from tests.podchecks.verdict import Case, judged, pod

AT = "spec.dnsConfig"

CASES: list[Case] = [
    ("an empty policy is the default", pod({"dnsPolicy": ""}), []),
    ("a policy is one of four", pod({"dnsPolicy": "ClusterFirstWithHostNet"}), []),
    ("and no other", pod({"dnsPolicy": "Cluster"}), ['spec.dnsPolicy: Unsupported value: "Cluster"']),
    ("None needs a configuration", pod({"dnsPolicy": "None"}), [f"{AT}: Required value"]),
    ("with a nameserver", pod({"dnsPolicy": "None", "dnsConfig": {}}), [f"{AT}.nameservers: Required value"]),
    ("and then is fine", pod({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.10"]}}), []),
    ("three nameservers are the most", pod({"dnsConfig": {"nameservers": ["10.0.0.1", "10.0.0.2", "::1"]}}), []),
    (
        "four are too many",
        pod({"dnsConfig": {"nameservers": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]}}),
        [f"{AT}.nameservers: Invalid value: "],
    ),
    (
        "a nameserver is an address",
        pod({"dnsConfig": {"nameservers": ["dns.local", "::ffff:1.2.3.4"]}}),
        [
            f'{AT}.nameservers[0]: Invalid value: "dns.local": must be an IP address',
            f'{AT}.nameservers[1]: Invalid value: "::ffff:1.2.3.4": must be the plain IPv4 address',
        ],
    ),
    ("32 searches are the most", pod({"dnsConfig": {"searches": [f"s{i}.local" for i in range(32)]}}), []),
    (
        "33 are too many",
        pod({"dnsConfig": {"searches": [f"s{i}" for i in range(33)]}}),
        [f"{AT}.searches: Invalid value"],
    ),
    (
        "2048 characters are the most",
        pod({"dnsConfig": {"searches": ["a" * 204] * 9 + ["a" * 203]}}),
        [],
    ),
    (
        "2049 are too many",
        pod({"dnsConfig": {"searches": ["a" * 204] * 10}}),
        [f"{AT}.searches: Invalid value"],
    ),
    (
        "a search may end in a dot, have underscores, or be the root",
        pod({"dnsConfig": {"searches": ["a_b.c.", "_x.y", "."]}}),
        [],
    ),
    ("it is lower case", pod({"dnsConfig": {"searches": ["A.b"]}}), [f'{AT}.searches[0]: Invalid value: "A.b"']),
    ("and not empty", pod({"dnsConfig": {"searches": [""]}}), [f'{AT}.searches[0]: Invalid value: ""']),
    (
        "one dot at the end is enough",
        pod({"dnsConfig": {"searches": ["a.."]}}),
        [f'{AT}.searches[0]: Invalid value: "a.."'],
    ),
    ("options have names", pod({"dnsConfig": {"options": [{"name": "ndots", "value": "5"}, {"name": "edns0"}]}}), []),
    (
        "all of them",
        pod({"dnsConfig": {"options": [{"name": "ndots"}, {"value": "5"}]}}),
        [f"{AT}.options[1].name: Required value"],
    ),
]


test_a_pod_can_resolve_names = judged(host.FAMILY.check, CASES)
