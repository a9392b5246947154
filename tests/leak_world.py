"""Two worlds for tests/test_leaks.py: one in which tenant a never was, and one with it.

Tenant b is the same in both, down to the ids. So whatever b asks, and with whichever names and ids
of a, has to have the same answer in both: where it has not, b learns something of a.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from tests import leak_matrix
from tests.conftest import ALL_ROLES, Database

ROLES = ("memory_writer", "memory_worker", "memory_reader", "memory_admin")

Things = Mapping[str, str]
"""What a tenant has: by its name in the matrix an id, a key or a text."""


# The logins that try


@dataclass(frozen=True)
class Attacker:
    """A login of tenant b, and what it sets for its transactions."""

    name: str
    roles: str
    tenant: str | None = "b"
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def login(self) -> str:
        return f"pymem_test_leak_{self.name}"


def attackers(database: Database) -> list[Attacker]:
    forged = forged_settings(database)
    return [
        *(Attacker(role.removeprefix("memory_"), role) for role in ROLES),
        Attacker("forger", ALL_ROLES, settings=forged),
        Attacker("off", ALL_ROLES, settings=forged | {"row_security": "off"}),
        Attacker("poser", ALL_ROLES),
        Attacker("stranger", "pg_read_all_settings", tenant=None),
        Attacker(
            "gateway",
            f"{ALL_ROLES}, memory_gateway",
            tenant=None,
            settings={"memory.tenant_id": "b"},
        ),
    ]


def forged_settings(database: Database) -> dict[str, str]:
    """Every setting that the schema reads, with a value of tenant a's."""
    names = database.query(
        r"""select distinct m[1]
            from (
              select pg_get_functiondef(p.oid) as code from pg_proc as p
              where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f'
              union all
              select pg_get_triggerdef(t.oid) from pg_trigger as t where not t.tgisinternal
              union all
              select concat_ws(' ', qual, with_check) from pg_policies where schemaname = 'memory'
            ) as c
            cross join lateral regexp_matches(
              c.code, 'current_setting\(''(memory\.\w+)''', 'g'
            ) as m"""
    )
    values = {
        "memory.tenant_id": "a",
        "memory.actor": "user:quartzite",
        "memory.butler": "butler quartzite",
    }
    return {name: values.get(name, "on") for (name,) in names}


# What a tenant has


