"""Hierarchical elastic gang scheduling for AI workloads on Kubernetes."""
