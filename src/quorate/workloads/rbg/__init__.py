"""RoleBasedGroup: `group` reads one, `reconcile` decides what has to be written for it."""
