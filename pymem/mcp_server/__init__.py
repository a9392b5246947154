"""The tools over the Model Context Protocol: for a local host, or over HTTP for many tenants."""

from pymem.mcp_server.stdio import serve_stdio

__all__ = ["serve_stdio"]
