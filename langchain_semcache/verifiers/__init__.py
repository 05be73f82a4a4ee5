"""Second opinions: models that read two questions together and say whether one answer fits both."""
