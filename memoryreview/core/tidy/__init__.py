"""Find the edits that a store may have without a person, and what a person should look at. Nothing here decides: what
is found becomes a proposal, and the same `classify` and `verify` judge it as they judge an agent's."""
