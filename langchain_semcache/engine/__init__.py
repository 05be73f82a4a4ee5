"""The decision, and the two drivers that carry it out."""
