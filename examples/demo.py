"""The whole story in a minute: what two agents saw, what is remembered of it, and what fades.

make demo
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from pymem import Memory, display, get_embedding_engine, schema
from pymem.consolidation.llm import llm_from_environment
from pymem.consolidation.worker import ConsolidationWorker
from pymem.embedding import embeddings_installed
from pymem.ingest import ingest
from pymem.server import EmbeddedServer
from pymem.worker import EmbeddingWorker

SESSIONS = Path(__file__).parent / "sessions.jsonl"
ANSWERS = Path(__file__).parent / "consolidation.json"
DATABASE, LOGIN = "pymem_demo", "pymem_demo"

FACTS: list[dict[str, Any]] = [
    {"subject": "Mara", "predicate": "lives_in", "content": "Lisbon", "permanence": "stable"},
    {
        "subject": "Mara",
        "predicate": "allergy",
        "content": "hazelnuts; almonds and walnuts are fine",
        "importance": 9,
        "permanence": "permanent",
    },
    {"subject": "Mara", "predicate": "breakfast_milk", "content": "oat milk", "scope": "home"},
    {
        "subject": "Mara",
        "predicate": "quiet_hours",
        "content": "no reminders from 19:00 to 20:30 on Tuesdays and Thursdays: Portuguese lessons",
        "importance": 7,
        "scope": "home",
    },
    {
        "subject": "Ines",
        "predicate": "diet",
        "content": "eats no fish",
        "importance": 6,
        "permanence": "stable",
        "scope": "home",
    },
    {
        "subject": "weather",
        "predicate": "this_week",
        "content": "rain from Wednesday on",
        "permanence": "ephemeral",
        "scope": "home",
    },
    {
        "subject": "version 4",
        "predicate": "release_date",
        "content": "on the 27th, moved because of the audit",
        "permanence": "volatile",
        "scope": "work",
    },
    {
        "subject": "nightly export",
        "predicate": "owner",
        "content": "Priya, since Jonas is on leave",
        "scope": "work",
    },
]

RULES: list[dict[str, Any]] = [
    {"content": "Before you plan a meal, check the allergies and diets of everybody who eats."},
    {"content": "Do not deploy on Friday afternoons.", "scope": "work"},
    {"content": "Build indexes concurrently on tables that are in use.", "scope": "work"},
]

console = Console(width=112, highlight=False)


def heading(number: int, title: str, text: str) -> None:
    """Begin a chapter."""
    console.print()
    console.rule(f"[bold]{number}. {title}", align="left")
    console.print(text)


def fresh_database(server: EmbeddedServer) -> str:
    """Return the connection string of an ordinary login of a new, empty memory."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"drop database if exists {DATABASE} with (force)")
    schema.create_database(server.url(), DATABASE)
    schema.deploy(server.url(DATABASE))
    roles = ("memory_writer", "memory_worker", "memory_reader", "memory_admin")
    schema.create_login(server.url(DATABASE), LOGIN, "default", roles)
    return server.url(DATABASE, LOGIN)