def furnish(database: Database, tenant: str, word: str, *, more: int = 0) -> dict[str, str]:
    """Give a tenant one of everything, each text of which holds its word, and return the things.

    Args:
        database: Where.
        tenant: The tenant.
        word: A word of letters.
        more: How many more memories it has, so that no count is that of the other tenant; also, it
            is in the middle of a change of the embedding model, and of a consolidation.
    """
    database.login(tenant, name=f"pymem_test_leak_{tenant}")
    things = {
        "tenant_id": tenant,
        "actor": f"user:{word}",
        "request_id": f"request-{word}",
        "reason": f"because_{word}",
        "butler": f"butler {word}",
        "busy_butler": f"busy {word}",
        "scope": f"scope {word}",
        "subject": f"subject {word}",
        "predicate": f"predicate {word}",
        "content": f"tea with {word}",
        "name": f"Ada {word}",
        "idempotency_key": f"key {word}",
        "user_id": f"user {word}",
        "category": f"category {word}",
        "model": f"model {word}",
        "version": "1",
        "next_version": "2",
        "vector": str([1.0] + [0.0] * 383),
    }
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("select set_config('memory.tenant_id', %s, false)", (tenant,))

        def value(statement: str, **others: Any) -> Any:
            row = connection.execute(statement, things | others).fetchone()
            assert row is not None
            return row[0]

        def do(name: str, statement: str, **others: Any) -> str:
            things[name] = str(value(statement, **others))
            return things[name]

        def consolidate(butler: str, **answer: dict[str, Any]) -> str:
            run = str(value("select run_id from memory.claim_episodes(%(b)s) limit 1", b=butler))
            batch = (
                "select to_jsonb(episode_ids) from memory.list_consolidation_runs(run_id => %(r)s)"
            )
            evidence = value(batch, r=run)
            output = {key: [{**item, "evidence": evidence}] for key, item in answer.items()}
            value(
                "select id from memory.apply_consolidation(%(r)s, %(o)s)",
                r=run,
                o=json.dumps(output),
            )
            return run

        # Of a login that is gone; the doctor tells of it.
        value(
            "insert into memory.tenant_logins (login, tenant_id)"
            " values ('gone ' || %(word)s, %(tenant_id)s) returning login",
            word=word,
        )
        connection.execute(f"set session authorization pymem_test_leak_{tenant}")
        value(
            "select memory.set_request(actor => %(actor)s, request_id => %(request_id)s,"
            " reason => %(reason)s)"
        )
        value(
            """select memory.configure('{"retrieval_limit": %s, "consolidation_max_attempts": 1, "episode_pending_grace_days": 0}')"""
            % (7 + more)
        )
        things["session"] = value("select gen_random_uuid()::text")
        do("active", "select memory.register_embedding_version(%(model)s, %(version)s)")
        do(
            "episode",
            """select memory.store_episode(
                 %(content)s, %(butler)s, session_id => %(session)s, embedding => %(vector)s,
                 metadata => jsonb_build_object('speaker', %(name)s::text),
                 idempotency_key => %(idempotency_key)s)""",
        )
        do("deleted", "select memory.store_episode(%(content)s, %(butler)s)")
        fact = (
            "select memory.store_fact(%(subject)s, %(predicate)s, %(content)s, scope => %(scope)s,"
            " tags => jsonb_build_array(%(name)s::text), metadata => jsonb_build_object('note', %(name)s::text)"
        )
        do("superseded", f"{fact}, source_episode_id => %(deleted)s)")
        do(
            "fact",
            f"{fact}, embedding => %(vector)s, idempotency_key => %(idempotency_key)s,"
            " source_butler => %(butler)s, source_episode_id => %(episode)s)",
        )
        do("retracted", "select memory.store_fact(%(name)s, 'was', %(content)s)")
        for _ in range(more):
            # Numbers that the entries of the other tenant have; and what expires in the calls.
            value(
                "select id from memory.create_entry(%(content)s, expires_at => now() + interval '30 min')"
            )
        # One that stays, and one that expires in the calls.
        value(
            """select stored from memory.put_items(jsonb_build_array(
                 jsonb_build_object(
                   'namespace', jsonb_build_array('users', %(name)s::text), 'key', %(subject)s::text,
                   'value', jsonb_build_object('text', %(content)s::text), 'vectors',
                   jsonb_build_array(jsonb_build_object(
                     'path', 'text', 'embedding', %(vector)s::text::jsonb
                   ))
                 ),
                 jsonb_build_object(
                   'namespace', jsonb_build_array('users', %(name)s::text), 'key', 'short',
                   'value', '{}'::jsonb, 'ttl', 30
                 )
               ))"""
        )
        entry = (
            "from memory.create_entry(%(content)s, tags => jsonb_build_array(%(name)s::text),"
            " category => %(category)s, scope => %(scope)s, user_id => %(user_id)s"
        )
        do("deleted_entry_id", f"select entry_id {entry})")
        value("select memory.delete_entry(%(deleted_entry_id)s)")
        do("other_entry_id", f"select entry_id {entry})")
        do(
            "entry_id",
            f"select entry_id {entry}, related => array[%(other_entry_id)s], embedding => %(vector)s,"
            " idempotency_key => %(idempotency_key)s)",
        )
        do("entry", "select memory.get_entry_uuid(%(entry_id)s)")
        value("select version from memory.update_entry(%(entry_id)s, tags => '[]')")
        written = (
            "select id from memory.write_memory(jsonb_build_object('id', %(idempotency_key)s::text,"
            " 'content', %(content)s::text, 'scope', jsonb_build_object('user_id', %(user_id)s::text),"
            " 'metadata', jsonb_build_object('category', 'note', 'confidence', 0.9, 'importance',"
            " 'low', 'source', 'user', 'expires_at', %(expires_at)s::text)), %(actor)s)"
        )
        for _ in range(more):
            value(
                written,
                expires_at=value("select to_json(now() + interval '30 min') #>> '{}'"),
                idempotency_key=None,
            )
        do("guarded", written, expires_at=None)
        do(
            "approval",
            "select memory.grant_approval('cross_scope', user_id => %(user_id)s, expires_in => '1 day')",
        )
        do(
            "card_approval",
            "select memory.grant_approval('write_sensitive', 'payment_card', expires_in => '1 day')",
        )
        value("select memory.set_entry_policy(%(butler)s, 'billy')")
        do("pattern", "select 'p_' || %(word)s", word=word)
        value("select memory.add_sensitive_pattern('customer', %(pattern)s, %(name)s)")
        things["import_name"] = f"import {word}"
        things["import_source"] = f"source {word}"
        value(
            """select outcome from memory.import_memories(
                 jsonb_build_array(
                   jsonb_build_object(
                     'type', 'rule', 'source_id', %(import_source)s::text, 'content', %(content)s::text
                   ),
                   jsonb_build_object('type', 'episode', 'butler', 'five', 'content', %(content)s::text)
                 ),
                 'other', %(import_name)s
               ) limit 1"""
        )
        do("import_batch", "select id from memory.list_imports()")
        value("select memory.forget_memory('fact', %(retracted)s)")
        rule = "select memory.store_rule(%(content)s, tags => jsonb_build_array(%(name)s::text)"
        do(
            "rule",
            f"{rule}, scope => %(scope)s, embedding => %(vector)s,"
            " idempotency_key => %(idempotency_key)s)",
        )
        value(
            "select id from memory.mark_helpful(%(rule)s, jsonb_build_object('a', %(name)s::text))"
        )
        do("forgotten", f"{rule})")
        value("select memory.forget_memory('rule', %(forgotten)s)")
        do("warning", f"{rule})")
        harm = "select id from memory.mark_harmful(%(rule)s, %(content)s)"
        for _ in range(4):
            value(harm, rule=things["warning"])
        value("select inverted from memory.run_rule_hygiene()")
        value(
            "select created from memory.create_link('rule', %(rule)s, 'fact', %(fact)s, 'supports')"
        )
        value("select memory.forget_memory('episode', %(deleted)s)")
        connection.commit()

        item = {"subject": things["name"], "predicate": "is", "content": things["content"]}
        correction = {"target_id": things["fact"], "content": things["content"]}
        things["done"] = consolidate(things["butler"], new_facts=item, updated_facts=correction)
        do("failed", "select memory.store_episode(%(content)s, 'two')")
        run = value("select run_id from memory.claim_episodes('two')")
        value("select failed from memory.fail_consolidation(%(r)s, %(content)s)", r=run)
        value("select memory.store_episode(%(content)s, 'three')")
        value("""select memory.configure('{"consolidation_review": true}')""")
        things["reviewed"] = consolidate("three", new_rules=item)
        value("""select memory.configure('{"consolidation_review": false}')""")
        do("turn", "select memory.store_episode(%(content)s, 'four')")
        value("select memory.store_episode(%(content)s, %(busy_butler)s)")
        if more:
            do(
                "running",
                "select run_id from memory.claim_episodes(%(busy_butler)s, lease => '1 day')",
            )
            do("building", "select memory.start_reembedding(%(model)s, %(next_version)s)")
            value("select memory.set_embedding('fact', %(fact)s, %(vector)s, %(building)s)")
            due = value("select memory.store_rule(%(content)s)")
            for _ in range(4):
                value(harm, rule=due)
        connection.commit()

        do(
            "entity",
            """select memory.entity_create(%(name)s, 'person', aliases => array[%(subject)s],
                 metadata => jsonb_build_object('note', %(content)s::text))""",
        )
        do("friend", "select memory.entity_create(%(butler)s, 'organization')")
        do("merged", "select memory.entity_create(%(scope)s, 'person')")
        value("select memory.store_fact(%(scope)s, 'eats', %(content)s, entity_id => %(merged)s)")
        value("select merge_id from memory.entity_merge(%(merged)s, %(entity)s)")
        do(
            "drink",
            "select memory.store_fact(%(name)s, 'drinks', %(content)s, entity_id => %(entity)s,"
            " object_entity_id => %(friend)s, scope => %(scope)s)",
        )
        value(
            "select created from memory.create_link('fact', %(drink)s, 'fact', %(fact)s, 'contradicts')"
        )
        value("select memory.dismiss_contradiction('rule', %(warning)s, 'fact', %(fact)s)")
        event = "select id from memory.list_events(memory_id => %(m)s, event_type => %(t)s)"
        things["event"] = str(value(event, m=things["drink"], t="fact_created"))
        things["merge_event"] = str(value(event, m=things["merged"], t="entity_merge"))
        do("double", "select memory.entity_create(%(name)s, 'place')")
        value("select memory.entity_update(%(double)s, aliases => array['other ' || %(name)s])")
        value("select memory.entity_create('Other ' || %(name)s, 'place')")
        value(
            "select expired_deleted from memory.run_episode_cleanup(as_of => now() + interval '1 s')"
        )
        for number in range(more):
            value("select memory.store_fact('more', %(n)s::text, %(content)s)", n=number)
        things["token"], things["token_digest"] = connection.execute(
            """select t.id::text, sha256(convert_to(t.token, 'UTF8'))::text
               from memory.create_access_token(%(name)s, 'admin', %(actor)s) as t""",
            things,
        ).fetchone() or ("", "")
        things["session_digest"], things["code_digest"] = connection.execute(
            """select sha256(convert_to(s.session_id, 'UTF8'))::text,
                 sha256(convert_to(c.login_code, 'UTF8'))::text
               from memory.create_session(%(token_digest)s) as s,
                 memory.create_login_code('admin', %(actor)s, now() + interval '1 hour') as c""",
            things,
        ).fetchone() or ("", "")
        for _ in range(more):
            value(
                "select session_id from memory.create_session("
                "%(token_digest)s, now() - interval '9 hours')"
            )
        position, things["hash"] = connection.execute(
            "select position, hash::text from memory.seal_events()"
        ).fetchone() or ("", "")
        things["position"] = str(position)
        value("select count(*) from memory.record_verification()")
        for number in range(more):
            value(
                "select memory.store_rule(%(content)s || %(n)s::text, embedding => %(vector)s)",
                n=number,
            )
            value("select memory.store_episode(%(content)s || %(n)s::text, %(butler)s)", n=number)
        do("as_of", "select (now() + interval '1 hour')::text")
    return things


