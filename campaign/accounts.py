"""Whether each call left exactly the events that its answer tells of.

Each change of a memory writes an event with the request id of its call. So a call that failed has
none; one that was answered, those that the answer tells of; and one whose answer was lost, none or
all of them: what a call does is one transaction.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg

from campaign.journal import Call

# Of each function that changes something the events that a call may write. Alternatives stand
# between bars. An event stands with how often it is written: once, or ? + * as in a regular
# expression, or {a..b}, or {name}: as often as the answer says under that name (figures_of). With
# @, its memory is the one that the answer names. A dash is no event at all.
_FACT = "fact_created@ fact_superseded? link_created{0..2} fact_updated* rule_updated*"
_CONFIRMED = "fact_confirmed? fact_updated* link_created? fact_recovered? entry_updated*"
# Plans of its key that have begun, and no sweep has seen, hold first: each counts as confirmed, and
# supersedes what held.
_BEGUN = "fact_confirmed+ fact_superseded* link_created* fact_updated*"
_ENTRY = "entry_created@ link_created* entry_updated*"
EVENTS = {
    "store_fact": (
        f"{_FACT} | {_CONFIRMED} | fact_created@ {_BEGUN} rule_updated* "
        f"| {_BEGUN} fact_recovered? entry_updated*"
    ),
    "store_facts": (
        "fact_created{created} fact_superseded* fact_updated* link_created* fact_confirmed* "
        "fact_recovered*"
    ),
    "store_episode": "episode_created@ | -",
    "store_episodes": "episode_created{created}",
    "store_messages": "episode_created{is_new}",
    "store_observations": (
        "episode_created{rows} episode_consolidated* link_created* episode_updated*"
    ),
    "store_rule": "rule_created@ link_created? rule_updated* | -",
    "replace_rule": "rule_created@ link_created rule_retracted? rule_updated* | -",
    "confirm_memory": (
        "fact_confirmed? fact_recovered? fact_updated? "
        "| rule_confirmed? rule_recovered? rule_updated?"
    ),
    "forget_memory": (
        "episode_expired? fact_retracted? rule_retracted? entry_deleted? rule_updated?"
    ),
    "restore_memory": (
        "fact_restored fact_confirmed? fact_updated? | rule_restored rule_confirmed? rule_updated? "
        "| entry_restored? entry_revived? entry_confirmed? entry_updated? | episode_updated | -"
    ),
    "mark_helpful": "rule_helpful rule_promoted? rule_confirmed? rule_recovered? rule_updated?",
    "mark_harmful": "rule_harmful rule_demoted? rule_updated?",
    "revert_inversion": "rule_restored rule_confirmed? rule_updated?",
    "create_link": "link_created{created} fact_updated? rule_updated? entry_updated?",
    "entity_create": "entity_created@",
    "entity_update": "entity_updated{0..1}",
    "entity_merge": (
        "entity_merge entity_updated? fact_superseded{facts_superseded} fact_updated* link_created*"
    ),
    "entity_unmerge": (
        "entity_unmerge entity_updated? fact_restored{facts_reactivated} fact_updated* "
        "link_deleted*"
    ),
    "create_entry": f"{_ENTRY} | -",
    "update_entry": "entry_updated? link_created* link_deleted* entry_revived? entry_confirmed?",
    "archive_entry": "entry_archived entry_updated? | -",
    "rate_entry": "entry_updated? link_created? link_updated? entry_confirmed? entry_revived?",
    "delete_entry": "entry_deleted | entry_purged link_deleted* | -",
    "get_entry": "-",
    "import_entries": (
        "entry_created* entry_updated* entry_deleted* link_created* link_deleted* entry_restored* "
        "entry_archived* entry_revived* entry_confirmed*"
    ),
    "consolidate_entries": (
        "entries_consolidated? entry_created{created} entry_archived* link_created* entry_updated*"
    ),
    "undo_entry_merge": (
        "entry_deleted? entry_archived* entry_revived* link_deleted* link_created* entry_updated*"
    ),
    "summarize_entry_merge": "entry_updated+",
    "run_entry_upkeep": (
        "entry_aged* entry_archived* entry_expired* entry_updated* entry_purged* link_deleted* "
        "entries_consolidated? entry_created* link_created*"
    ),
    "write_memory": (
        "memory_write_attempt approval_used? entry_created memory_write_success link_created* "
        "| memory_write_attempt memory_write_rejected approval_used? | memory_write_attempt"
    ),
    "query_memory": "memory_query approval_used? approval_refused?",
    "expire_memory": "memory_expired{expired} entry_updated*",
    "grant_approval": "approval_granted",
    "revoke_approval": "approval_revoked{0..value}",
    "set_entry_policy": "entry_policy_created? entry_policy_updated? entry_policy_deleted?",
    "add_sensitive_pattern": "sensitive_pattern_created? sensitive_pattern_updated?",
    "remove_sensitive_pattern": "sensitive_pattern_deleted{value}",
    "put_items": "item_stored* item_updated* item_deleted{deleted..*}",
    "batch_items": "item_stored* item_updated* item_deleted*",
    "delete_expired_items": "item_deleted{value}",
    "run_decay_sweep": (
        "fact_fading{fact.fading} fact_expired{fact.expired} fact_recovered{fact.recovered} "
        "rule_fading{rule.fading} rule_retracted{rule.expired} rule_recovered{rule.recovered} "
        # What was planned has begun.
        "fact_superseded* fact_updated* fact_confirmed* link_created*"
    ),
    "run_episode_cleanup": "episode_deleted* proposal_deleted* proposal_updated*",
    "run_rule_hygiene": "rule_inverted{inverted} rule_promoted{promoted} rule_updated*",
    "run_job": "*",
    "configure": "settings_updated? settings_created? texts_reindexed*",
    "reindex_texts": "texts_reindexed*",
    "erase_subject": (
        "erased? episode_deleted{episodes} fact_deleted{facts} rule_deleted{rules} "
        "entry_purged{entries} item_deleted{items} entity_deleted{entities} entity_updated* "
        "fact_updated* proposal_deleted* link_deleted* proposal_updated* | -"
    ),
    "create_access_token": "access_token_created",
    "revoke_access_token": "access_token_revoked{0..value}",
    "register_embedding_version": "embedding_version_created? embedding_version_updated?",
    "start_reembedding": "embedding_version_created? embedding_version_updated?",
    "activate_embedding_version": "embedding_version_updated{1..2} reembedded?",
    "cancel_reembedding": "embedding_version_updated{value}",
    "calibrate_similarity": "embedding_version_updated?",
    "fail_consolidation": (
        "episode_failed{0..*} episode_dead_lettered{dead_lettered} episode_updated*"
    ),
    "apply_consolidation": (
        "fact_created{facts_created} rule_created{rules_created} fact_superseded* fact_expired* "
        "fact_confirmed* rule_confirmed* rule_retracted* fact_recovered* rule_recovered* "
        "link_created* proposal_created* proposal_updated* episode_consolidated* episode_failed* "
        "episode_dead_lettered* episode_updated* fact_updated* rule_updated* fact_ended* "
        "proposal_accepted* proposal_rejected* | -"
    ),
    "requeue_episodes": "episode_requeued{value} episode_updated*",
    "requeue_run": "episode_requeued{value} episode_updated*",
    "undo_consolidation": (
        "fact_retracted* rule_retracted* fact_restored* rule_restored* fact_confirmed* "
        "rule_confirmed* fact_updated* rule_updated* proposal_rejected* proposal_updated*"
    ),
    "accept_proposals": (
        "proposal_accepted* proposal_rejected* fact_created* rule_created* fact_superseded* "
        "fact_confirmed* rule_confirmed* rule_retracted* fact_expired* link_created* fact_updated* "
        "rule_updated* fact_recovered* rule_recovered* episode_consolidated* episode_updated*"
    ),
    "reject_proposals": (
        "proposal_rejected* proposal_updated* episode_consolidated* episode_updated*"
    ),
}
EVENTS |= {
    "amend_proposal": "proposal_updated?",
    "import_memories": (
        "import_started? import_repeated? import_finished? import_renamed? "
        "fact_created{fact.created} episode_created{episode.created} rule_created{rule.created} "
        "entry_created{entry.created} fact_superseded* fact_confirmed* fact_updated* "
        "fact_recovered* rule_confirmed* rule_updated* rule_recovered* entry_updated* "
        "link_created*"
    ),
    "undo_import": (
        "import_undone? entry_deleted* entry_updated* episode_expired* episode_updated* "
        "fact_retracted* fact_restored* fact_confirmed* fact_updated* rule_retracted* "
        "rule_updated* link_deleted*"
    ),
    "undo_event": "*",
    "dismiss_contradiction": "contradiction_dismissed{value} contradiction_updated?",
    "reopen_contradiction": "contradiction_reopened{value}",
    "create_session": "session_started{rows}",
    "redeem_login_code": "session_started{rows}",
    "authenticate_session": "session_updated?",
    "end_session": "session_ended{value}",
    "delete_expired_sessions": "session_ended{value}",
    "record_verification": "chain_verified",
}
EVENTS["maybe_consolidate_entries"] = EVENTS["consolidate_entries"]
EVENTS["run_decay_sweep_all_tenants"] = EVENTS["run_decay_sweep"]

# Of a memory of several types, the answer names the type.
_CREATES: dict[str, tuple[str | None, str | None]] = {
    "store_fact": ("fact", None),
    "store_facts": ("fact", "id"),
    "store_episode": ("episode", None),
    "store_episodes": ("episode", "id"),
    "store_messages": ("episode", "episode_id"),
    "store_observations": ("episode", "id"),
    "store_rule": ("rule", None),
    "replace_rule": ("rule", None),
    "create_entry": ("entry", "id"),
    "write_memory": ("entry", "id"),
    "entity_create": ("entity", None),
    "import_memories": (None, "id"),
}
"""Of functions that store, the type of what they return, and the column with its id."""

_ITEM = re.compile(r"(?P<type>[a-z_]+)(?P<at>@?)(?P<times>[?+*]|\{[^}]*\})?$")
_MANY = 10**9


@dataclass(frozen=True)
class Events:
    """The events of a request.

    Attributes:
        counts: How many of each type.
        memories: Of each type, the memories.
        transactions: How many transactions wrote them, told apart by when each began.
    """

    counts: Counter[str]
    memories: dict[str, list[str]]
    transactions: int


NONE = Events(Counter(), {}, 0)


def figures_of(call: Call) -> dict[str, int]:
    """Return the numbers of an answer by name.

    Those of a value: ``value``, 1 for true and for an id. Those of rows: of each column the sum, or
    how many are true or not null; with the memory type before it where rows have one; how many had
    each outcome, with their type; ``rows``, how many there are; and what erase_subject says by the
    name of each kind.
    """
    rows = [row for row in call.rows if row is not None]
    figures: Counter[str] = Counter(rows=len(rows), value=0)
    for row in rows:
        if not isinstance(row, dict):
            figures["value"] += row if isinstance(row, int) else 1
            continue
        if "erased" in row and "object" in row:
            figures[row["object"]] += row["erased"]
        for name, value in row.items():
            number = value if isinstance(value, int) else int(value is not None)
            figures[name] += number
            if row.get("memory_type"):
                figures[f"{row['memory_type']}.{name}"] += number
        if "outcome" in row:
            figures[f"{row.get('memory_type')}.{row['outcome']}"] += 1
    return dict(figures)


def stored_by(call: Call) -> dict[str, str]:
    """Return the ids of what an answer says was stored, or was there under its key: their types."""
    if call.function not in _CREATES:
        return {}
    kind, column = _CREATES[call.function]
    found = {}
    for row in call.rows:
        each = row.get(column) if isinstance(row, dict) else row
        if isinstance(each, str):
            found[each] = kind or row["memory_type"]
    return found


def problem_of(call: Call, events: Events) -> str | None:
    """Return in what way the events of a call differ from its outcome, None if they do not."""
    if call.outcome == "failed":
        return f"failed, but left {dict(events.counts)}" if events.counts else None
    if not events.counts and call.outcome == "lost":
        return None
    # The Python client goes on with a change of language in calls of their own.
    if events.transactions > 1 and call.function != "configure":
        return f"wrote its events in {events.transactions} transactions"
    allowed = EVENTS.get(call.function, "-")
    if allowed == "*":
        return None
    known = call.outcome == "answered" and not call.arguments.get("dry_run")
    figures = figures_of(call) if known else None
    if call.function == "erase_subject" and call.arguments.get("dry_run"):
        allowed = "-"
    ids = set(stored_by(call)) if known else None
    if any(_fits(each, events, figures, ids) for each in allowed.split("|")):
        return None
    return f"left {dict(events.counts)}, but was {call.outcome}: {str(call.rows)[:2000]}"


def _fits(
    alternative: str, events: Events, figures: dict[str, int] | None, ids: set[str] | None
) -> bool:
    left = Counter(events.counts)
    for item in alternative.split():
        if item == "-":
            continue
        found = _ITEM.match(item)
        assert found is not None, item
        count = left.pop(found["type"], 0)
        if not _in_range(count, found["times"] or "", figures):
            return False
        if found["at"] and ids is not None and not ids.issuperset(events.memories[found["type"]]):
            return False
    return not left


def _in_range(count: int, times: str, figures: dict[str, int] | None) -> bool:
    ranges = {"": (1, 1), "?": (0, 1), "+": (1, _MANY), "*": (0, _MANY)}
    if times in ranges:
        first, last = ranges[times]
    else:
        low, _, high = times.strip("{}").partition("..")
        first = _number(low, figures, 0)
        last = _MANY if high == "*" else _number(high or low, figures, _MANY)
    return first <= count <= last


def _number(text: str, figures: dict[str, int] | None, unknown: int) -> int:
    if text.isdigit():
        return int(text)
    return unknown if figures is None else figures.get(text, 0)


def compare(
    connection: psycopg.Connection[Any], calls: dict[str, Call]
) -> tuple[int, int, list[str]]:
    """Compare all calls with all events.

    Returns:
        How many rows answers told of as stored or changed, how many calls did that, and what is
        wrong. A call that stores several memories wrote as many rows; any other one that left an
        event wrote one.
    """
    problems: list[str] = []
    writes = write_calls = 0
    told: set[str] = set()
    for request_id, events in _events_of(connection):
        call = calls.get(request_id)
        if call is None:
            problems.append(f"{request_id}: nobody made this call, but it left events")
            continue
        told.add(request_id)
        if problem := problem_of(call, events):
            problems.append(f"{request_id} {call.function} by {call.client}: {problem}")
        elif call.outcome == "answered":
            writes += max(1, len(stored_by(call)))
            write_calls += 1
    for request_id, call in calls.items():
        if request_id not in told and (problem := problem_of(call, NONE)):
            problems.append(f"{request_id} {call.function} by {call.client}: {problem}")
    problems += _lost_rows(connection, calls.values())
    return writes, write_calls, problems


def _events_of(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, Events]]:
    rows = connection.execute(
        """select
             request_id, event_type, count(*), array_agg(memory_id::text),
             array_agg(distinct created_at::text)
           from memory.memory_events
           where request_id is not null
           group by request_id, event_type
           order by request_id"""
    )
    counts: Counter[str] = Counter()
    memories: dict[str, list[str]] = {}
    transactions: set[str] = set()
    current = None
    for request_id, event_type, count, ids, writers in rows:
        if request_id != current:
            if current is not None:
                yield current, Events(counts, memories, len(transactions))
            current, counts, memories, transactions = request_id, Counter(), {}, set()
        counts[event_type] += count
        memories[event_type] = ids
        transactions.update(writers)
    if current is not None:
        yield current, Events(counts, memories, len(transactions))


def _lost_rows(connection: psycopg.Connection[Any], calls: Iterable[Call]) -> list[str]:
    """Return what was answered as stored and is not there, though nobody deleted it.

    And what was stored twice: two creations of one memory, or two rows for one idempotency key.
    """
    acknowledged: dict[str, tuple[str, str]] = {}
    keyed: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for call in calls:
        if call.outcome != "answered":
            continue
        for each, kind in stored_by(call).items():
            acknowledged[each] = (kind, call.request_id)
        for kind, key, stored in _keys_of(call):
            keyed[call.tenant, kind, key].add(stored)
    problems = []
    created = Counter[str]()
    deleted: set[str] = set()
    # What is undone gives its key up.
    undone: set[str] = set()
    for memory_id, event_type in connection.execute(
        r"""select memory_id::text, event_type from memory.memory_events
            where event_type ~ '^(episode|fact|rule|entity|entry)_(created|deleted|purged)$'
              or event_type = 'event_undone'"""
    ):
        if event_type.endswith("_created"):
            created[memory_id] += 1
        elif event_type == "event_undone":
            undone.add(memory_id)
        elif event_type != "entry_deleted":
            deleted.add(memory_id)
    tables = {
        "episode": "episodes",
        "fact": "facts",
        "rule": "rules",
        "entry": "entries",
        "entity": "entities",
    }
    present = {
        kind: {
            each for (each,) in connection.execute(f"select id::text from memory.{table}".encode())
        }
        for kind, table in tables.items()
    }
    for each, (kind, request_id) in acknowledged.items():
        if created[each] != 1:
            problems.append(f"{request_id}: {kind} {each} was created {created[each]} times")
        elif each not in present[kind] and each not in deleted:
            problems.append(f"{request_id}: {kind} {each} was acknowledged and is lost")
        elif each in present[kind] and each in deleted:
            problems.append(f"{request_id}: {kind} {each} was deleted and is there")
    for (tenant, kind, key), found in keyed.items():
        if len(found - deleted - undone) > 1:
            problems.append(f"{tenant}: {kind}s {sorted(found)} were stored under one key {key}")
    return problems


def _keys_of(call: Call) -> Iterator[tuple[str, str, str]]:
    """Yield the type, idempotency key and id of what a call stored with a key."""
    if call.function not in _CREATES:
        return
    kind, column = _CREATES[call.function]
    if kind is None:
        return
    batch = call.arguments.get("facts") or call.arguments.get("episodes")
    stored = [row if column is None else row[column] for row in call.rows if row is not None]
    for arguments, each in zip(batch or [call.arguments], stored, strict=False):
        if "idempotency_key" in arguments:
            yield kind, arguments["idempotency_key"], each
