"""What the clients of a storm do: calls over names and ids that they share.

Each function of the schema that changes something is an operation here, with arguments that often
meet those of other clients; what only reads is called with arguments chosen by their names. A
client learns ids from the answers that it gets.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from campaign.catalog import Function

Arguments = dict[str, Any]

TENANTS = {"storm-a": "zquartz", "storm-b": "zbasalt", "storm-c": "zgneiss"}
"""The tenants, and the word that each text of a tenant holds, and no text of another one."""

BUTLERS = ("home", "work", "global")
SCOPES = ("global", "home", "work")
PREDICATES = ("likes", "drinks", "lives_in", "works_at", "mood", "plays", "reads", "owns")
PERMANENCES = ("permanent", "stable", "standard", "volatile", "ephemeral")
RELATIONS = ("derived_from", "supports", "contradicts", "supersedes", "related_to")
WORDS = tuple(
    """
    tea coffee garden music winter travel bread river painting chess kettle running roses letters
    harbor piano lemon marble window orchard copper saddle lantern
    """.split()
)
OF_TYPE = {"episode": "episode", "fact": "fact", "rule": "rule", "entry": "entry"}
SUBJECTS, PEOPLE, PATTERNS, ITEMS = 24, 40, 4, 40
_LARGE = (50, 100, 200)


class World:
    """What a client knows of a tenant.

    Attributes:
        tenant: The tenant.
        marker: The word in all its texts.
        chance: Decides everything.
        is_adrift: Whether the clock of the client is wrong by up to days.
        batches: Whether batches are large.
        bounded: Whether the client leaves a whole memory alone.
    """

    def __init__(
        self,
        tenant: str,
        chance: random.Random,
        *,
        is_adrift: bool = False,
        batches: bool = False,
        bounded: bool = False,
    ) -> None:
        self.tenant = tenant
        self.marker = TENANTS[tenant]
        self.chance = chance
        self.is_adrift = is_adrift
        self.batches = batches
        self.bounded = bounded
        self.known: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=400))
        self.number = 0

    def learn(self, kind: str, what: Any) -> None:
        """Remember an id."""
        if isinstance(what, str):
            self.known[kind].append(what)

    def id(self, kind: str) -> str:
        """Return a known id, mostly a recent one; now and then one that nobody has."""
        known = self.known[kind]
        if not known or self.chance.random() < 0.02:
            return "mem-2026-01-01-999" if kind == "entry_id" else str(self.uuid())
        recent = max(1, len(known) // (1 if self.chance.random() < 0.4 else 8))
        return known[-1 - self.chance.randrange(recent)]

    def uuid(self) -> UUID:
        """Return an id that nobody has."""
        return UUID(int=self.chance.getrandbits(128), version=4)

    def pick(self, choices: Iterable[Any]) -> Any:
        """Return one of several."""
        return self.chance.choice(tuple(choices))

    def maybe(self, share: float, **arguments: Any) -> Arguments:
        """Return the arguments with this probability, and none otherwise."""
        return arguments if self.chance.random() < share else {}

    def size(self, *sizes: int) -> int:
        """Return the size of a batch: one of these, or a large one."""
        return self.chance.choice(_LARGE if self.batches else sizes)

    def text(self, words: int = 4) -> str:
        """Return a text that only this tenant has."""
        return f"{self.marker} {' '.join(self.chance.choices(WORDS, k=words))}"

    def new_text(self, words: int = 4) -> str:
        """Return a text that was never stored before."""
        self.number += 1
        return f"{self.text(words)} {self.chance.getrandbits(40):x}"

    def subject(self) -> str:
        return f"{self.marker} subject {self.chance.randrange(SUBJECTS)}"

    def person(self) -> str:
        return f"{self.marker.title()} Person{self.chance.randrange(PEOPLE)}"

    def vector(self) -> list[float]:
        """Return a unit vector near one of a few directions."""
        values = [0.0] * 384
        for _ in range(3):
            values[self.chance.randrange(24)] = self.chance.uniform(0.2, 1)
        length = sum(value * value for value in values) ** 0.5
        return [round(value / length, 4) for value in values]

    def as_of(self) -> Arguments:
        """Return now by the clock of a client: right, behind, ahead, or further than allowed."""
        draw = self.chance.random()
        if self.is_adrift:
            hours = self.chance.uniform(-30, 26)
        elif draw < 0.8:
            return {}
        elif draw < 0.9:
            hours = self.chance.uniform(-30, 0)
        elif draw < 0.99:
            hours = self.chance.uniform(0, 20)
        else:
            hours = self.chance.uniform(24, 48)
        return {"as_of": datetime.now(UTC) + timedelta(hours=hours)}

    def key(self) -> str:
        """Return a new idempotency key."""
        return f"k-{self.uuid()}"

    def memory(self, *types: str) -> Arguments:
        """Return the type and id of a memory."""
        memory_type = self.pick(types or OF_TYPE)
        return {"memory_type": memory_type, "memory_id": self.id(OF_TYPE[memory_type])}


@dataclass(frozen=True)
class Operation:
    """A function, how often it is called, and what with."""

    function: str
    weight: float
    arguments: Callable[[World], Arguments]


OPERATIONS: list[Operation] = []


def operation(
    weight: float,
) -> Callable[[Callable[[World], Arguments]], Callable[[World], Arguments]]:
    """Declare an operation: the function has the name of what it calls."""

    def declare(arguments: Callable[[World], Arguments]) -> Callable[[World], Arguments]:
        name = arguments.__name__.rstrip("_")
        OPERATIONS.append(Operation(name, weight, arguments))
        return arguments

    return declare


# Storing


def a_plain_fact(w: World) -> Arguments:
    """Return those of a fact that names nothing: one bad fact of many, and all are refused."""
    return {
        "subject": w.subject() if w.chance.random() < 0.2 else f"{w.subject()} {w.number % 500}",
        "predicate": w.pick(PREDICATES),
        "content": w.new_text(),
        **w.maybe(0.5, scope=w.pick(SCOPES)),
        **w.maybe(0.5, confidence=w.chance.randrange(11) / 10),
        "idempotency_key": w.key(),
    }


def a_fact(w: World) -> Arguments:
    """Return the arguments of a fact, as store_fact and store_facts take them."""
    return {
        "subject": w.subject() if w.chance.random() < 0.8 else w.person(),
        "predicate": w.pick(PREDICATES),
        "content": w.text() if w.chance.random() < 0.15 else w.new_text(),
        **w.maybe(0.7, scope=w.pick(SCOPES)),
        **w.maybe(0.3, permanence=w.pick(PERMANENCES)),
        **w.maybe(0.3, confidence=w.chance.randrange(11) / 10),
        **w.maybe(0.25, entity_id=w.id("entity")),
        **w.maybe(0.1, object_entity_id=w.id("entity")),
        **w.maybe(0.15, source_episode_id=w.id("episode"), source_butler=w.pick(BUTLERS)),
        **w.maybe(0.1, tags=[w.pick(WORDS), w.marker]),
        **w.maybe(0.5, idempotency_key=w.key()),
        # Some plans begin while the storm lasts.
        **w.maybe(0.1, valid_from=moment(w, -90, w.pick((0, 0, 1, 30)))),
        **w.maybe(0.05, valid_to=moment(w, -30, 200)),
    }


def moment(w: World, first: float, last: float) -> str:
    """Return a time so many days from now."""
    return (datetime.now(UTC) + timedelta(days=w.chance.uniform(first, last))).isoformat()


@operation(14)
def store_fact(w: World) -> Arguments:
    return {**a_fact(w), **w.maybe(0.15, embedding=w.vector()), **w.as_of()}


@operation(4)
def store_facts(w: World) -> Arguments:
    size = w.size(1, 2, 5, 12, 40)
    make = a_fact if size < 10 else a_plain_fact
    return {"facts": [make(w) for _ in range(size)], **w.as_of()}


def an_episode(w: World) -> Arguments:
    """Return the arguments of an episode."""
    return {
        "content": f"They spoke of {w.new_text(8)}",
        "butler": w.pick(BUTLERS),
        **w.maybe(0.5, session_id=w.id("session")),
        **w.maybe(0.2, importance=w.chance.randrange(11)),
        **w.maybe(0.2, source_class=w.pick(("user", "agent", "tool", "external"))),
        **w.maybe(0.5, idempotency_key=w.key()),
    }


@operation(7)
def store_episode(w: World) -> Arguments:
    return {**an_episode(w), **w.maybe(0.1, embedding=w.vector()), **w.as_of()}


@operation(2)
def store_episodes(w: World) -> Arguments:
    return {"episodes": [an_episode(w) for _ in range(w.pick((1, 3, 10, 30)))], **w.as_of()}


@operation(2)
def store_messages(w: World) -> Arguments:
    return {
        "messages": [
            {"role": role, "content": w.new_text(6)}
            for role in ("user", "assistant", "user", "assistant")[: w.pick((1, 2, 4))]
        ],
        "butler": w.pick(BUTLERS),
        **w.maybe(0.7, session_id=w.id("session")),
        **w.as_of(),
    }


@operation(1)
def store_observations(w: World) -> Arguments:
    turns = sorted({w.id("episode") for _ in range(w.pick((1, 2, 3)))})
    return {
        "episode_ids": turns,
        "observations": [
            {"content": w.new_text(6), "evidence": [w.pick(turns)]}
            for _ in range(w.pick((0, 1, 2)))
        ],
    }


@operation(4)
def store_rule(w: World) -> Arguments:
    return {
        "content": f"Offer {w.new_text()}",
        **w.maybe(0.5, scope=w.pick(SCOPES)),
        **w.maybe(0.5, idempotency_key=w.key()),
        **w.maybe(0.1, source_episode_id=w.id("episode"), source_butler=w.pick(BUTLERS)),
        **w.maybe(0.1, embedding=w.vector()),
        **w.as_of(),
    }


@operation(1)
def replace_rule(w: World) -> Arguments:
    return {
        "rule_id": w.id("rule"),
        "content": f"Offer {w.new_text()}",
        **w.maybe(0.3, idempotency_key=w.key()),
        **w.maybe(0.1, embedding=w.vector()),
        **w.as_of(),
    }


# One memory


@operation(4)
def confirm_memory(w: World) -> Arguments:
    return {**w.memory("fact", "fact", "rule", "entry"), **w.as_of()}


@operation(4)
def forget_memory(w: World) -> Arguments:
    return {**w.memory(), **w.as_of()}


@operation(4)
def restore_memory(w: World) -> Arguments:
    return {**w.memory("fact", "fact", "fact", "episode", "rule", "entry"), **w.as_of()}


@operation(3)
def get_memory(w: World) -> Arguments:
    return w.memory()


@operation(3)
def mark_helpful(w: World) -> Arguments:
    return {"rule_id": w.id("rule"), **w.as_of()}


@operation(3)
def mark_harmful(w: World) -> Arguments:
    return {"rule_id": w.id("rule"), **w.maybe(0.5, reason=w.text()), **w.as_of()}


@operation(0.5)
def revert_inversion(w: World) -> Arguments:
    return {"rule_id": w.id("rule"), **w.as_of()}


@operation(2)
def create_link(w: World) -> Arguments:
    source, target = w.memory(), w.memory()
    return {
        "source_type": source["memory_type"],
        "source_id": source["memory_id"],
        "target_type": target["memory_type"],
        "target_id": target["memory_id"],
        "relation": w.pick(RELATIONS),
    }


# Entities


@operation(2)
def entity_create(w: World) -> Arguments:
    return {
        "canonical_name": w.person() if w.chance.random() < 0.6 else w.new_text(1).title(),
        "entity_type": w.pick(("person", "organization", "place", "other")),
        **w.maybe(0.3, aliases=[w.person(), w.new_text(1)]),
        **w.maybe(0.2, metadata={"note": w.text()}),
    }


@operation(1.5)
def entity_update(w: World) -> Arguments:
    return {
        "entity_id": w.id("entity"),
        **w.maybe(0.3, canonical_name=w.person()),
        **w.maybe(0.5, aliases=[w.new_text(1)]),
        **w.maybe(0.5, metadata={w.pick(WORDS): w.text(), w.pick(WORDS): None}),
    }


@operation(2)
def entity_merge(w: World) -> Arguments:
    return {"source_entity_id": w.id("entity"), "target_entity_id": w.id("entity"), **w.as_of()}


@operation(2)
def entity_unmerge(w: World) -> Arguments:
    return {"entity_id": w.id("merged"), **w.as_of()}


# Entries


@operation(4)
def create_entry(w: World) -> Arguments:
    return {
        "content": f"# {w.text(2)}\n{w.new_text(10)}" if w.chance.random() < 0.7 else w.text(6),
        **w.maybe(0.4, entry_type=w.pick(("fact", "preference", "pattern", "note"))),
        **w.maybe(0.3, tags=[w.pick(WORDS)]),
        **w.maybe(0.3, related=[w.id("entry_id")]),
        **w.maybe(0.3, scope=w.pick(SCOPES)),
        **w.maybe(0.2, user_id=f"{w.marker}-user-{w.chance.randrange(5)}"),
        **w.maybe(0.2, embedding=w.vector()),
        **w.maybe(0.4, idempotency_key=w.key()),
        **w.maybe(0.1, expires_at=moment(w, 0.0001, 0.5)),
        **w.as_of(),
    }


@operation(3)
def update_entry(w: World) -> Arguments:
    return {
        "entry_id": w.id("entry_id"),
        **w.maybe(0.6, content=w.new_text(10)),
        **w.maybe(0.3, tags=[w.pick(WORDS)]),
        **w.maybe(0.3, confidence=w.chance.randrange(11) / 10),
        **w.maybe(0.2, related=[w.id("entry_id"), w.id("entry_id")]),
        **w.maybe(0.2, expected_version=w.chance.randrange(1, 4)),
        **w.as_of(),
    }


@operation(0.7)
def archive_entry(w: World) -> Arguments:
    return {"entry_id": w.id("entry_id"), **w.as_of()}


@operation(2)
def rate_entry(w: World) -> Arguments:
    outcome = w.pick(("used", "used", "irrelevant", "outdated", "conflicting"))
    return {
        "entry_id": w.id("entry_id"),
        "outcome": outcome,
        **({"by_entry": w.id("entry_id")} if outcome == "conflicting" else {}),
        **w.as_of(),
    }


@operation(1.5)
def delete_entry(w: World) -> Arguments:
    return {"entry_id": w.id("entry_id"), **w.maybe(0.2, permanent=True), **w.as_of()}


@operation(2)
def get_entry(w: World) -> Arguments:
    return {"entry_id": w.id("entry_id")}


@operation(1)
def import_entries(w: World) -> Arguments:
    return {
        "entries": [
            {
                "content": w.new_text(8),
                **w.maybe(0.3, entry_id=w.id("entry_id")),
                **w.maybe(0.3, idempotency_key=w.key()),
                **w.maybe(0.2, related=[w.id("entry_id")]),
                **w.maybe(0.2, base_version=w.chance.randrange(1, 3)),
                **w.maybe(0.1, deleted=True),
            }
            for _ in range(w.pick((1, 2, 8)))
        ]
    }


@operation(1)
def retrieve_entries(w: World) -> Arguments:
    return {"query": w.text(2), **w.maybe(0.3, embedding=w.vector())}


@operation(0.15)
def consolidate_entries(w: World) -> Arguments:
    return {"max_entries": w.pick((50, 2000)), **w.maybe(0.2, dry_run=True), **w.as_of()}


@operation(0.1)
def maybe_consolidate_entries(w: World) -> Arguments:
    return w.as_of()


@operation(0.1)
def list_entry_clusters(w: World) -> Arguments:
    return {"max_entries": 200}


@operation(0.4)
def undo_entry_merge(w: World) -> Arguments:
    return {"entry_id": w.id("entry_id"), **w.as_of()}


@operation(0.4)
def summarize_entry_merge(w: World) -> Arguments:
    return {"entry_id": w.id("entry_id"), "summary": w.new_text(6), **w.as_of()}


@operation(0.15)
def run_entry_upkeep(w: World) -> Arguments:
    return {"period": w.pick(("daily", "weekly", "monthly")), **w.as_of()}


# The strict store


def a_guarded_entry(w: World) -> Arguments:
    """Return an entry for write_memory, sometimes one that it rejects."""
    return {
        "content": w.pick((w.new_text(6), f"{w.text(2)} 4111111111111111")),
        "scope": {"user_id": f"{w.marker}-user-{w.chance.randrange(5)}"},
        "metadata": {
            "category": "note",
            "confidence": 0.9,
            "importance": w.pick(("low", "medium", "high")),
            "source": w.pick(("user", "system", "nobody")),
            **w.maybe(0.2, expires_at=moment(w, 0.001, 2)),
        },
        **w.maybe(0.5, id=w.key()),
    }


@operation(2)
def write_memory(w: World) -> Arguments:
    return {
        "entry": a_guarded_entry(w),
        **w.maybe(0.95, requested_by="storm"),
        **w.maybe(0.3, approval_id=w.id("approval")),
        **w.as_of(),
    }


@operation(1)
def query_memory(w: World) -> Arguments:
    return {
        "query": w.pick(("", w.text(2))),
        "user_id": f"{w.marker}-user-{w.chance.randrange(5)}",
        **w.maybe(0.2, approval_id=w.id("approval")),
    }


@operation(0.2)
def expire_memory(w: World) -> Arguments:
    return w.as_of()


@operation(0.4)
def grant_approval(w: World) -> Arguments:
    if w.chance.random() < 0.5:
        return {"action": "write_sensitive", "data_class": "payment_card"}
    return {"action": "cross_scope", "user_id": f"{w.marker}-user-{w.chance.randrange(5)}"}


@operation(0.2)
def revoke_approval(w: World) -> Arguments:
    return {"approval_id": w.id("approval")}


@operation(0.05)
def set_entry_policy(w: World) -> Arguments:
    return {"scope": f"{w.marker} strict", "policy": w.pick(("billy", "meridian"))}


@operation(0.1)
def add_sensitive_pattern(w: World) -> Arguments:
    number = w.chance.randrange(PATTERNS)
    return {
        "data_class": "customer",
        "name": f"{w.marker}_{number}",
        "pattern": rf"\m{w.marker}-customer-{number}\d+\M",
    }


@operation(0.1)
def remove_sensitive_pattern(w: World) -> Arguments:
    return {"data_class": "customer", "name": f"{w.marker}_{w.chance.randrange(PATTERNS)}"}


# Items


def a_place(w: World) -> Arguments:
    """Return the namespace and key of an item."""
    return {
        "namespace": [w.marker, w.pick(BUTLERS)],
        "key": f"item {w.chance.randrange(ITEMS)}",
    }


def an_item(w: World) -> Arguments:
    """Return an item to put, sometimes one to delete."""
    if w.chance.random() < 0.15:
        return {**a_place(w), "value": None}
    return {
        **a_place(w),
        "value": {"text": w.new_text(5)},
        **w.maybe(0.2, ttl=w.pick((0.01, 30))),
        **w.maybe(0.3, model="storm", vectors=[{"path": "text", "embedding": w.vector()}]),
    }


@operation(3)
def put_items(w: World) -> Arguments:
    return {"items": [an_item(w) for _ in range(w.pick((1, 1, 4, 15)))], **w.as_of()}


@operation(1.5)
def get_items(w: World) -> Arguments:
    return {"items": [{**a_place(w), **w.maybe(0.3, refresh=True)} for _ in range(w.pick((1, 5)))]}


@operation(1)
def search_items(w: World) -> Arguments:
    return {
        "searches": [
            {
                "namespace_prefix": [w.marker],
                "limit": 5,
                **w.maybe(0.4, embedding=w.vector(), model="storm"),
                **w.maybe(0.3, refresh=True),
            }
        ]
    }


@operation(1.5)
def batch_items(w: World) -> Arguments:
    operations = [
        *({"op": "put", **an_item(w)} for _ in range(w.pick((0, 1, 3)))),
        *({"op": "get", **a_place(w)} for _ in range(w.pick((0, 1, 3)))),
        *({"op": "search", "namespace_prefix": [w.marker]} for _ in range(w.pick((0, 1)))),
        {"op": "list"},
    ]
    w.chance.shuffle(operations)
    return {"operations": operations, **w.as_of()}


@operation(0.2)
def delete_expired_items(w: World) -> Arguments:
    return w.as_of()


# Finding


@operation(6)
def recall(w: World) -> Arguments:
    return {
        "topic": w.text(2),
        **w.maybe(0.4, embedding=w.vector()),
        **w.maybe(0.3, scope=w.pick((*SCOPES, "*"))),
        **w.maybe(0.5, max_results=w.pick((1, 20, 60))),
        **w.maybe(0.3, min_relevance=0),
        **w.maybe(0.1, types=["entry", "fact"]),
        **w.maybe(0.1, known_at=moment(w, -1, 0)),
    }


@operation(1)
def context(w: World) -> Arguments:
    return {
        "trigger_prompt": w.text(3),
        "butler": w.pick(BUTLERS),
        **w.maybe(0.4, embedding=w.vector()),
        **w.maybe(0.3, include_recent_episodes=True, include_entries=True),
    }


# Maintenance


@operation(0.5)
def run_decay_sweep(w: World) -> Arguments:
    return w.as_of()


@operation(0.2)
def run_decay_sweep_all_tenants(w: World) -> Arguments:
    return w.as_of()


@operation(0.3)
def run_episode_cleanup(w: World) -> Arguments:
    return {"batch_size": w.pick((20, 1000)), **w.maybe(0.5, max_entries=500), **w.as_of()}


@operation(0.4)
def run_rule_hygiene(w: World) -> Arguments:
    return w.as_of()


@operation(0.4)
def seal_events(w: World) -> Arguments:
    return w.maybe(0.5, max_events=w.pick((10, 1000)))


@operation(0.3)
def fold_corpus_statistics(w: World) -> Arguments:
    return {}


@operation(0.05)
def recount_corpus_statistics(w: World) -> Arguments:
    return {}


@operation(0.1)
def metrics(w: World) -> Arguments:
    return {}


@operation(0.3)
def find_due_jobs(w: World) -> Arguments:
    return {}


@operation(0.1)
def claim_job(w: World) -> Arguments:
    return {"job": w.pick(("seal_events", "run_decay_sweep", "fold_corpus_statistics"))}


@operation(0.1)
def run_job(w: World) -> Arguments:
    return {"job": w.pick(("seal_events", "run_decay_sweep", "expire_memory"))}


@operation(0.2)
def find_due_jobs_all_tenants(w: World) -> Arguments:
    return {}


@operation(0.05)
def sign_off_runner(w: World) -> Arguments:
    return {}


@operation(0.05)
def sign_off_runner_all_tenants(w: World) -> Arguments:
    return {}


@operation(0.15)
def configure(w: World) -> Arguments:
    choices: list[Arguments] = [
        {"min_relevance": w.pick((0, 0.06))},
        {"ranking": w.pick(("calibrated", "specified"))},
        {"boost_named": w.chance.randrange(10) / 10},
        {"rule_helpful_confirms": w.pick((True, False))},
        {"consolidation_review": w.chance.random() < 0.3},
    ]
    if not w.bounded:
        choices += [
            {"text_search_config": w.pick(("english", "simple", "german"))},
            {"embedding_rendering": w.pick(("content", "previous_dated"))},
        ]
    return {"settings": w.pick(choices)}


@operation(0.2)
def reindex_texts(w: World) -> Arguments:
    return {}


@operation(0.06)
def erase_subject(w: World) -> Arguments:
    return {"subject": w.person(), **w.maybe(0.3, mentions=False), **w.maybe(0.2, dry_run=True)}


@operation(0.2)
def create_access_token(w: World) -> Arguments:
    return {"name": w.text(1), "role": w.pick(("reader", "writer", "admin"))}


@operation(0.1)
def revoke_access_token(w: World) -> Arguments:
    return {"token_id": w.id("token")}


@operation(0.3)
def authenticate_token(w: World) -> Arguments:
    return {"token_digest": digest(w.id("secret"))}


@operation(0.1)
def set_request(w: World) -> Arguments:
    return {"reason": "storm"}


# Embeddings


@operation(0.3)
def register_embedding_version(w: World) -> Arguments:
    return {"model": "storm", "version": "1"}


@operation(0.5)
def claim_embedding_jobs(w: World) -> Arguments:
    return {"batch_size": w.pick((1, 10)), "lease": "1 second"}


@operation(1)
def set_embedding(w: World) -> Arguments:
    return {**w.memory(), "embedding": w.vector(), **w.maybe(0.3, text_md5="0" * 32)}


@operation(0.05)
def start_reembedding(w: World) -> Arguments:
    return {"model": "storm", "version": w.pick(("1", "2", "3"))}


@operation(0.15)
def activate_embedding_version(w: World) -> Arguments:
    return {}


@operation(0.03)
def cancel_reembedding(w: World) -> Arguments:
    return {}


@operation(0.03)
def calibrate_similarity(w: World) -> Arguments:
    return {"sample_size": 40}


@operation(0.02)
def rebuild_vector_indexes(w: World) -> Arguments:
    return {"method": w.pick(("auto", "exact", "hnsw", "ivfflat")), **w.maybe(0.3, lists=5)}


@operation(0.03)
def measure_index_recall(w: World) -> Arguments:
    return {"sample": 3}


# Consolidation, beside the worker


@operation(0.5)
def claim_episodes(w: World) -> Arguments:
    return {
        **w.maybe(0.7, butler=w.pick(BUTLERS)),
        "batch_size": w.pick((1, 4)),
        "lease": w.pick(("5 seconds", "1 second")),
    }


@operation(0.2)
def preview_batch(w: World) -> Arguments:
    return w.maybe(0.7, butler=w.pick(BUTLERS))


@operation(0.2)
def extend_lease(w: World) -> Arguments:
    return {"run_id": w.id("run"), "lease": "5 seconds"}


@operation(0.2)
def release_run(w: World) -> Arguments:
    return {"run_id": w.id("run")}


@operation(0.3)
def fail_consolidation(w: World) -> Arguments:
    return {"run_id": w.id("run"), "error": w.text(), **w.maybe(0.3, was_answered=False)}


@operation(1)
def apply_consolidation(w: World) -> Arguments:
    evidence = [w.id("claimed") for _ in range(w.pick((1, 2)))]
    return {
        "run_id": w.id("run"),
        "output": {
            "new_facts": [
                {
                    "subject": w.subject(),
                    "predicate": w.pick(PREDICATES),
                    "content": w.new_text(),
                    "evidence": evidence,
                }
                for _ in range(w.pick((0, 1, 4)))
            ],
            "new_rules": [
                {"content": f"Offer {w.new_text()}", "evidence": evidence}
                for _ in range(w.pick((0, 1)))
            ],
            "updated_facts": [
                {"target_id": w.id("fact"), "content": w.new_text(), "evidence": evidence}
                for _ in range(w.pick((0, 1, 2)))
            ],
            "ended_facts": [
                {"target_id": w.id("fact"), "evidence": evidence} for _ in range(w.pick((0, 0, 1)))
            ],
            "confirmations": [
                {"target_id": w.id("fact"), "evidence": evidence} for _ in range(w.pick((0, 1, 2)))
            ],
            "withdrawn_rules": [
                {"target_id": w.id("rule"), "evidence": evidence} for _ in range(w.pick((0, 0, 1)))
            ],
        },
        **w.maybe(0.5, answer=w.text(10)),
    }


@operation(0.2)
def requeue_episodes(w: World) -> Arguments:
    return w.maybe(0.5, episode_ids=[w.id("episode")])


@operation(0.2)
def requeue_run(w: World) -> Arguments:
    return {"run_id": w.id("run")}


@operation(0.4)
def undo_consolidation(w: World) -> Arguments:
    return {"run_id": w.id("run")}


@operation(0.4)
def undo_event(w: World) -> Arguments:
    return {"event_id": w.id("event")}


@operation(0.4)
def accept_proposals(w: World) -> Arguments:
    return {"run_id": w.id("run"), **w.maybe(0.5, positions=[1, 2])}


@operation(0.3)
def reject_proposals(w: World) -> Arguments:
    return {"run_id": w.id("run"), **w.maybe(0.5, positions=[1])}


@operation(0.3)
def amend_proposal(w: World) -> Arguments:
    return {
        "run_id": w.id("run"),
        "place": w.pick((1, 2)),
        "changes": w.pick(
            ({"content": w.new_text()}, {"importance": 7}, {"subject": w.subject()}, {"tags": None})
        ),
    }


# Imports and contradictions


def an_element(w: World) -> Arguments:
    """Return an element of an import."""
    source = f"{w.marker} {w.chance.randrange(200)}"
    kinds: dict[str, Arguments] = {
        "fact": {name: value for name, value in a_plain_fact(w).items() if "key" not in name},
        "episode": {"content": w.new_text(), "butler": w.pick(BUTLERS)},
        "rule": {"content": f"Offer {w.new_text()}"},
        "entry": {"content": w.new_text(8)},
    }
    if w.chance.random() < 0.1:
        return {"type": "link", "from": source, "to": f"{w.marker} 7"}
    kind = w.pick(kinds)
    return {"type": kind, "source_id": source, **kinds[kind]}


@operation(1)
def import_memories(w: World) -> Arguments:
    return {
        "elements": [an_element(w) for _ in range(w.pick((1, 3, 20)))],
        "source_format": "other",
        "batch": f"{w.marker} import {w.chance.randrange(12)}",
    }


@operation(0.4)
def undo_import(w: World) -> Arguments:
    return {"batch": f"{w.marker} import {w.chance.randrange(12)}", **w.as_of()}


def two_memories(w: World) -> Arguments:
    """Return two memories that may contradict each other."""
    one, other = w.memory("fact", "rule"), w.memory("fact", "rule")
    return {
        "one_type": one["memory_type"],
        "one_id": one["memory_id"],
        "other_type": other["memory_type"],
        "other_id": other["memory_id"],
    }


@operation(0.4)
def dismiss_contradiction(w: World) -> Arguments:
    return two_memories(w)


@operation(0.2)
def reopen_contradiction(w: World) -> Arguments:
    return two_memories(w)


# Sessions of the dashboard


def digest(text: str) -> bytes:
    """Return what the server knows of a secret."""
    return hashlib.sha256(text.encode()).digest()


@operation(0.2)
def create_login_code(w: World) -> Arguments:
    return {"role": w.pick(("reader", "writer", "worker", "admin"))}


@operation(0.2)
def redeem_login_code(w: World) -> Arguments:
    return {"code_digest": digest(w.id("login_code"))}


@operation(0.2)
def create_session(w: World) -> Arguments:
    return {"token_digest": digest(w.id("secret"))}


@operation(0.3)
def authenticate_session(w: World) -> Arguments:
    return {"session_digest": digest(w.id("open_session")), **w.as_of()}


@operation(0.1)
def end_session(w: World) -> Arguments:
    return {"session_digest": digest(w.id("open_session"))}


@operation(0.1)
def delete_expired_sessions(w: World) -> Arguments:
    return w.as_of()


@operation(0.03)
def record_verification(w: World) -> Arguments:
    return {}


# What only reads

READS = 14.0
"""How often one of the functions that only read is called, as the weights above."""

# These look at the whole database, or at every row of the tenant.
_HEAVY = {
    "verify_chain": 0.02,
    "verify_erasure": 0.02,
    "diagnose": 0.03,
    "check_definitions": 0.02,
    "definitions_digest": 0.02,
    "check_indexes": 0.05,
    "export_entries": 0.1,
    "export_memories": 0.1,
    "recall_explain": 0.3,
    "list_contradictions": 0.3,
}


def read_arguments(function: Function, w: World) -> Arguments:
    """Return arguments for a function that only reads, by their names and types."""
    given: Arguments = {}
    paired = w.memory()
    for name, kind in function.arguments.items():
        if name == "as_of" or (name not in function.required and w.chance.random() < 0.6):
            continue
        value = _value(name, kind, w, paired)
        if value is None and name in function.required:
            value = _PLAIN.get(kind, w.text(2))
        if value is not None:
            given[name] = value
    return given


_PLAIN: Arguments = {"integer": 1, "bigint": 1, "jsonb": {}, "text[]": [], "boolean": True}


def _value(name: str, kind: str, w: World, paired: Arguments) -> Any:
    if name in paired:
        return paired[name]
    if kind == "uuid":
        named = name.removesuffix("_id").rpartition("_")[2]
        return w.id(named) if named in ("fact", "entity", "run", "session", "event") else None
    if kind == "uuid[]":
        return [w.id("episode")]
    if kind == "vector" and name == "embedding":
        return w.vector()
    choices: dict[str, Any] = {
        "entry_id": w.id("entry_id"),
        "scope": w.pick((*SCOPES, "*")),
        "butler": w.pick(BUTLERS),
        "tenant_id": w.tenant,
        "memory_type": paired["memory_type"],
        "name": w.person(),
        "prefix": w.id("fact")[:8],
        "method": "exact",
        "direction": w.pick(("both", "outgoing", "incoming")),
        "types": [w.pick(("fact", "rule", "episode", "entry"))],
        "query": w.text(2),
        "topic": w.text(2),
        "trigger_prompt": w.text(2),
        "content": w.text(4),
        "subject": w.subject(),
        "max_depth": w.pick((1, 2, 3)),
        "max_results": w.pick((1, 10, 50)),
        "batch_size": w.pick((10, 1000)),
        "kind": w.pick(("fact", "episode", "link", "event", "entity")),
        "earlier": moment(w, -2, 0),
        "listings": [{"conditions": [], "limit": 5}],
        "enable_fuzzy": w.pick((True, False)),
        "include_archived": True,
        "include_deleted": True,
        "min_relevance": 0,
        "time_zone": "UTC",
    }
    return choices.get(name)


class Repertoire:
    """All operations, with their weights, for a set of functions that exist.

    Args:
        functions: What a role may call.
        bounded: Leave out what answers with a whole memory, or writes all of it anew: the longer a
            storm lasts, the more that is.
        batches: Store many memories at a time more often.
    """

    def __init__(
        self, functions: dict[str, Function], *, bounded: bool = False, batches: bool = False
    ) -> None:
        self.functions = functions
        self._changing = [
            each
            for each in OPERATIONS
            if each.function in functions and not (bounded and each.function in WHOLE)
        ]
        self._weights = [
            each.weight * (3 if batches and each.function in BATCHES else 1)
            for each in self._changing
        ]
        self._reading = [
            each
            for each in functions.values()
            if each.volatility == "s"
            and each.name not in NOT_CALLED
            and not (bounded and each.name in WHOLE)
        ]
        self._shares = [_HEAVY.get(each.name, 1.0) for each in self._reading]

    def draw(self, w: World) -> tuple[Function, Arguments]:
        """Return a function and what to call it with."""
        if w.chance.random() * (sum(self._weights) + READS) < READS:
            [function] = w.chance.choices(self._reading, self._shares)
            return function, read_arguments(function, w)
        [chosen] = w.chance.choices(self._changing, self._weights)
        return self.functions[chosen.function], chosen.arguments(w)


BATCHES = frozenset({"store_facts"})
WHOLE = frozenset(
    {
        *("diff_as_of", "export_all_memories", "export_entries", "export_memories"),
        *("memories_as_of", "rebuild_vector_indexes", "start_reembedding"),
    }
)

NOT_CALLED: dict[str, str] = {
    "list_busy_tenants": "answers a login that may name the tenant, and tells of all",
    "list_tenants": "answers a login that may name the tenant, and tells of all",
    "start_restore": "cannot be committed alone",
    "restore_rows": "needs start_restore in the same transaction",
    "finish_restore": "needs start_restore in the same transaction",
}
"""Functions that a role may call and no client of a storm does, and why."""


def uncovered(functions: dict[str, Function]) -> list[str]:
    """Return the functions that change something and are no operation."""
    known = {each.function for each in OPERATIONS} | NOT_CALLED.keys()
    return sorted(
        each.name
        for each in functions.values()
        if each.volatility == "v" and each.name not in known
    )


# What answers teach: of each function the kind of what it returns, and the column that holds it.
_TAUGHT: dict[str, list[tuple[str, str | None]]] = {
    "store_fact": [("fact", None)],
    "store_facts": [("fact", "id")],
    "store_episode": [("episode", None)],
    "store_episodes": [("episode", "id")],
    "store_messages": [("episode", "episode_id"), ("session", "session_id")],
    "store_observations": [("episode", "id")],
    "store_rule": [("rule", None)],
    "replace_rule": [("rule", None)],
    "entity_create": [("entity", None)],
    "entity_resolve": [("entity", "id")],
    "create_entry": [("entry", "id"), ("entry_id", "entry_id")],
    "import_entries": [("entry", "id"), ("entry_id", "entry_id")],
    "retrieve_entries": [("entry_id", "entry_id")],
    "list_unsummarized_merges": [("entry_id", "entry_id")],
    "write_memory": [("entry", "id"), ("entry_id", "entry_id")],
    "grant_approval": [("approval", None)],
    "create_access_token": [("token", "id"), ("secret", "token")],
    "create_login_code": [("login_code", "login_code")],
    "redeem_login_code": [("open_session", "session_id")],
    "create_session": [("open_session", "session_id")],
    "claim_episodes": [("run", "run_id"), ("claimed", "episode_id"), ("episode", "episode_id")],
    "list_consolidation_runs": [("run", "id")],
    "preview_proposals": [("run", "run_id")],
    "list_events": [("event", "id")],
}


def learn(w: World, function: str, arguments: Arguments, rows: list[Any]) -> None:
    """Let a client learn from an answer."""
    if function == "entity_merge" and rows:
        w.learn("merged", arguments["source_entity_id"])
        return
    taught = _TAUGHT.get(function)
    if taught is not None:
        for row in rows[-20:]:
            for kind, column in taught:
                w.learn(kind, row if column is None else row.get(column))
        return
    for row in rows[-20:]:
        if isinstance(row, dict) and row.get("memory_type") in OF_TYPE:
            w.learn(OF_TYPE[row["memory_type"]], row.get("memory_id") or row.get("id"))


def foreign_words(tenant: str) -> list[str]:
    """Return the words that no answer to a tenant may hold."""
    return [marker for name, marker in TENANTS.items() if name != tenant]


def session_ids(chance: random.Random, count: int) -> list[str]:
    """Return ids of sessions that clients share."""
    return [str(UUID(int=chance.getrandbits(128), version=4)) for _ in range(count)]
