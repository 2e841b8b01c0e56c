"""The built-in controllers of the embedded cluster: they read the store and write through the verbs."""
