"""Tenants on many servers: where each is, moving one while it works, copies of one in a file."""
