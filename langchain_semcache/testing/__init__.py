"""What a backend author needs: conformance suites, state machines and fakes. Needs pytest."""
