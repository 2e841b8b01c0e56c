"""Objects in, field errors and warnings out; the webhook and `quorate lint` are the readers.

Every module takes the new object, the old one on update, and what the cluster holds (`Surroundings`), and
gives `Findings`. Nothing here reads the network: what is not known is not complained about.
"""
