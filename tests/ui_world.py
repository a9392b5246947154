"""A memory that somebody has lived with for some months, for the pages that show it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.conftest import Database

# subject, predicate, what was said over time as (days ago, content), permanence, tags, butler
FACTS: tuple[tuple[str, str, tuple[tuple[int, str], ...], str, str, str], ...] = (
    (
        "Mira",
        "lives_in",
        (
            (160, "Lisbon, in a flat near the Jardim da Estrela."),
            (34, "Porto, in a house near the river; moved in October for the new job."),
        ),
        "stable",
        "home",
        "assistant",
    ),
    (
        "Mira",
        "works_as",
        (
            (150, "a backend engineer at a ferry company"),
            (33, "lead engineer for timetables at a ferry company, with four people in her team"),
        ),
        "stable",
        "work",
        "assistant",
    ),
    (
        "Mira",
        "allergy",
        ((140, "Peanuts. Carries an injector; hospital once in 2019."),),
        "permanent",
        "health,food",
        "health",
    ),
    (
        "Mira",
        "favorite_tea",
        (
            (120, "black tea with milk"),
            (61, "jasmine tea without milk"),
            (9, "jasmine tea, brewed for two minutes at 80 °C"),
        ),
        "standard",
        "food",
        "home",
    ),
    (
        "Mira",
        "running_goal",
        (
            (88, "a half marathon in spring"),
            (12, "the half marathon of Porto in under two hours, on 14 March"),
        ),
        "standard",
        "health",
        "health",
    ),
    (
        "Mira",
        "sleep",
        ((55, "goes to bed at eleven and wakes at half past six without an alarm"),),
        "standard",
        "health",
        "health",
    ),
    (
        "Mira",
        "bedtime",
        ((3, "reads until half past twelve; the watch says six hours of sleep"),),
        "volatile",
        "health",
        "health",
    ),
    (
        "Mira",
        "editor",
        ((101, "Neovim with a light theme; no mouse"),),
        "standard",
        "work",
        "assistant",
    ),
    (
        "Mira",
        "meetings",
        ((72, "wants no meetings before ten, and none on Friday afternoons"),),
        "stable",
        "work",
        "assistant",
    ),
    (
        "Mira",
        "partner",
        ((139, "Jonas Weber, who teaches geography"),),
        "stable",
        "people",
        "assistant",
    ),
    (
        "Jonas",
        "birthday",
        ((138, "2 May; likes books about maps"),),
        "permanent",
        "people",
        "assistant",
    ),
    (
        "Jonas",
        "diet",
        ((97, "vegetarian, but eats fish at his parents'"),),
        "standard",
        "food",
        "home",
    ),
    (
        "Rex",
        "is",
        ((137, "a small dog, nine years old, afraid of thunder"),),
        "stable",
        "home",
        "home",
    ),
    (
        "Rex",
        "medicine",
        ((26, "half a tablet of Apoquel in the evening, with food"),),
        "volatile",
        "home,health",
        "health",
    ),
    (
        "kitchen",
        "coffee_machine",
        ((70, "has to be descaled every six weeks; last done on 20 September"),),
        "volatile",
        "home",
        "home",
    ),
    (
        "living room",
        "heating",
        ((19, "21 °C from six in the evening, 18 °C at night"),),
        "volatile",
        "home",
        "home",
    ),
    (
        "timetable service",
        "database",
        (
            (93, "PostgreSQL 15 with a replica in Frankfurt"),
            (21, "PostgreSQL 18 since the upgrade of 2 November, with a replica in Frankfurt"),
        ),
        "standard",
        "work",
        "assistant",
    ),
    (
        "timetable service",
        "deploys",
        ((90, "every Tuesday and Thursday by the release bot; never on the day before a holiday"),),
        "standard",
        "work",
        "assistant",
    ),
    (
        "timetable service",
        "incident",
        (
            (
                5,
                "On 19 November a migration locked the departures table for eleven minutes. Since then migrations set a lock timeout.",
            ),
        ),
        "standard",
        "work",
        "assistant",
    ),
    (
        "release bot",
        "token",
        ((40, "kept in the vault under ferry/release; rotates each quarter"),),
        "stable",
        "work",
        "assistant",
    ),
    (
        "Ines",
        "role",
        ((80, "product manager of the ticket shop; prefers calls over mail"),),
        "standard",
        "people,work",
        "assistant",
    ),
    (
        "Tomasz",
        "role",
        ((80, "on Mira's team; owns the importer of foreign timetables"),),
        "standard",
        "people,work",
        "assistant",
    ),
    (
        "trip to Madeira",
        "plan",
        (
            (45, "a week in January, hiking the levadas, hotel not booked"),
            (6, "8 to 15 January, Funchal, hotel Quinta do Sol booked, flights with TAP"),
        ),
        "ephemeral",
        "travel",
        "assistant",
    ),
    (
        "dentist",
        "appointment",
        ((30, "3 December at 08:40 at Dr. Faria, Rua do Almada"),),
        "ephemeral",
        "health",
        "health",
    ),
    (
        "car",
        "inspection",
        ((200, "due in January; the brakes were fine last time"),),
        "volatile",
        "home",
        "home",
    ),
    (
        "Mira",
        "reads",
        ((17, "science fiction before sleep, now The Left Hand of Darkness"),),
        "volatile",
        "home",
        "assistant",
    ),
    (
        "Mira",
        "languages",
        ((155, "Portuguese, Polish and English; learns German"),),
        "permanent",
        "people",
        "assistant",
    ),
)

RULES: tuple[tuple[str, str, int, int, int], ...] = (
    # text, scope, days ago, helped, harmed
    (
        "Before booking anything with food, ask whether peanuts can be avoided.",
        "global",
        120,
        17,
        0,
    ),
    (
        "Summarize the calendar of the day in three lines at most, at half past seven.",
        "assistant",
        110,
        9,
        1,
    ),
    ("Set a lock timeout before every migration of the timetable service.", "assistant", 5, 2, 0),
    ("Write dates as 14 March, not as 3/14.", "global", 96, 6, 0),
    ("Turn the heating down when nobody has moved for an hour.", "home", 64, 4, 3),
    (
        "Suggest a run when it is dry and below 22 °C, but not after a bad night.",
        "health",
        50,
        3,
        0,
    ),
    ("Offer to reschedule instead of declining a meeting.", "assistant", 44, 1, 0),
    ("Announce visitors by name.", "home", 80, 0, 4),
)

EPISODES: tuple[tuple[int, int, str, str, str], ...] = (
    # days ago, minutes of the day, butler, who said it, text
    (
        0,
        8 * 60 + 4,
        "assistant",
        "user",
        "Mira asked to move the stand-up to ten because Rex has to see the vet at nine.",
    ),
    (0, 8 * 60 + 5, "assistant", "agent", "Moved the stand-up to 10:00 and told Tomasz and Ines."),
    (
        0,
        7 * 60 + 31,
        "health",
        "tool",
        "Slept 6 h 12 min, resting pulse 58. Two hours less than usual.",
    ),
    (
        1,
        19 * 60 + 45,
        "home",
        "user",
        "Please make it 22 degrees in the living room on Sunday evenings, we sit there with the board games.",
    ),
    (
        1,
        12 * 60 + 10,
        "assistant",
        "user",
        "The hotel in Funchal confirmed: Quinta do Sol, 8 to 15 January, with breakfast.",
    ),
    (
        1,
        9 * 60,
        "assistant",
        "external",
        "Mail from Dr. Faria's practice: your appointment on 3 December moves from 08:40 to 09:20.",
    ),
    (
        2,
        21 * 60 + 15,
        "health",
        "user",
        "Rex's tablets upset his stomach. The vet says a quarter in the morning and a quarter in the evening.",
    ),
    (
        2,
        10 * 60 + 2,
        "assistant",
        "agent",
        "Stand-up: Tomasz finished the importer for Madeira's ferries; the replica lag alert fired twice.",
    ),
    (3, 18 * 60 + 20, "home", "tool", "Coffee machine reports: descaling needed."),
    (
        4,
        16 * 60 + 8,
        "assistant",
        "user",
        "If anything locks the departures table again, page me, also at night.",
    ),
    (
        5,
        11 * 60 + 40,
        "assistant",
        "agent",
        "The migration add_platform_column held a lock on departures for 11 minutes. Rolled back at 11:38.",
    ),
    (
        6,
        20 * 60,
        "assistant",
        "user",
        "Booked flights with TAP for Madeira, out on the 8th at 09:10, back on the 15th.",
    ),
    (
        8,
        7 * 60 + 50,
        "health",
        "user",
        "Ran nine kilometers along the river in 54 minutes; knee is fine again.",
    ),
    (
        9,
        17 * 60 + 30,
        "home",
        "user",
        "Jasmine tea tastes bitter when it brews for long. Two minutes at 80 degrees is right.",
    ),
    (
        12,
        13 * 60 + 5,
        "health",
        "user",
        "I signed up for the half marathon of Porto on 14 March. Under two hours would be great.",
    ),
    (
        14,
        9 * 60 + 30,
        "assistant",
        "user",
        "Ines would rather be called than mailed when the shop is affected.",
    ),
    (
        21,
        15 * 60,
        "assistant",
        "agent",
        "Upgraded the timetable database to PostgreSQL 18; the replica in Frankfurt follows.",
    ),
)

ENTRIES: tuple[tuple[int, str, str, str], ...] = (
    (
        20,
        "# Upgrade to PostgreSQL 18\n\n- rehearsed on the replica, 40 minutes\n- `pg_upgrade --link` took 3 minutes\n- analyze afterwards, or plans are bad for an hour\n",
        "work,postgres",
        "assistant",
    ),
    (
        15,
        "# Packing for the levadas\n\nHead lamp for the tunnels, rain jacket, the injector, Rex stays with Jonas's parents.\n",
        "travel",
        "assistant",
    ),
    (
        60,
        "# How Mira likes summaries\n\nThree lines, the decision first, numbers with their unit.\n",
        "style",
        "global",
    ),
    (
        7,
        "# Heating, what we tried\n\n1. motion sensor alone: too cold while reading\n2. motion and time of day: fine\n",
        "home",
        "home",
    ),
)

ENTITIES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Mira Nowak", "person", ("Mira", "M. Nowak")),
    ("Jonas Weber", "person", ("Jonas",)),
    ("Rex", "other", ("the dog",)),
    ("Ferry company", "organization", ("Transtejo North",)),
    ("Timetable service", "other", ("timetables",)),
    ("Ines Duarte", "person", ("Ines",)),
    ("Tomasz Zielinski", "person", ("Tomasz",)),
    ("Thomas Zielinski", "person", ()),
    ("Porto", "place", ()),
)

RELATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("Mira Nowak", "lives_in", "Porto", "Porto, near the river"),
    ("Mira Nowak", "partner", "Jonas Weber", "together since 2018"),
    ("Mira Nowak", "works_for", "Ferry company", "leads the team of timetables"),
    ("Mira Nowak", "owns", "Rex", "since he was a puppy"),
    ("Mira Nowak", "leads", "Timetable service", "with four people"),
    ("Tomasz Zielinski", "works_on", "Timetable service", "owns the importer"),
    ("Ines Duarte", "works_for", "Ferry company", "product manager of the ticket shop"),
    ("Thomas Zielinski", "works_for", "Ferry company", "imports foreign timetables"),
    ("Jonas Weber", "lives_in", "Porto", "with Mira"),
)


@dataclass
class World:
    """What was stored.

    Attributes:
        facts: Ids of facts by subject and predicate, those known now.
        rules: Ids of rules by text.
        episodes: Ids of episodes by text.
        entries: Ids of entries by the first line.
        entities: Ids of entities by name.
        run_id: A run of consolidation with proposals.
        undoable_run_id: A run that changed something.
        event_id: An event that can be undone.
    """

    facts: dict[tuple[str, str], str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    episodes: dict[str, str] = field(default_factory=dict)
    entries: dict[str, str] = field(default_factory=dict)
    entities: dict[str, str] = field(default_factory=dict)
    run_id: str = ""
    undoable_run_id: str = ""
    event_id: str = ""


def _call(database: Database, tenant: str, actor: str, statement: str, *given: Any) -> Any:
    [(made, value)] = database.query(
        "with r as materialized "
        "(select memory.set_request(actor => %s, reason => 'user_request') as made) "
        f"select r.made, {statement} from r",
        actor,
        *given,
        tenant=tenant,
    )
    del made
    return value


def furnish(database: Database, tenant: str) -> World:
    """Store all of it for a tenant that has nothing yet."""
    world = World()
    stories = sorted(
        (
            (days, subject, predicate, content, permanence, tags, butler)
            for subject, predicate, versions, permanence, tags, butler in FACTS
            for days, content in versions
        ),
        reverse=True,
    )
    for name, kind, aliases in ENTITIES:
        world.entities[name] = _call(
            database,
            tenant,
            "assistant",
            "memory.entity_create(canonical_name => %s, entity_type => %s, aliases => %s)::text",
            name,
            kind,
            list(aliases),
        )
    for days, subject, predicate, content, permanence, tags, butler in stories:
        world.facts[subject, predicate] = _call(
            database,
            tenant,
            butler,
            """memory.store_fact(%s, %s, %s, permanence => %s, tags => %s::jsonb, source_butler => %s,
                 importance => %s, as_of => now() - make_interval(days => %s))::text""",
            subject,
            predicate,
            content,
            permanence,
            json.dumps(tags.split(",")),
            butler,
            9 if "allergy" in predicate else 5 + len(content) % 4,
            days,
        )
    for source, predicate, target, content in RELATIONS:
        world.facts[source, predicate] = _call(
            database,
            tenant,
            "assistant",
            """memory.store_fact(%s, %s, %s, permanence => 'stable', entity_id => %s::uuid,
                 object_entity_id => %s::uuid, as_of => now() - interval '50 days')::text""",
            source,
            predicate,
            content,
            world.entities[source],
            world.entities[target],
        )
    for days, minutes, butler, who, text in sorted(EPISODES, reverse=True):
        world.episodes[text] = _call(
            database,
            tenant,
            butler,
            """memory.store_episode(%s, %s, source_class => %s, session_id => %s::uuid,
                 created_at => least(
                   date_trunc('day', now()) - make_interval(days => %s) + make_interval(mins => %s),
                   now() - interval '5 minutes'
                 ))::text""",
            text,
            butler,
            who,
            f"00000000-0000-4000-8000-{days:012d}",
            days,
            minutes,
        )
    for text, scope, days, helped, harmed in RULES:
        world.rules[text] = rule = _call(
            database,
            tenant,
            "assistant",
            "memory.store_rule(%s, scope => %s, as_of => now() - make_interval(days => %s))::text",
            text,
            scope,
            days,
        )
        for outcome, times in (("helpful", helped), ("harmful", harmed)):
            for time in range(times):
                reason = ", 'it announced the wrong person'" if outcome == "harmful" else ""
                _call(
                    database,
                    tenant,
                    scope,
                    f"""(memory.mark_{outcome}(%s::uuid{reason},
                          as_of => now() - make_interval(days => %s) + make_interval(hours => %s))).id""",
                    rule,
                    min(days, 40),
                    20 * time,
                )
    for days, text, tags, scope in ENTRIES:
        world.entries[text.splitlines()[0]] = _call(
            database,
            tenant,
            "assistant",
            """(select e.id::text from memory.create_entry(%s, tags => %s::jsonb, scope => %s,
                 as_of => now() - make_interval(days => %s)) as e)""",
            text,
            json.dumps(tags.split(",")),
            scope,
            days,
        )
    _confirm_and_forget(database, tenant, world)
    _learn(database, tenant, world)
    for job in ("run_rule_hygiene", "run_decay_sweep"):
        _call(database, tenant, "nightly", f"(select count(*) from memory.{job}())")
    _spread_events(database, tenant)
    database.query("select memory.seal_events()", tenant=tenant)
    world.event_id = str(
        database.value(
            "select id from memory.list_events(event_type => 'fact_retracted')", tenant=tenant
        )
    )
    return world


def live_on(database: Database, tenant: str, world: World) -> None:
    """Do what somebody does on a day, after all else."""
    for actor, statement, *given in (
        (
            "home",
            """memory.store_fact('living room', 'heating', '22 \u00b0C from six in the evening, 18 \u00b0C at night',
                 tags => '["home"]', source_butler => 'home')""",
        ),
        ("mira", "memory.confirm_memory('fact', %s::uuid)", world.facts["Rex", "medicine"]),
        ("mira", "(memory.mark_helpful(%s::uuid)).id", next(iter(world.rules.values()))),
        (
            "assistant",
            """memory.store_fact('Mira', 'dentist', 'Dr. Faria, moved to 3 December at 09:20',
                 tags => '["health"]', source_butler => 'assistant')""",
        ),
        ("mira", "memory.confirm_memory('fact', %s::uuid)", world.facts["Mira", "running_goal"]),
    ):
        _call(database, tenant, actor, statement, *given)


def _spread_events(database: Database, tenant: str) -> None:
    """Date events as their memories are: they were written just now, whatever as_of said."""
    database.query("alter table memory.memory_events disable trigger refuse_change")
    database.query(
        """update memory.memory_events as e set created_at = least(
             case when e.event_type = 'fact_superseded'
               then (select f.updated_at from memory.facts as f
                     where f.tenant_id = m.tenant_id and f.id = m.id)
               when e.event_type ~ '_(confirmed|helpful|harmful)$'
               then greatest(m.created_at, coalesce(m.last_confirmed_at, m.created_at))
               else m.created_at end,
             now())
           from memory.searchable_memories as m
           where e.tenant_id = %s and m.tenant_id = e.tenant_id and m.id = e.memory_id
             and e.event_type !~ '_(fading|expired|retracted|consolidated|updated)$'""",
        tenant,
        tenant=tenant,
    )
    database.query("alter table memory.memory_events enable always trigger refuse_change")


def _confirm_and_forget(database: Database, tenant: str, world: World) -> None:
    for key, days in ((("Mira", "editor"), 30), (("Mira", "meetings"), 8), (("Jonas", "diet"), 20)):
        _call(
            database,
            tenant,
            "mira",
            "memory.confirm_memory('fact', %s::uuid, as_of => now() - make_interval(days => %s))",
            world.facts[key],
            days,
        )
    _call(
        database,
        tenant,
        "mira",
        "memory.forget_memory('fact', %s::uuid)",
        world.facts["release bot", "token"],
    )
    tea = "Jasmine tea tastes bitter when it brews for long. Two minutes at 80 degrees is right."
    _call(
        database,
        tenant,
        "assistant",
        "(memory.create_link('fact', %s::uuid, 'episode', %s::uuid, 'derived_from')).created",
        world.facts["Mira", "favorite_tea"],
        world.episodes[tea],
    )
    _call(
        database,
        tenant,
        "assistant",
        "(memory.create_link('rule', %s::uuid, 'fact', %s::uuid, 'derived_from')).created",
        world.rules[RULES[0][0]],
        world.facts["Mira", "allergy"],
    )
    _call(
        database,
        tenant,
        "assistant",
        "(memory.create_link('fact', %s::uuid, 'fact', %s::uuid, 'contradicts')).created",
        world.facts["Mira", "bedtime"],
        world.facts["Mira", "sleep"],
    )


def _learn(database: Database, tenant: str, world: World) -> None:
    """Have two runs of consolidation: one applied, one that waits for review."""
    by_text = world.episodes

    def run(butler: str, output: dict[str, Any]) -> str:
        rows = database.query(
            "select run_id::text, episode_id::text from memory.claim_episodes(%s)",
            butler,
            tenant=tenant,
        )
        run_id = str(rows[0][0])
        _call(
            database,
            tenant,
            "consolidation",
            "(memory.apply_consolidation(%s::uuid, %s::jsonb, model => 'a small model', prompt_version => '7')).status",
            run_id,
            json.dumps(output),
        )
        return run_id

    run_home = run(
        "home",
        {
            "new_facts": [
                {
                    "subject": "Sunday evening",
                    "predicate": "board_games",
                    "content": "Mira and Jonas play board games in the living room on Sunday evenings.",
                    "evidence": [
                        by_text[
                            "Please make it 22 degrees in the living room on Sunday evenings, we sit there with the board games."
                        ]
                    ],
                }
            ],
        },
    )
    world.undoable_run_id = run_home
    database.query("select memory.configure('{\"consolidation_review\": true}')", tenant=tenant)
    health = "Rex's tablets upset his stomach. The vet says a quarter in the morning and a quarter in the evening."
    ran = "Ran nine kilometers along the river in 54 minutes; knee is fine again."
    world.run_id = run(
        "health",
        {
            "updated_facts": [
                {
                    "target_id": world.facts["Rex", "medicine"],
                    "content": "a quarter of a tablet of Apoquel in the morning and a quarter in the evening, with food",
                    "evidence": [by_text[health]],
                }
            ],
            "new_facts": [
                {
                    "subject": "Mira",
                    "predicate": "knee",
                    "content": "fine again; runs nine kilometers in 54 minutes",
                    "evidence": [by_text[ran]],
                }
            ],
            "new_rules": [
                {
                    "content": "Give Rex his tablet with food, split between morning and evening.",
                    "evidence": [by_text[health]],
                }
            ],
        },
    )
    database.query("select memory.configure('{\"consolidation_review\": null}')", tenant=tenant)
