"""What built-in admission adds to pods and refuses in them: service account, priority, default tolerations.

`PodAdmission` follows the priority classes of the store, so that a pod costs no search.
"""

from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded.admissionrequest import Request
from quorate.embedded.store import Event, Key, Store

SCHEDULING = "scheduling.k8s.io"
_CLASSES = "priorityclasses"
_POLICY = "PreemptLowerPriority"
_DEFAULT_ACCOUNT = "default"
_NOT_READY, _UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_SECONDS = 300


class _Priority(NamedTuple):
    name: str
    value: int
    policy: str


_NO_CLASS = _Priority("", 0, _POLICY)


class PodAdmission:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._default: _Priority | None = None
        store.on_event(self._observe)

    def _observe(self, event: Event) -> None:
        if event.key.plural == _CLASSES and event.key.group == SCHEDULING:
            self._default = None

    def default_class(self) -> str:
        """The name of the class that is the global default, or nothing."""
        return self._default_priority().name

    def admit(self, request: Request) -> None:
        """Complete a pod in place; raise what speaks against it."""
        assert request.obj is not None, "pods are admitted on create and update"
        spec = request.obj["spec"]
        if request.operation == "CREATE":
            self._give_account(request, spec)
            self._give_priority(request, spec)
        elif request.old is not None:
            for field in ("priority", "preemptionPolicy"):
                if spec.get(field) is None and request.old["spec"].get(field) is not None:
                    spec[field] = request.old["spec"][field]
        _tolerate_failures(spec)

    def _give_account(self, request: Request, spec: Json) -> None:
        name = spec.get("serviceAccountName") or _DEFAULT_ACCOUNT
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = self._store.get(Key("", "serviceaccounts", request.namespace, name))
        if account is None:
            # The default account of a new namespace is made a moment after it; pods need not wait for that.
            if name == _DEFAULT_ACCOUNT:
                return
            where = f"{request.namespace}/{name}"
            raise request.forbidden(
                f'error looking up service account {where}: serviceaccount "{name}" not found'
            )
        if account.get("imagePullSecrets") and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [dict(one) for one in account["imagePullSecrets"]]

    def _give_priority(self, request: Request, spec: Json) -> None:
        wanted = spec.get("priorityClassName")
        priority = self._named(request, wanted) if wanted else self._default_priority()
        if priority.name:
            spec["priorityClassName"] = priority.name
        number = spec.get("priority")
        if number is not None and number != priority.value:
            raise request.forbidden(
                f"the integer value of priority ({number}) must not be provided in pod spec; "
                f"priority admission controller computed {priority.value} from the given PriorityClass name"
            )
        policy = spec.get("preemptionPolicy")
        if policy and policy != priority.policy:
            raise request.forbidden(
                f"the string value of PreemptionPolicy ({policy}) must not be provided in pod spec; "
                f"priority admission controller computed {priority.policy} from the given PriorityClass name"
            )
        spec["priority"] = priority.value
        spec["preemptionPolicy"] = priority.policy

    def _named(self, request: Request, name: str) -> _Priority:
        found = self._store.get(Key(SCHEDULING, _CLASSES, "", name))
        if found is None:
            raise request.forbidden(f"no PriorityClass with name {name} was found")
        return _priority(found)

    def _default_priority(self) -> _Priority:
        if self._default is None:
            defaults = [one for one in self._store.list(SCHEDULING, _CLASSES) if one.get("globalDefault")]
            # Of several defaults, which a race can make, the lowest holds.
            lowest = min(defaults, key=lambda one: one.get("value", 0), default=None)
            self._default = _priority(lowest) if lowest is not None else _NO_CLASS
        return self._default


def _priority(found: Json) -> _Priority:
    return _Priority(
        found["metadata"]["name"], found.get("value", 0), found.get("preemptionPolicy") or _POLICY
    )


def _tolerate_failures(spec: Json) -> None:
    tolerations = spec.get("tolerations") or []
    missing = [
        key for key in (_NOT_READY, _UNREACHABLE) if not any(_tolerates(one, key) for one in tolerations)
    ]
    if missing:
        spec["tolerations"] = [
            *tolerations,
            *(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
                for key in missing
            ),
        ]


def _tolerates(toleration: Json, key: str) -> bool:
    same_key = toleration.get("key", "") in {key, ""}
    return same_key and toleration.get("effect", "") in {"NoExecute", ""}
