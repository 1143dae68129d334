"""What is counted of requests."""

import pytest

from webhook import Response
from webhook.server.metrics import TOGETHER, Metrics


@pytest.mark.parametrize("answers", [1, TOGETHER - 1, TOGETHER, 2 * TOGETHER + 3])
def test_all_answers_are_counted_whenever_the_metrics_are_read(answers: int) -> None:
    metrics = Metrics()
    route = metrics.route("/mutate", "crews", "mutate")
    for _ in range(answers):
        route.reviewed("patched", Response("u", patch=[{"op": "add"}, {"op": "add"}]))
        route.answered(200, 0.004, late=False)
    route.answered(429, 0.1, late=True)
    counted = {
        name: metrics.registry.get_sample_value(name, labels)
        for name, labels in (
            ("controller_runtime_webhook_requests_total", {"webhook": "/mutate", "code": "200"}),
            ("controller_runtime_webhook_latency_seconds_count", {"webhook": "/mutate"}),
            ("jobgate_reviews_total", {"kind": "crews", "phase": "mutate", "verdict": "patched"}),
            ("jobgate_patch_operations_total", {"kind": "crews"}),
            ("jobgate_deadline_exceeded_total", {"webhook": "/mutate"}),
        )
    }
    assert list(counted.values()) == [answers, answers + 1, answers, 2 * answers, 1]


def test_what_was_counted_is_not_counted_again() -> None:
    metrics = Metrics()
    metrics.route("/mutate", "crews", "mutate").answered(200, 0.004, late=False)
    assert metrics.exposition() == metrics.exposition()
