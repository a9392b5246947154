"""Hooks of coding agents: what they remember at the start of a session, and store after a turn.

Claude Code and Codex run a command for each event, with JSON on its standard input. Nothing here
may keep an agent waiting or stop it: see ``pymem.hooks.events``.
"""
