"""Whatever goes wrong, wherever it goes wrong: one truth afterwards, and no byte lost."""
