"""A path in real time as moving lines in the terminal."""
