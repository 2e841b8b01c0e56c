"""Admission: what may be written, and what is added to it, before an object is checked and stored.

1. `mutate` runs the built-in plug-ins, then the mutating webhooks one after the other.
2. The API server validates what came out; then `validate` asks all validating webhooks at once.
3. A request that no webhook matches costs one look-up in each phase.

The API server calls both phases for create, update, delete and connect, subresources included.
"""

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.admissionrequest import Request
from quorate.embedded.clusterips import ServiceAddresses
from quorate.embedded.errors import ApiError
from quorate.embedded.podadmission import PodAdmission
from quorate.embedded.registry import Registry, Resource
from quorate.embedded.store import Key, Store
from quorate.embedded.webhooks import Webhooks

_IMMORTAL = frozenset(("default", "kube-system", "kube-public"))
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_NAMESPACES = Resource("", "v1", "Namespace", "namespaces", "namespace", namespaced=False)


class Admission:
    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._pods = PodAdmission(store)
        self._addresses = ServiceAddresses(store)
        self.webhooks = Webhooks(store, registry)

    async def mutate(self, request: Request) -> Json | None:
        """The object to go on with: completed by the plug-ins and changed by the webhooks."""
        self._plug_ins(request)
        return await self.webhooks.mutate(request, self._plug_ins)

    async def validate(self, request: Request) -> None:
        """Raise the refusal of a validating webhook."""
        await self.webhooks.validate(request)

    async def close(self) -> None:
        await self.webhooks.close()

    def _plug_ins(self, request: Request) -> None:
        resource = request.resource
        if request.operation == "DELETE":
            if resource.kind == "Namespace" and not resource.group and request.name in _IMMORTAL:
                raise request.forbidden("this namespace may not be deleted")
            return
        if request.operation == "CREATE" and resource.namespaced:
            self._check_namespace(request)
        if request.subresource or resource.definition is not None:
            return
        match resource.group, resource.kind:
            case "", "Pod":
                self._pods.admit(request)
            case "", "Service":
                self._give_addresses(request)
            case "", "Node":
                _taint_unregistered(request)
            case "", "PersistentVolumeClaim":
                self._give_storage_class(request)
            case "scheduling.k8s.io", "PriorityClass":
                self._check_default_class(request)

    def _check_namespace(self, request: Request) -> None:
        """Nothing is created in a namespace that is missing or on its way out."""
        namespace = self._store.get(Key("", "namespaces", "", request.namespace))
        if namespace is None:
            raise errors.not_found(_NAMESPACES, request.namespace)
        if (namespace.get("status") or {}).get("phase") == "Terminating" or namespace["metadata"].get(
            "deletionTimestamp"
        ):
            raise _terminating(request)

    def _give_addresses(self, request: Request) -> None:
        if request.obj is None:
            return
        found = self._addresses.assign(request.obj, request.old)
        if found:
            raise errors.invalid(request.resource, request.name, found)

    def _give_storage_class(self, request: Request) -> None:
        if request.operation != "CREATE" or request.obj is None:
            return
        spec = request.obj["spec"]
        if spec.get("storageClassName") is not None:
            return
        classes = [
            one
            for one in self._store.list("storage.k8s.io", "storageclasses")
            if (one["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
        ]
        # Of several defaults the newest holds, then the first by name.
        classes.sort(key=lambda one: one["metadata"]["name"])
        newest = max(classes, key=lambda one: one["metadata"].get("creationTimestamp") or "", default=None)
        if newest is not None:
            spec["storageClassName"] = newest["metadata"]["name"]

    def _check_default_class(self, request: Request) -> None:
        if request.obj is None or not request.obj.get("globalDefault"):
            return
        other = self._pods.default_class()
        if other and other != request.obj["metadata"].get("name"):
            why = f"PriorityClass {other} is already marked as default. Only one default can exist"
            raise request.forbidden(why)


def _terminating(request: Request) -> ApiError:
    namespace = request.namespace
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = request.forbidden(why)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    error.status["details"]["causes"] = [cause]
    return error


def _taint_unregistered(request: Request) -> None:
    """A new node is not ready; one that has told what it offers gets a kubelet of ours, and is so at once."""
    if request.operation != "CREATE" or request.obj is None:
        return
    if (request.obj.get("status") or {}).get("allocatable"):
        return
    spec = request.obj.setdefault("spec", {})
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    if taint not in (spec.get("taints") or ()):
        spec["taints"] = [*(spec.get("taints") or ()), taint]
