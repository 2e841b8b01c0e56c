"""`python kr8s_tour.py KUBECONFIG NAMESPACE`: a Deployment's life through kr8s, in a process of its own.

kr8s closes its connections only with the process, which pytest would complain of.
"""

import importlib
import sys
import time
import warnings
from typing import Any

# only partly typed
kr8s: Any = importlib.import_module("kr8s")

POD = {"schedulerName": "quorate", "containers": [{"name": "app", "image": "example/app:1"}]}


def main(kubeconfig: str, namespace: str) -> None:
    api = kr8s.api(kubeconfig=kubeconfig, namespace=namespace)
    template = {"metadata": {"labels": {"app": "web"}}, "spec": POD}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = kr8s.objects.Deployment(
        {"metadata": {"name": "web", "namespace": namespace}, "spec": spec}, api=api
    )
    web.create()
    web.scale(2)
    web.patch({"metadata": {"labels": {"tier": "gold"}}})
    web.wait("condition=Available", timeout=30)
    selected = [found.name for found in api.get("deployments", label_selector={"tier": "gold"})]
    assert selected == ["web"], selected
    assert len(web.pods()) == 2
    web.delete()
    while web.exists():
        time.sleep(0.1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # kr8s warns of every server newer than itself
    main(*sys.argv[1:])
