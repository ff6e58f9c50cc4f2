"""The commands of the studies: `reproduce`, `search`, `tune`, `ablate` and `score`."""
