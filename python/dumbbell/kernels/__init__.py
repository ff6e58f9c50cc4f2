"""Kernels of the UML engine: User-mode Linux with a driver that runs scenarios."""
