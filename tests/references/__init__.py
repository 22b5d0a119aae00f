"""Reference solutions and test problems, independent of the package under test."""
