"""From what a butler observed to what it knows: the prompt, the LLM and its answer."""
