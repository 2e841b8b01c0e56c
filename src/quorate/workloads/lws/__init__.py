"""The brain of LeaderWorkerSets: what a set's groups are made of, and what its controller does about them."""
