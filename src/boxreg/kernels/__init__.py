"""Compiled loops over plain arrays: no objects, no policy."""
