"""One file per family of workload kinds."""
