"""Where a service of the embedded cluster can be reached: its pods run nowhere, so someone must say.

The annotation `quorate.dev/address` of the service (`127.0.0.1:9443`) says it first, then its external name,
then its Endpoints.
"""

from quorate.embedded.store import Key, Store

ANNOTATION = "quorate.dev/address"


def service_address(store: Store, namespace: str, name: str, port: int) -> tuple[str, int] | None:
    service = store.get(Key("", "services", namespace, name))
    if service is None:
        return None
    said = (service["metadata"].get("annotations") or {}).get(ANNOTATION, "")
    host, _, number = said.rpartition(":")
    if host and number.isdigit():
        return host.strip("[]"), int(number)
    if service["spec"].get("type") == "ExternalName":
        return service["spec"]["externalName"], port
    return _endpoint(store, namespace, name)


def _endpoint(store: Store, namespace: str, name: str) -> tuple[str, int] | None:
    endpoints = store.get(Key("", "endpoints", namespace, name)) or {}
    for subset in endpoints.get("subsets") or ():
        addresses, ports = subset.get("addresses"), subset.get("ports")
        if addresses and ports:
            return addresses[0]["ip"], ports[0]["port"]
    return None
