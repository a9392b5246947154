"""The tools over plain HTTP and JSON, for programs that do not speak MCP."""