def watch(database: Database) -> None:
    """Create the view leak_test.rows: each row of each tenant, and which transaction wrote it."""
    union = database.value(
        """select string_agg(
             format(
               $$ select %%1$L as name, t.tenant_id, to_jsonb(t) - %%2$L::text[] as said,
                    t.xmin::text::bigint as writer
                  from memory.%%1$I as t $$,
               c.relname,
               -- A counter of all tenants; vectors are long, and not what a text says.
               '{embedding,search_vector}'::text[]
               || case c.relname when 'corpus_deltas' then '{id}' else '{seq}' end::text[]
             ),
             ' union all ' order by c.relname
           )
           from pg_class as c
           join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
           where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p')"""
    )
    database.query("create schema leak_test")
    database.query(f"create view leak_test.rows as {union}")


# Asking

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d(:\d\d)?)?")
THING = re.compile(r"(?<!:):([a-z_]+)")
HASH = re.compile(r"\\+x[0-9a-f]{64}")
# How far seals are settled depends on all transactions of the server; no client can read it.
MARK = re.compile(r'("(settled_seq|noted_seq|noted_xid)": )("?\d+"?|null)')


class World:
    """A database, and one connection as superuser that takes the place of every login."""

    def __init__(self, database: Database, things: Things, ids: Iterable[str] = ()) -> None:
        self.database = database
        self.as_of = things["as_of"]
        self.known_ids = frozenset([*things.values(), *ids])
        self.connection = psycopg.connect(database.superuser_url)
        self.notices: list[str] = []
        self.connection.add_notice_handler(
            lambda notice: self.notices.append(f"{notice.severity} {notice.message_primary}")
        )
        self.arguments: dict[str, list[str]] = {
            name: arguments or []
            for name, arguments in self.connection.execute(
                "select proname, proargnames from pg_proc where pronamespace = 'memory'::regnamespace"
            )
        }
        self.bystander = self.digest_of("a")
        self.connection.commit()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    @contextmanager
    def acting(self, attacker: Attacker) -> Iterator[None]:
        """Be this login, until the transaction of the body is undone."""
        assert self.connection.info.transaction_status == TransactionStatus.IDLE
        self.connection.execute(
            sql.SQL("set local session authorization {}").format(sql.Identifier(attacker.login))
        )
        for name, value in attacker.settings.items():
            self.connection.execute("select set_config(%s, %s, true)", (name, value))
        try:
            yield
        finally:
            self.connection.rollback()

    def ask(self, attacker: Attacker, line: str, things: Things) -> str:
        """Make the calls of a line of the matrix, undo them, and return all that can be observed.

        That is the rows of each answer or the error with all its fields, the notices, and, since a
        login may read what it has stored, each row of the tenant that was written.
        """
        # Every 128th change folds the statistics (memory.count_texts), counted for all tenants
        # together: which one that is must not depend on what was asked before.
        self.connection.execute("select setval('memory.corpus_deltas_id_seq', 1280000)")
        self.connection.commit()
        with self.acting(attacker):
            seen = self.call(line, things)
            if self.connection.info.transaction_status == TransactionStatus.INTRANS:
                self.connection.execute("reset session authorization")
                tenant = attacker.tenant or attacker.settings["memory.tenant_id"]
                seen += self.written(tenant)
                if tenant != "a" and self.digest_of("a") != self.bystander:
                    seen.append("touched rows of tenant a")
        return self.steady("\n".join(seen))

    def call(self, line: str, things: Things) -> list[str]:
        """Make the calls of a line, and return what was answered, the error last."""
        self.notices.clear()
        seen = []
        try:
            for statement in self.statements(line, things):
                for (answer,) in self.connection.execute(statement):
                    seen.append(f"row {json.dumps(steady(answer), sort_keys=True)}")
            seen += self.notices
        except psycopg.Error as error:
            seen += self.notices
            diagnosis = error.diag
            seen.append(
                "error "
                + " / ".join(
                    str(getattr(diagnosis, part))
                    for part in (
                        *("sqlstate", "message_primary", "message_detail", "message_hint"),
                        *("context", "schema_name", "table_name", "column_name"),
                        *("datatype_name", "constraint_name"),
                    )
                )
            )
        return seen

    def statements(self, line: str, things: Things) -> list[bytes]:
        """Return the SQL of each call of a line."""
        statements = []
        for call in line.split("; "):
            text = THING.sub(lambda found: quote(things[found[1]]), call)
            if "as_of" in self.arguments.get(function_of(call), []):
                comma = "" if text.endswith("()") else ", "
                text = f"{text[:-1]}{comma}as_of => {quote(self.as_of)})"
            statements.append(f"select to_jsonb(r) from memory.{text} as r".encode())
        return statements

    def try_out(self, attacker: Attacker, *statements: str) -> str:
        """Run statements, undo them, and return what the last one showed, or the error."""
        self.notices.clear()
        with self.acting(attacker), self.connection.cursor() as cursor:
            try:
                for statement in statements:
                    if statement.startswith("copy") and statement.endswith("to stdout"):
                        with cursor.copy(statement.encode()) as copy:
                            shown = sorted(bytes(row).decode() for row in copy)
                    else:
                        cursor.execute(statement.encode())
                        rows = cursor.fetchall() if cursor.description else []
                        shown = sorted(json.dumps(steady(row), default=str) for row in rows)
            except psycopg.Error as error:
                return f"error {error.sqlstate} {error.diag.message_primary}"
        return self.steady("\n".join([*shown, *self.notices]))

    def written(self, tenant: str) -> list[str]:
        """Return the rows of a tenant that this transaction has written, in no order of ids."""
        rows = self.connection.execute(
            """select name, said from leak_test.rows
               where tenant_id = %s and writer >= pg_current_xact_id_if_assigned()::text::bigint""",
            (tenant,),
        )
        return sorted(
            self.steady(f"wrote {name} {json.dumps(steady(said), sort_keys=True)}")
            for name, said in rows
        )

    def digest_of(self, tenant: str) -> str:
        """Return a digest of all rows of a tenant, and of who wrote each last."""
        row = self.connection.execute(
            """select count(*) || ' ' || md5(string_agg(r::text, ',' order by r::text))
               from leak_test.rows as r where r.tenant_id = %s""",
            (tenant,),
        ).fetchone()
        return str(row)

    def allowed(self, attacker: Attacker) -> set[str]:
        """Return the functions that a login may call."""
        rows = self.connection.execute(
            """select proname from pg_proc as p
               where p.pronamespace = 'memory'::regnamespace
                 and has_function_privilege(%s, p.oid, 'execute')""",
            (attacker.login,),
        ).fetchall()
        self.connection.rollback()
        return {name for (name,) in rows}

    def steady(self, text: str) -> str:
        """Leave out what differs from call to call: new ids, times, hashes, marks of seals."""
        text = UUID.sub(lambda found: found[0] if found[0] in self.known_ids else "ID", text)
        return MARK.sub(r"\1MARK", HASH.sub("HASH", TIME.sub("TIME", text)))


