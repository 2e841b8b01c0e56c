"""The rows of role bindings and webhook configurations."""

from quorate.api.meta import Json
from quorate.embedded.tables.printer import NAME, Cell, Printer, age, columns, name


def role_binding(obj: Json, now: float) -> list[Cell]:
    reference = obj["roleRef"]
    subjects = obj.get("subjects") or ()
    users = [one["name"] for one in subjects if one["kind"] == "User"]
    groups = [one["name"] for one in subjects if one["kind"] == "Group"]
    accounts = [
        f"{one.get('namespace', '')}/{one['name']}" for one in subjects if one["kind"] == "ServiceAccount"
    ]
    shown = f"{reference['kind']}/{reference['name']}"
    return [name(obj), shown, age(obj, now), ", ".join(users), ", ".join(groups), ", ".join(accounts)]


def webhooks(obj: Json, now: float) -> list[Cell]:
    return [name(obj), len(obj.get("webhooks") or ()), age(obj, now)]


_RBAC = "rbac.authorization.k8s.io"
_HOOKS = "admissionregistration.k8s.io"
_BINDING = Printer(columns(NAME, "Role", "Age", "Users+", "Groups+", "ServiceAccounts+"), role_binding)
_WEBHOOKS = Printer(columns(NAME, "#Webhooks", "Age"), webhooks)

PRINTERS = {
    (_RBAC, "RoleBinding"): _BINDING,
    (_RBAC, "ClusterRoleBinding"): _BINDING,
    (_HOOKS, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (_HOOKS, "ValidatingWebhookConfiguration"): _WEBHOOKS,
}
