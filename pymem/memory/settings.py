"""The settings of a tenant."""

from __future__ import annotations

from typing import Any

from pymem.memory.calls import Calls
from pymem.models import Settings


class SettingsMethods(Calls):
    """Methods that read and change settings."""

    async def configure(self, settings: dict[str, Any]) -> Settings:
        """Change settings of the tenant and return all of them."""
        [configured] = await self._rows(Settings, "configure", settings=settings)
        return configured

    async def current_settings(self) -> Settings:
        """Return the settings of the tenant, defaults included."""
        [settings] = await self._rows(Settings, "current_settings")
        return settings
