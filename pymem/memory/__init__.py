"""The memory: one method per SQL function, with the same names."""

from pymem.memory.access_tokens import AccessTokenMethods
from pymem.memory.consolidation import ConsolidationMethods
from pymem.memory.embeddings import Embedding, EmbeddingMethods
from pymem.memory.entities import EntityMethods
from pymem.memory.erasure import ErasureMethods
from pymem.memory.history import HistoryMethods
from pymem.memory.indexes import IndexMethods
from pymem.memory.lifecycle import LifecycleMethods
from pymem.memory.links import LinkMethods
from pymem.memory.maintenance import MaintenanceMethods
from pymem.memory.overview import OverviewMethods
from pymem.memory.searching import SearchMethods
from pymem.memory.settings import SettingsMethods
from pymem.memory.storing import StoringMethods

__all__ = ["Embedding", "Memory"]


class Memory(
    StoringMethods,
    LinkMethods,
    SearchMethods,
    LifecycleMethods,
    HistoryMethods,
    ErasureMethods,
    EntityMethods,
    ConsolidationMethods,
    EmbeddingMethods,
    IndexMethods,
    MaintenanceMethods,
    OverviewMethods,
    SettingsMethods,
    AccessTokenMethods,
):
    """A tenant's memory.

    Where no scope is named, searches, recall and statistics look at what the butler of the request
    sees: its own memories and global ones. The scope ``*`` stands for everything of the tenant, as
    does none where the request names no butler.

    Arguments that are left out (None) take the defaults of the SQL functions, whose comments (see
    docs/sql.md) say what each function does and guarantees.

    With an engine, texts and queries are embedded here on their way to the database. Without one,
    memories are stored without a vector, for the embedding worker, and search works by keyword.

    Args:
        database: An open database.
        engine: Makes vectors; None for a client that computes none.
        request: On whose behalf calls are made.

    Raises:
        PymemError: Each method raises its subclasses; docs/errors.md lists the codes.
    """
