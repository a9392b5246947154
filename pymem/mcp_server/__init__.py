"""Serve the tools over MCP: over stdio for a local host, or over HTTP for many tenants."""

from pymem.mcp_server.stdio import serve_stdio

__all__ = ["serve_stdio"]
