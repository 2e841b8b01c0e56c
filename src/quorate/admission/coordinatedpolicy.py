"""What is wrong with a CoordinatedPolicy, as far as it says itself: the group of its name may not exist yet."""

from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.rbgcoordination import CoordinationRequirement
from quorate.api.rbgpolicy import CoordinatedPolicy
from quorate.rules.roles import rule_faults
from quorate.rules.validity import Findings


def review(
    new: CoordinatedPolicy, old: CoordinatedPolicy | None = None, around: Surroundings = NOTHING_KNOWN
) -> Findings:
    del old, around  # a policy may change in every way, and stands alone
    rules = [
        CoordinationRequirement(name=rule.name, roles=rule.roles, strategy=rule.strategy)
        for rule in new.spec.policies or ()
    ]
    faults = rule_faults(rules)
    named = "spec.coordinationRequirements", "spec.policies"
    return Findings(tuple(fault._replace(field=fault.field.replace(*named, 1)) for fault in faults))
