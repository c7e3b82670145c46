"""For each text parser: lines to draw, and a comparison with its slow reference."""
