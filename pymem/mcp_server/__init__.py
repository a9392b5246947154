"""Serve the tools over MCP: over stdio for a local host, or over HTTP for many tenants."""

from pymem.mcp_server.protocol import WAITING
from pymem.mcp_server.stdio import serve_stdio

__all__ = ["WAITING", "serve_stdio"]
