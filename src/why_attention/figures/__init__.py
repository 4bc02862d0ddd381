"""The figures of the chapter, one file each: what to compute and how to read it."""
