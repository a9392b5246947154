"""What the work that recurs did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a decay sweep did to the facts or the rules of a tenant."""

    memory_type: str
    checked: int
    fading: int
    expired: int
    recovered: int


@dataclass(frozen=True, slots=True)
class TenantSweep:
    """The same of one of all tenants."""

    tenant_id: str
    memory_type: str
    checked: int
    fading: int
    expired: int
    recovered: int


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What a batch of episode cleanup deleted, and how many episodes remain and are due."""

    expired_deleted: int
    capacity_deleted: int
    remaining: int
    due: int


@dataclass(frozen=True, slots=True)
class Hygiene:
    """How many rules turned into warnings, and how many were promoted by their age."""

    inverted: int
    promoted: int


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant that has memories."""

    tenant_id: str
