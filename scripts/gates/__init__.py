"""The gates of scripts/test: what each one runs, and how they run beside each other."""
