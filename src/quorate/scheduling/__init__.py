"""The scheduling core: decide(snapshot, policy) -> Plan; pure, on arrays."""