def steady(value: Any) -> Any:
    """Leave out of an answer the columns that differ from call to call."""
    unsteady = leak_matrix.UNSTEADY.split()
    if isinstance(value, dict):
        return {key: "…" if key in unsteady else steady(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [steady(each) for each in value]
    return value


def quote(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def function_of(call: str) -> str:
    return call.partition("(")[0]


def pose(world: World, attacker: Attacker) -> int:
    """Let a login make objects that pose as those of the schema; return how many.

    Of each relation a table, of each type a domain, and of each function of the schema, and each
    built-in function that one of these calls, one with the same arguments, in a schema that comes
    first for the login. Whatever runs of them says so.
    """
    make = sql.SQL("create schema posing authorization {}")
    world.connection.execute(make.format(sql.Identifier(attacker.login)))
    made = world.connection.execute(
        r"""with ours as (
              select p.oid, p.proname, p.proowner, pg_get_functiondef(p.oid) as code from pg_proc as p
              where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f'
            ),
            called as (
              select distinct m[1] as name
              from ours as o
              cross join lateral regexp_matches(o.code, '\m([a-z_]+)\(', 'g') as m
            )
            select format(
              'create temp table %I (%s)', c.relname,
              string_agg(
                format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '
                order by a.attnum
              )
            )
            from pg_class as c
            join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'v')
            group by c.relname
            union all
            select format(
              'create trigger pose before insert or update or delete on pg_temp.%I
               for each statement execute function posing.pose()', c.relname
            )
            from pg_class as c
            where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
            union all
            select format('create domain posing.%I as text', t.typname)
            from pg_type as t
            where t.typnamespace = 'memory'::regnamespace and t.typcategory <> 'A'
            union all
            select format(
              'create function posing.%I(%s) returns %s language plpgsql as %L',
              p.proname, oidvectortypes(p.proargtypes),
              case when p.proretset then 'setof ' else '' end || format_type(p.prorettype, null),
              format(
                'begin raise warning ''posing as %s for %%'', current_user; return %s; end',
                p.proname,
                case when not p.proretset and p.prorettype <> 'void'::regtype then 'null' end
              )
            )
            from pg_proc as p
            where p.prokind = 'f'
              and p.prorettype not in ('internal'::regtype, 'trigger'::regtype, 'record'::regtype)
              and (
                p.oid in (select o.oid from ours as o)
                or p.pronamespace = 'pg_catalog'::regnamespace
                and p.proname in (select c.name from called as c)
                and not 'internal'::regtype = any (p.proargtypes)
              )"""
    ).fetchall()
    world.connection.execute(
        sql.SQL("set session authorization {}").format(sql.Identifier(attacker.login))
    )
    world.connection.execute(
        """create function posing.pose() returns trigger language plpgsql as
           $$ begin raise warning 'posing for %', current_user; return null; end $$"""
    )
    count = 0
    for (statement,) in sorted(made, key=lambda row: "trigger" in row[0]):
        try:
            with world.connection.transaction():
                world.connection.execute(statement)
            count += 1
        except psycopg.errors.Error as error:
            # Of our types nobody can make anything; PL/pgSQL takes no "any"; two may be the same.
            if error.sqlstate not in ("42501", "0A000", "42723"):
                raise
    world.connection.execute("reset session authorization")
    world.connection.commit()
    world.connection.execute("set search_path = posing, pg_temp, public")
    world.connection.commit()
    return count


def lines(block: str) -> list[str]:
    """Return the calls of a block of the matrix."""
    return [line for line in block.strip().splitlines() if line and not line.startswith("#")]
