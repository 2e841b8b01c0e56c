"""The maths of Kubernetes' own controllers, pure: an object and its children in, wanted writes out."""
