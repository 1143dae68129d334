"""What is counted of requests."""

from webhook import Response
from webhook.server.metrics import Metrics, RouteMetrics


def test_answers_are_counted_by_what_came_of_them_and_how_long_they_took() -> None:
    metrics = Metrics()
    RouteMetrics(metrics, "/validate", "crews", "validate").reviewed("allowed", Response("u"))
    route = RouteMetrics(metrics, "/mutate", "crews", "mutate")
    for _ in range(3):
        route.reviewed("patched", Response("u", patch=[{"op": "add"}, {"op": "add"}]))
        route.answered(200, 0.005, late=False)
    route.answered(429, 60, late=True)
    counted = [
        metrics.registry.get_sample_value(name, labels)
        for name, labels in (
            ("controller_runtime_webhook_requests_total", {"webhook": "/mutate", "code": "200"}),
            ("controller_runtime_webhook_latency_seconds_count", {"webhook": "/mutate"}),
            ("controller_runtime_webhook_latency_seconds_sum", {"webhook": "/mutate"}),
            ("controller_runtime_webhook_latency_seconds_bucket", {"webhook": "/mutate", "le": "0.0025"}),
            ("controller_runtime_webhook_latency_seconds_bucket", {"webhook": "/mutate", "le": "0.005"}),
            ("controller_runtime_webhook_latency_seconds_bucket", {"webhook": "/mutate", "le": "10.0"}),
            ("webhook_reviews_total", {"kind": "crews", "phase": "mutate", "verdict": "patched"}),
            ("webhook_patch_operations_total", {"kind": "crews"}),
            ("webhook_deadline_exceeded_total", {"webhook": "/mutate"}),
        )
    ]
    assert counted == [3, 4, 60.015, 0, 3, 3, 3, 6, 1]


def test_what_was_counted_is_not_counted_again() -> None:
    metrics = Metrics()
    RouteMetrics(metrics, "/mutate", "crews", "mutate").answered(200, 0.004, late=False)
    assert metrics.exposition() == metrics.exposition()
