"""Offline experiments: what a setting would have done, on pairs and traffic that are labelled."""
