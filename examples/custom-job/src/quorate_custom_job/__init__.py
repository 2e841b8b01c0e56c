"""The pods of a CustomJob are one gang: as many as `spec.minAvailable` says, else `spec.replicas`, else one."""

from dataclasses import replace

from quorate.grouping.numbers import whole_or
from quorate.grouping.subject import Shape, Subject, plain


def custom_job(subject: Subject) -> Shape:
    asked = [
        whole_or(subject.owner.at("spec", field), 0, f"spec.{field} of {subject.owner}")
        for field in ("minAvailable", "replicas")
    ]
    return replace(plain(subject), min_member=next((number for number in asked if number > 0), 1))
