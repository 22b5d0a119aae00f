"""Problems as scientists bring them: drawn by field, raced against every other solver."""