async def story(memory: Memory) -> None:
    """Tell it."""
    heading(
        1,
        "Two agents report what they saw",
        f"{SESSIONS.name} holds the observations of a household agent and of a work agent.",
    )
    report = await ingest(memory, SESSIONS)
    console.print(f"{report.stored} episodes stored; each is found by its words at once.")
    if embeddings_installed():
        embedded = await EmbeddingWorker(memory, get_embedding_engine()).run_until_empty()
        console.print(f"{embedded} of them embedded by the worker: now they are found by meaning.")

    heading(
        2, "What is known, and what to do", "Facts have a subject and a predicate; rules advise."
    )
    assistant = memory.for_request(actor="assistant", request_id="demo-1")
    facts = {fact["predicate"]: await assistant.store_fact(**fact) for fact in FACTS}
    for rule in RULES:
        await assistant.store_rule(**rule)
    rows = [
        {
            "fact": f"[{fact['subject']}] [{fact['predicate']}]: {fact['content']}",
            "permanence": fact.get("permanence", "standard"),
            "scope": fact.get("scope", "global"),
        }
        for fact in FACTS
    ]
    console.print(display.tabulate(rows))

    heading(
        3,
        "A preference changes",
        "Oat milk upsets her stomach. The new fact has the same subject and predicate, so it "
        "supersedes the old one, in one transaction; nothing is overwritten.",
    )
    changed = memory.for_request(actor="assistant", request_id="demo-2", reason="user_correction")
    milk = await changed.store_fact("Mara", "breakfast_milk", "ordinary milk", scope="home")
    old = await memory.get_memory("fact", facts["breakfast_milk"]) or {}
    [link] = await memory.get_links("fact", milk, direction="outgoing")
    console.print(f"  {link.target_id}  {old['content']}: {old['lifecycle_state']}")
    console.print(f"  {link.source_id}  ordinary milk: active, {link.relation} the one above")

    query = "What must I know before I cook for her sister?"
    heading(
        4,
        "The same question in three modes",
        f'"{query}"  No memory holds these words in this order; hybrid search weighs both.',
    )
    modes = ("keyword", "semantic", "hybrid") if embeddings_installed() else ("keyword",) * 3
    lists = [await memory.search(query, mode=mode, max_results=4) for mode in modes]
    headings = ("by words", "by meaning", "hybrid")
    rows = [
        {
            heading: display.what(found[place]) if place < len(found) else None
            for heading, found in zip(headings, lists, strict=True)
        }
        for place in range(4)
    ]
    console.print(display.tabulate(rows, numbered=True))

    heading(
        5,
        "What matters, and why",
        "recall --explain: what fits comes first; of what fits about equally, what is important, "
        "was used lately and is still believed.",
    )
    topic = "planning dinner for guests"
    candidates = await memory.recall_explain(topic, scope="home", max_results=6)
    console.print(display.explained(candidates[:9], await memory.current_settings()))

    heading(
        6,
        "The block for the next system prompt",
        "context: sectioned, within a budget, the same text for the same memory, byte for byte.",
    )
    prompt = "Ines comes for dinner on Thursday evening. Plan the meal and remind me to shop."
    text = await memory.context(prompt, "home", token_budget=260, include_recent_episodes=True)
    console.print(Panel(Text(text.rstrip()), title=prompt, title_align="left"))
    console.print(f"{len(text)} characters for a budget of 260 tokens, at most {260 * 4}.")

    later = datetime.now(UTC) + timedelta(days=60)
    heading(
        7,
        f"Sixty days later ({later:%d %B %Y})",
        "Confidence decays with time, faster for what is fleeting. Below 0.20 a fact is left out "
        "of recall; confirming it would start its decay anew.",
    )
    everything = "Mara Ines weather version export"
    then = {
        memory.id: memory
        for memory in await memory.rank_memories(
            everything, types=["fact"], min_confidence=0, max_results=50, as_of=later
        )
    }
    now = await memory.rank_memories(everything, types=["fact"], min_confidence=0, max_results=50)
    left = {fact.id: then[fact.id].effective_confidence for fact in now}
    console.print(
        display.tabulate(
            now,
            display.Column("fact", display.what),
            "permanence",
            display.Column("now", "effective_confidence", 2),
            display.Column("in 60 days", lambda fact: left[fact.id], 2),
            display.Column("", lambda fact: "faded" if left[fact.id] < 0.2 else ""),
        )
    )

    heading(
        8,
        "The audit trail of one fact",
        "Triggers write it, whoever changes a row and however; it holds no content and cannot be "
        "edited.",
    )
    console.print(display.events(await memory.list_events(memory_id=facts["breakfast_milk"])))

    llm = llm_from_environment()
    heading(
        9,
        "An LLM draws knowledge from the episodes",
        f"The model: {llm.model}"
        if llm
        else f"The answers are recorded ones ({ANSWERS.name}); set PYMEM_LLM='claude -p' or the "
        "like for real ones. The oat milk waits for a decision: the user stated otherwise.",
    )
    worker = ConsolidationWorker(memory, llm or recorded, model=None if llm else "recorded answer")
    done = await worker.run()
    console.print(display.consolidation_runs(done.runs))
    rows = []
    for fact in await memory.rank_memories(
        "landlord plumber export dashboards Mara wakes", types=["fact"], max_results=50
    ):
        if "consolidation_run" not in fact.metadata:
            continue
        links = await memory.get_links("fact", fact.id, direction="outgoing")
        sources = [await memory.get_memory("episode", link.target_id) or {} for link in links]
        episodes = display.one_line(" / ".join(each["content"] for each in sources), 90)
        rows.append(
            {
                "from the episode": episodes,
                "became": display.what(fact),
                "permanence": fact.permanence,
            }
        )
    console.print(display.tabulate(rows))
    console.print(*display.proposals(await memory.preview_proposals()))

    heading(
        10,
        "Mara moves",
        "Her own words, later than what was known: the LLM says which fact changes, the database "
        "that it may. The old city is history.",
    )
    await memory.add("I have moved: I live in Porto now, not in Lisbon.", butler="home")
    done = await worker.run()
    console.print(display.consolidation_runs(done.runs))
    question = "Where does Mara live?"
    [first, *_] = await memory.recall(question, types=["fact"])
    context = await memory.context(question, "home")
    before = await memory.get_memory("fact", facts["lives_in"]) or {}
    console.print(f"  recalled  {display.what(first)}", markup=False)
    for line in context.splitlines():
        if "lives_in" in line:
            console.print(f"  prompt    {line}", markup=False)
    console.print(f"  history   {before['content']}: {before['lifecycle_state']}")

    heading(
        11,
        "Two names, one person",
        "The work agent knows a Mara Lind of her own. Merging moves what is known to one of the "
        "two; of facts that contradict each other the surer one stays. It can be taken back.",
    )
    home = await assistant.entity_create("Mara", "person")
    work = await assistant.entity_create("Mara Lind", "person", aliases=["M. Lind"])
    office = await assistant.entity_create("Lindgren Analytics", "organization")
    await assistant.store_fact("Mara", "phone", "ends in 12", entity_id=home, confidence=0.6)
    await assistant.store_fact("M. Lind", "phone", "ends in 97", entity_id=work, confidence=0.9)
    await assistant.store_fact(
        "M. Lind", "works at", "Lindgren Analytics", entity_id=work, object_entity_id=office
    )
    rows = []
    for moment, change in (
        ("before", None),
        ("merged", assistant.entity_merge(work, home)),
        ("unmerged", assistant.entity_unmerge(work)),
    ):
        if change is not None:
            await change
        found = await memory.entity_resolve("lind", entity_type="person")
        near = await memory.entity_neighbors(home)
        both = [await memory.entity_get(home), await memory.entity_get(work)]
        rows.append(
            {
                "": moment,
                "whom “lind” may mean": ", ".join(
                    f"{each.canonical_name} ({each.name_match})" for each in found
                ),
                "facts": ", ".join(
                    f"{each.canonical_name}: {each.active_facts}" for each in both if each
                ),
                "around Mara": ", ".join(f"{each.relation} {each.canonical_name}" for each in near),
            }
        )
    console.print(display.tabulate(rows))

    heading(
        12,
        "Notes, of which one is refused and two become one",
        "Entries are free-form, in Markdown. The strict store takes only what somebody asked for, "
        "and nothing sensitive without an approval; what it refuses leaves a trace.",
    )
    await tell_entries(memory)


