"""What `kube` measures about itself, for the /metrics page; label sets are small on purpose.

What is counted with every write is looked up by its labels once: the library's own look-up costs as much as the rest.
"""

from functools import cache

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("quorate_api_requests_total", "Answers of the API server", ["verb", "resource", "code"])
REQUEST_SECONDS = Histogram(
    "quorate_api_request_seconds",
    "Time of one request, retries included",
    ["verb"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
RETRIES = Counter("quorate_api_retries_total", "Requests sent again", ["cause"])
WATCH_EVENTS = Counter("quorate_watch_events_total", "Events read from watches", ["resource"])
WATCH_RESTARTS = Counter(
    "quorate_watch_restarts_total", "Watches opened again, by cause", ["resource", "cause"]
)
WATCH_LAST_EVENT = Gauge(
    "quorate_watch_last_event_timestamp_seconds", "When a watch last spoke", ["resource"]
)
CACHE_OBJECTS = Gauge("quorate_cache_objects", "Objects kept", ["resource"])
UNREADABLE = Counter("quorate_unreadable_objects_total", "Objects that did not decode", ["resource"])
WRITES = Counter("quorate_writes_total", "Changes written", ["change", "outcome"])
QUEUE_DEPTH = Gauge("quorate_queue_depth", "Keys waiting", ["controller"])
QUEUE_RETRIES = Counter("quorate_queue_retries_total", "Keys put back after a failure", ["controller"])
LEADER = Gauge("quorate_leader", "1 while this process leads", ["lease"])
ADMISSIONS = Counter("quorate_admission_reviews_total", "Admission reviews answered", ["path", "verdict"])
EVENTS_DROPPED = Counter("quorate_events_dropped_total", "Events withheld by the rate bound")


@cache
def requests(verb: str, resource: str, code: int) -> Counter:
    return REQUESTS.labels(verb, resource, code)


@cache
def request_seconds(verb: str) -> Histogram:
    return REQUEST_SECONDS.labels(verb)


@cache
def writes(change: str, outcome: str) -> Counter:
    return WRITES.labels(change, outcome)
