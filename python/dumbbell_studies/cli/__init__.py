"""The commands of the studies: `reproduce`, `search`, `conform`, `tune`, `ablate` and `score`."""
