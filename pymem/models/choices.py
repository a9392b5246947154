"""The words that an argument may be."""

from __future__ import annotations

from typing import Literal

MemoryType = Literal["episode", "fact", "rule"]
RecordedType = Literal["episode", "fact", "rule", "entity"]
Mode = Literal["hybrid", "semantic", "keyword"]
SourceClass = Literal["user", "agent", "tool", "external"]
KeywordMatch = Literal["any", "all"]
VectorMethod = Literal["auto", "exact", "ivfflat", "hnsw"]
Direction = Literal["outgoing", "incoming", "both"]
EntityType = Literal["person", "organization", "place", "other"]
Relation = Literal["derived_from", "supports", "contradicts", "supersedes", "related_to"]
TokenRole = Literal["reader", "writer", "worker", "admin"]
