"""Pure brains of the workload controllers."""
