"""Fuzzing of grammar and framing. `make test` runs few examples, always the same ones; `make fuzz`
runs many new examples."""