NOTES = (
    ("Mara prefers **window seats** on trains.", 0.8),
    ("Mara prefers window seats on trains. She gets sick facing backwards.", 0.7),
    ("# Landlord\n\nMr. Costa, reachable in the mornings.", 0.9),
)


async def tell_entries(memory: Memory) -> None:
    """Tell what becomes of entries."""
    card = {
        "content": "Her card is 4111 1111 1111 1111.",
        "scope": {"user_id": "mara"},
        "metadata": {
            "category": "note",
            "confidence": 0.9,
            "importance": "high",
            "source": "user",
        },
    }
    refused = await memory.write_memory(card, requested_by="assistant")
    console.print(f"  written without approval: {refused.status}, {refused.reason}")
    approval = await memory.grant_approval(
        "write_sensitive", data_class="payment_card", user_id="mara", reason="user_request"
    )
    written = await memory.write_memory(card, requested_by="assistant", approval_id=approval)
    console.print(f"  with an approval for one write: {written.status} as {written.entry_id}")
    for user in ("mara", "ines"):
        found = await memory.query_memory("which card does she pay with?", user_id=user)
        console.print(f"  asked for {user}: {[each.content for each in found] or 'nothing'}")
    traces = await memory.list_events(event_type="memory_write_attempt")
    console.print(
        display.tabulate(
            [
                {
                    "event": trace.event_type,
                    "stored": trace.payload["memory_id"] is not None,
                    "reason": trace.payload["reason"],
                    "confidence": trace.payload["confidence"],
                }
                for trace in traces
            ]
        )
    )

    for content, confidence in NOTES:
        await memory.create_entry(content, confidence=confidence, tags=["travel"], source="user")
    expression = "trains AND tag:travel AND confidence:>=0.7"
    for moment, change in (
        ("before", None),
        ("merged", memory.consolidate_entries(min_similarity=0.7)),
        ("undone", None),
    ):
        if change is not None:
            await change
        notes = await memory.query(expression, types=["entry"])
        rows = [
            {
                moment: note.entry_id,
                "confidence": note.confidence,
                "content": display.one_line(note.content, 76),
            }
            for note in notes
        ]
        console.print(display.tabulate(rows))
        if moment == "merged" and notes and notes[0].entry_id is not None:
            await memory.undo_entry_merge(notes[0].entry_id)


