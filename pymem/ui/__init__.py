"""The dashboard: pages of a tenant's memory, rendered on the server.

Pages read and write by the client (``pymem.memory``) only, never by SQL of their own. They work
without JavaScript; htmx and ``pymem.js`` only make them quicker.
"""

PREFIX = "/ui"
"""Of the paths of its pages."""
