"""The pod grouper: group(pod, owners) -> PodGroup and subgroup; pure."""