async def recorded(prompt: str, _: str) -> str:
    """Answer as an LLM once did; it named episodes by their first words, and facts by their key."""
    episodes = re.findall(r"^<(e\d+) [^>]*> (.*)$", prompt, re.M)
    facts = {key: number for number, key in re.findall(r"^(f\d+) \([^)]*\) (.*) \|", prompt, re.M)}
    answers = json.loads(ANSWERS.read_text())
    answer = answers[
        "moved" if "I have moved" in prompt else "work" if "billing" in prompt else "home"
    ]
    for items in answer.values():
        for item in items:
            if isinstance(item, dict):
                item["evidence"] = [
                    identifier
                    for identifier, content in episodes
                    if any(content.startswith(words) for words in item["evidence"])
                ]
                if "target_id" in item:
                    item["target_id"] = facts[item["target_id"]]
    return json.dumps(answer)


async def main() -> None:
    """Start the server, tell the story."""
    logging.getLogger("transformers").setLevel(logging.ERROR)
    server = EmbeddedServer()
    with console.status("starting PostgreSQL and deploying the schema memory"):
        server.start()
        url = fresh_database(server)
    console.print(f"[bold]pymem[/bold] on {url}")
    engine = get_embedding_engine() if embeddings_installed() else None
    if engine is not None:
        with console.status("loading the embedding model"):
            await asyncio.to_thread(engine.embed, "hello")
    async with await Memory.connect(url, engine=engine) as memory:
        await story(memory)
    console.print()
    console.print(f"Look around: psql '{url}'")
    console.print("             select * from memory.recall('what does Mara drink');")
    console.print("A memory of your own: .venv/bin/pymem up")


if __name__ == "__main__":
    asyncio.run(main())
