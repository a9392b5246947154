"""Where somebody else runs the server: no superuser, extensions elsewhere, roles that others have made.

Each server is fresh, with the oldest supported PostgreSQL and the newest. On 15 a role with CREATEROLE may
grant any role; since 16, only those it has made.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import conninfo

from pymem import Memory, PrerequisiteError, TenantDeniedError, __version__, schema
from pymem.backup import make_backup, restore_backup
from pymem.bundles import write_bundles
from pymem.mcp_server.http import connect_roles
from pymem.schema import Names, Requirement
from pymem.tenants.files import export_tenant, import_tenant
from pymem.tenants.moving import MovePlan, Mover
from pymem.tenants.rows import delete_tenant
from pymem.ui.serving import make_code
from tests import forked
from tests.conftest import ROOT, Database, Server, create_database, running_server
from tests.test_install import dump
from tests.test_pgtap import create_tap_schema, prove

KINDS = ("owner", "search", "writer", "worker", "reader", "admin", "gateway")


@dataclass(frozen=True)
class Cluster:
    """A server of others: its superuser makes databases, extensions and logins, and no more."""

    server: Server
    major: int
    programs: Path | None

    def database(self, name: str, *statements: str) -> Database:
        """Make a database anew and prepare it as its superuser."""
        create_database(self.server, name)
        database = Database(self.server, name)
        for statement in statements:
            database.query(statement)
        return database

    def ask(self, database: str, user: str, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.server.url(database, user), autocommit=True) as connection:
            connection.execute("select set_config('memory.tenant_id', 'a', false)")
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def psql(self, database: str, user: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        target = self.server.url(database, user)
        return subprocess.run(
            ["psql", "--quiet", "--no-psqlrc", "-d", target, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )

    def grant_login(self, database: str, user: str, login: str, roles: str) -> str:
        """Run sql/grant_login.sql and return what it complained of."""
        script = str(ROOT / "sql" / "grant_login.sql")
        named = ("-v", f"login={login}", "-v", "tenant=a", "-v", f"roles={roles}")
        return self.psql(database, user, *named, "-f", script).stderr


@pytest.fixture(scope="module", params=[18, 15])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    programs = request.getfixturevalue("distribution_programs") if request.param == 15 else None
    settings = {"shared_preload_libraries": "'pg_cron'", "cron.use_background_workers": "on"}
    with running_server(settings if programs else {}, programs) as server:
        postgres = Database(server, "postgres")
        major = int(postgres.value("show server_version_num")) // 10000
        for login in ("first", "second"):
            postgres.query(f"create role {login} login createrole password 'test'")
        yield Cluster(server, major, programs)


ELSEWHERE = (
    "create schema extensions",
    "create schema trigrams",
    "create extension vector schema extensions",
    "create extension pg_trgm schema trigrams",
)


def may_deploy(database: str, login: str) -> tuple[str, ...]:
    """Return what a superuser grants to a deployer where the extensions are elsewhere."""
    return (
        f"grant create on database {database} to {login}",
        f"grant usage on schema extensions, trigrams to {login} with grant option",
    )


@pytest.fixture(scope="module")
def hosted(cluster: Cluster) -> Database:
    """A memory that a role with CREATEROLE has deployed, with the extensions elsewhere."""
    database = cluster.database("hosted", *ELSEWHERE, *may_deploy("hosted", "first"))
    assert schema.deploy(cluster.server.url("hosted", "first")) is True
    return database


@pytest.fixture(scope="module")
def app(cluster: Cluster, hosted: Database) -> str:
    """The connection string of a login that the deployer has made and bound."""
    cluster.ask("hosted", "first", "create role app login password 'test'")
    roles = "memory_writer, memory_worker, memory_reader, memory_admin"
    assert cluster.grant_login("hosted", "first", "app", roles) == ""
    return cluster.server.url("hosted", "app")


def under_other_names(text: str) -> str:
    """Return a test of pgTAP for roles with the prefix acme_, and the extensions elsewhere."""
    text = re.sub(rf"\bmemory_(?=({'|'.join(KINDS)})\b)", "acme_memory_", text)
    for usual, other in (
        (
            "pg_catalog, memory, public, pg_temp",
            "pg_catalog, memory, extensions, trigrams, pg_temp",
        ),
        ("tap, public", "tap, public, extensions, trigrams"),
        ("public.vector", "extensions.vector"),
        ("public.halfvec", "extensions.halfvec"),
        ("public.l2_normalize", "extensions.l2_normalize"),
        ("public.gin_trgm_ops", "trigrams.gin_trgm_ops"),
        ("pg_trgm with schema public", "pg_trgm with schema trigrams"),
        ("schema public", "schema extensions"),
    ):
        text = text.replace(usual, other)
    return text


@pytest.fixture(scope="module")
def named(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Database:
    """A memory that the same deployer has made with psql, with roles of its own."""
    database = cluster.database("named", *ELSEWHERE, *may_deploy("named", "first"))
    bundle = tmp_path_factory.mktemp("bundle") / "pymem.sql"
    bundle.write_text(write_bundles(ROOT, __version__)[f"pymem--{__version__}.sql"])
    done = cluster.psql("named", "first", "-v", "role_prefix=acme_", "-f", str(bundle))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return database


# What a memory does


@pytest.mark.anyio
async def test_a_memory_works_with_its_extensions_elsewhere(app: str, hosted: Database) -> None:
    axes = [[float(i == axis) for i in range(384)] for axis in range(3)]
    async with await Memory.connect(app) as memory:
        await memory.register_embedding_version("model", "1")
        stored = [
            await memory.store_fact("Ada", predicate, content, embedding=vector)
            for predicate, content, vector in zip(
                ("drinks", "eats", "reads"), ("tea", "rye", "Lem"), axes, strict=True
            )
        ]
        [near, *_] = await memory.semantic_search("fact", embedding=axes[1])
        assert near.id == stored[1]
        [recalled] = await memory.recall("Lem")
        assert recalled.id == stored[2]
        assert "tea" in await memory.context("tea", "home")
        await memory.rebuild_vector_indexes("hnsw")
        [near, *_] = await memory.semantic_search("fact", embedding=axes[1])
        assert near.id == stored[1]
        assert await memory.check_indexes() == []

        entity = await memory.entity_create("Katherine Johnson", "person")
        [found] = await memory.entity_resolve("Katherin Jonson", enable_fuzzy=True)
        assert found.entity_id == entity
        # Beyond 2,000 names they are looked up in the index of trigrams.
        hosted.query(
            "insert into memory.entities (tenant_id, canonical_name, entity_type) "
            "select 'a', 'name ' || md5(n::text), 'other' from generate_series(1, 2100) as n"
        )
        [found] = await memory.entity_resolve("Katherin Jonson", enable_fuzzy=True)
        assert found.entity_id == entity

        await memory.rebuild_vector_indexes("exact")
        # (On 15 it warns of CREATEROLE.)
        assert [each for each in await memory.diagnose() if each.severity == "error"] == []


def test_definitions_are_those_that_were_recorded(app: str, hosted: Database) -> None:
    assert hosted.query("select * from memory.check_definitions()") == []
    assert schema.definitions_digest(app) == hosted.value("select memory.definitions_digest()")


def test_functions_search_the_schemas_of_the_extensions_and_no_other(hosted: Database) -> None:
    assert hosted.query(
        "select distinct c from pg_proc as p, unnest(p.proconfig) as c "
        "where p.pronamespace = 'memory'::regnamespace and c like 'search_path=%%'"
    ) == [("search_path=pg_catalog, memory, extensions, trigrams, pg_temp",)]


def test_the_schema_is_the_usual_one_under_other_names(
    cluster: Cluster, hosted: Database, named: Database
) -> None:
    usual = cluster.database("usual", "create extension vector", "create extension pg_trgm")
    usual.query("grant create on database usual to first")
    schema.deploy(cluster.server.url("usual", "first"))

    expected = dump(cluster.server, "usual")
    for each in (hosted, named):
        found = dump(cluster.server, each.name).replace("acme_memory_", "memory_")
        found = found.replace("'extensions', 'trigrams'", "'public'")
        found = found.replace("extensions, trigrams", "public")
        found = re.sub(r"\b(extensions|trigrams)\.(?=[a-z<])", "public.", found)
        assert found == expected


@pytest.fixture(scope="module")
def named_tap(named: Database) -> Database:
    create_tap_schema(named)
    # The tests have roles that have nothing to do with the memory.
    named.query("grant usage on schema extensions, trigrams to public")
    return named


# These name roles, types and schemas; most of the others say nothing that depends on them.
@pytest.mark.parametrize("cluster", [18], indirect=True)
@pytest.mark.parametrize(
    "name", ["catalog", "doctor", "logins", "privileges", "resolve_entities", "vector_indexes"]
)
def test_pgtap_under_other_names(named_tap: Database, tmp_path: Path, name: str) -> None:
    for each in (name, "fixtures"):
        text = (ROOT / "pgtap" / f"{each}.sql").read_text()
        (tmp_path / f"{each}.sql").write_text(under_other_names(text))
    # The doctor looks at every role of the cluster.
    named_tap.query("alter role second nocreaterole")
    try:
        prove(named_tap, tmp_path / f"{name}.sql")
    finally:
        named_tap.query("alter role second createrole")


def test_the_renaming_knows_every_role(named: Database) -> None:
    assert {role for (role,) in named.query("select rolname from pg_roles")} >= {
        f"acme_memory_{kind}" for kind in KINDS
    }
    listed = set(re.findall(r"\('memory_(\w+)', '", (ROOT / "deploy" / "roles.sql").read_text()))
    assert listed == set(KINDS)


def test_scripts_name_nothing_that_the_renaming_does_not_know() -> None:
    for folder in ("deploy", "revert", "verify"):
        for path in (ROOT / folder).rglob("*.sql"):
            text = path.read_text().replace("pg_catalog, memory, public, pg_temp", "")
            text = re.sub(r"(vector|pg_trgm) with schema public", "", text)
            assert (
                re.findall(r"\bpublic\.(?!vector|halfvec|l2_normalize|gin_trgm_ops)", text) == []
            ), path
            unknown = r"'public'::regnamespace|schema public|nspname = 'public'"
            assert re.findall(unknown, text) == [], path
            # Names of roles that are put together need the prefix.
            composed = re.findall(r"^.*(?:'memory_'|'memory_%).*$", text, re.MULTILINE)
            assert [line for line in composed if "prefix" not in line] == [], path


# Two products in one cluster


def test_products_with_roles_of_their_own_share_no_rights(
    cluster: Cluster, hosted: Database, named: Database, app: str
) -> None:
    cluster.ask("named", "first", "create role other login password 'test'")
    # Names of roles are as usual, and only those of this memory are granted.
    complaints = cluster.grant_login("named", "first", "other", "memory_writer, memory_reader")
    assert complaints == ""
    granted = cluster.ask(
        "named",
        "first",
        "select r.rolname from pg_roles as r where r.rolname like '%memory%' "
        "and pg_has_role('other', r.oid, 'member') order by 1",
    )
    assert granted == [("acme_memory_reader",), ("acme_memory_writer",)]

    cluster.ask("named", "other", "select memory.store_fact('Ada', 'drinks', 'tea')")
    for database, login in (("hosted", "other"), ("named", "app")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="schema memory"):
            cluster.ask(database, login, "select memory.current_tenant()")
    for role, database in (("memory_owner", "named"), ("acme_memory_owner", "hosted")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            Database(cluster.server, database).query(
                f"set role {role}; select * from memory.tenant_logins"
            )


def test_who_acts_for_another_memory_by_the_usual_roles_is_told(
    cluster: Cluster, hosted: Database
) -> None:
    cluster.database("another", *ELSEWHERE, *may_deploy("another", "first"))
    url = cluster.server.url("another", "first")

    [told] = schema.check_deployment(url)
    assert (told.severity, told.requirement) == ("info", "roles")
    assert "role prefix" in told.remedy
    assert schema.check_deployment(url, Names("quite_new_")) == []


@pytest.mark.anyio
async def test_the_http_server_takes_the_roles_of_the_memory(
    cluster: Cluster, named: Database
) -> None:
    cluster.ask("named", "first", "create role serving login password 'test'")
    assert cluster.grant_login("named", "first", "serving", "memory_writer,memory_reader") == ""
    url = cluster.server.url("named", "serving")
    async with connect_roles(url, None, None) as (_, memories):
        assert sorted(memories) == ["memory_reader", "memory_writer"]
        await memories["memory_writer"].store_rule("Offer tea")
        found = await memories["memory_reader"].search("tea", types=["rule"])
    assert [each.content for each in found] == ["Offer tea"]
    # The dashboard gives a session the rights that its login has.
    async with await Memory.connect(url) as memory:
        code = await make_code(memory, actor="Ada")
        session = await memory.redeem_login_code(sha256(code.encode()).digest())
    assert session is not None
    assert session.role == "writer"


def test_only_roles_of_the_memory_are_granted_to_logins(cluster: Cluster, named: Database) -> None:
    cluster.ask("postgres", "postgres", "create role nobody login password 'test'")
    for roles in ("memory_owner", "acme_memory_search", "pg_read_all_data", " "):
        complaints = cluster.grant_login("named", "postgres", "nobody", roles)
        assert "is no role of a login" in complaints
        assert "HINT:" in complaints


# Tenants that move


@pytest.mark.anyio
async def test_a_tenant_moves_between_memories_with_other_names(
    cluster: Cluster, hosted: Database, named: Database, app: str, tmp_path: Path
) -> None:
    cluster.ask("named", "first", "create role moving login password 'test'")
    cluster.ask("named", "first", "select memory.bind_login('moving', 'moved')")
    cluster.ask(
        "named", "first", "select memory.grant_roles('moving', '{memory_writer,memory_reader}')"
    )
    vector = [float(axis == 1) for axis in range(384)]
    url = cluster.server.url("named", "moving")
    named.query("select memory.register_embedding_version('model', '1')", tenant="moved")
    async with await Memory.connect(url) as memory:
        await memory.store_fact("Ada", "drinks", "tea", embedding=vector)
    plan = MovePlan("moved", named.superuser_url, hosted.superuser_url)

    # Who deploys may not read past row security.
    deployers = MovePlan("moved", cluster.server.url("named", "first"), hosted.superuser_url)
    with pytest.raises(TenantDeniedError, match="is no superuser") as refused:
        await Mover(deployers, guarded=False).move()
    assert "pymem export" in str(refused.value.hint)

    moved = await Mover(plan, guarded=False).move()
    assert moved.rows > 3
    async with await Memory.connect(cluster.server.url("hosted", "moving")) as memory:
        [found] = await memory.semantic_search("fact", embedding=vector)
        assert found.content == "tea"
        await memory.store_fact("Ada", "eats", "rye")
    assert hosted.query("select * from memory.verify_chain()", tenant="moved") == []
    assert named.value("select memory.find_rows('moved')") is None
    assert hosted.query("select roles from memory.list_bindings('moved')") == [
        (["memory_reader", "memory_writer"],)
    ]

    # In a file, too, and back under the first names.
    file = tmp_path / "moved.tenant"
    await asyncio.to_thread(export_tenant, hosted.superuser_url, "moved", file)
    await asyncio.to_thread(import_tenant, named.superuser_url, file)
    await delete_tenant(hosted.superuser_url, "moved", uuid4())
    async with await Memory.connect(url) as memory:
        assert len(await memory.search("tea")) == 1
    assert hosted.value("select memory.find_rows('moved')") is None
    await delete_tenant(named.superuser_url, "moved", uuid4())


# A deployer and what it lacks


def remedy(cluster: Cluster, database: str, missing: Requirement) -> None:
    """Have somebody run a remedy who is said to be able to."""
    admin = re.search(r"an administrator of these roles \((\w+)\)", missing.run_by)
    assert admin or "superuser" in missing.run_by
    cluster.ask(database, admin[1] if admin else "postgres", missing.remedy)


def errors(cluster: Cluster, database: str, login: str, names: Names) -> list[Requirement]:
    found = schema.check_deployment(cluster.server.url(database, login), names)
    return [each for each in found if each.severity == "error"]


def test_following_the_check_leads_to_a_deployment(cluster: Cluster) -> None:
    """A login without any rights: nothing is changed before all of it is remedied."""
    cluster.ask("postgres", "postgres", "create role beginner login password 'test'")
    database = cluster.database("beginning", "create schema extensions")
    names = Names("begun_", "extensions")
    url = cluster.server.url("beginning", "beginner")

    with pytest.raises(PrerequisiteError) as refused:
        schema.deploy(url, names)
    assert "may not create roles" in refused.value.message
    assert "alter role beginner createrole;" in str(refused.value.hint)
    assert database.value("select count(*) from pg_roles where rolname like 'begun%%'") == 0

    missing = errors(cluster, "beginning", "beginner", names)
    assert {each.requirement for each in missing} == {
        *("database", "extension vector", "extension schema", "create role"),
    }
    for each in missing:
        remedy(cluster, "beginning", each)
    assert errors(cluster, "beginning", "beginner", names) == []
    assert schema.deploy(url, names) is True
    assert database.value("select memory.extension_schemas()::text[]") == ["extensions"]

    # Once it is there, the database tells its names.
    assert schema.deploy(url) is False
    with pytest.raises(AssertionError):
        assert errors(cluster, "beginning", "beginner", Names("other_")) == []


@pytest.fixture(scope="module")
def bare(cluster: Cluster) -> Database:
    """A database into which the second deployer could deploy, with roles of its own."""
    database = cluster.database("bare", *ELSEWHERE, *may_deploy("bare", "second"))
    assert errors(cluster, "bare", "second", Names("bare_")) == []
    return database


@pytest.mark.parametrize(
    ("broken", "requirement", "message"),
    [
        (
            "revoke create on database bare from second",
            "database",
            "second may not create schemas in database bare",
        ),
        (
            "drop extension vector",
            "extension vector",
            'second cannot create the extension vector: permission denied to create extension "vector"',
        ),
        (
            "revoke grant option for usage on schema extensions from second",
            "extension schema",
            "second may not let the memory's roles use the schema extensions",
        ),
        (
            "grant create on schema extensions to public",
            "extension schema",
            "everybody may create objects in the schema extensions",
        ),
        (
            "alter role second nocreaterole",
            "create role",
            "second may not create roles, and these are missing: bare_memory_owner",
        ),
        (
            "create role bare_memory_reader login",
            "role bare_memory_reader",
            "the role bare_memory_reader can log in",
        ),
        (
            "create schema memory",
            "schema memory",
            "the schema memory exists and is not that of pymem",
        ),
        (
            """
            create function public.forbid() returns event_trigger language plpgsql as
            $$ begin raise insufficient_privilege using message = 'ask the platform team'; end $$;
            create event trigger forbidding on ddl_command_start when tag in ('CREATE POLICY')
            execute function public.forbid();
            """,
            "trial",
            "a trial of the deployment failed: ask the platform team",
        ),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(
    cluster: Cluster, bare: Database, broken: str, requirement: str, message: str
) -> None:
    bare.query(broken)
    try:
        [missing] = errors(cluster, "bare", "second", Names("bare_"))
        assert missing.requirement == requirement
        assert missing.message.startswith(message)
        if requirement == "trial":
            assert "pg_event_trigger" in missing.remedy
        else:
            remedy(cluster, "bare", missing)
            assert errors(cluster, "bare", "second", Names("bare_")) == []
    finally:
        bare.query(
            """
            drop schema if exists memory, other_memory;
            drop event trigger if exists forbidding;
            drop role if exists bare_memory_reader;
            """
        )
        if not bare.query(
            "select from pg_extension where extname = 'vector' and extnamespace = "
            "'extensions'::regnamespace"
        ):
            bare.query("drop extension if exists vector")
            bare.query("create extension vector schema extensions")


def test_a_server_that_lacks_what_is_needed(cluster: Cluster, bare: Database) -> None:
    bare.query("update pg_extension set extversion = '0.6.2' where extname = 'vector'")
    [missing] = errors(cluster, "bare", "second", Names("bare_"))
    assert missing.message == "pgvector 0.6.2 is too old for pymem"
    bare.query("drop extension vector")
    bare.query("create extension vector schema extensions")

    with psycopg.connect(cluster.server.superuser_url, autocommit=True) as connection:
        connection.execute(
            "create database latin encoding 'LATIN1' locale 'C' template template0 owner second"
        )
    found = errors(cluster, "latin", "second", Names("bare_"))
    assert ("encoding", "the encoding of database latin is LATIN1") in {
        (each.requirement, each.message) for each in found
    }
    if cluster.programs is not None:
        [control] = cluster.programs.parents[3].rglob("vector.control")
        control.rename(control.with_suffix(".away"))
        try:
            found = errors(cluster, "latin", "second", Names("bare_"))
        finally:
            control.with_suffix(".away").rename(control)
        assert "the server lacks the extension vector" in {each.message for each in found}


def test_names_that_cannot_be_are_refused(cluster: Cluster, bare: Database) -> None:
    for prefix in ("Acme_", "1_", "pg_", "a b", "x'", "a" * 33):
        [missing] = errors(cluster, "bare", "second", Names(prefix))
        assert missing.requirement == "role prefix"
    url = cluster.server.url("postgres", "second")
    found = schema.check_deployment(url, Names("bare_", "absent"))
    assert "there is no schema absent to create the extension vector in" in {
        each.message for each in found
    }


def test_a_member_that_inherits_nothing_by_itself(cluster: Cluster, bare: Database) -> None:
    bare.query("alter role second noinherit")
    try:
        missing = errors(cluster, "bare", "second", Names("bare_"))
        if cluster.major == 15:
            assert [each.remedy for each in missing] == ["alter role second inherit;"]
        else:
            assert missing == []
    finally:
        bare.query("alter role second inherit")


@pytest.mark.parametrize("cluster", [18], indirect=True)
@pytest.mark.parametrize("what", ["set", "inherit", "set, inherit"])
def test_what_a_creator_gets_of_its_roles_makes_no_difference(
    cluster: Cluster, bare: Database, what: str
) -> None:
    bare.query(f"alter role second set createrole_self_grant = '{what}'")
    try:
        assert errors(cluster, "bare", "second", Names("bare_")) == []
    finally:
        bare.query("alter role second reset createrole_self_grant")


def test_without_temporary_objects_nothing_can_be_checked(cluster: Cluster, bare: Database) -> None:
    bare.query("revoke temporary on database bare from public")
    with pytest.raises(PrerequisiteError, match="may not create temporary objects") as refused:
        schema.check_deployment(cluster.server.url("bare", "second"), Names("bare_"))
    [statement] = re.findall(r"grant .*;", str(refused.value.hint))
    bare.query(statement)
    assert errors(cluster, "bare", "second", Names("bare_")) == []


def test_psql_and_the_command_say_the_same_before_they_change_anything(
    cluster: Cluster, bare: Database, tmp_path: Path
) -> None:
    bare.query("revoke create on database bare from second")
    bundle = tmp_path / "pymem.sql"
    bundle.write_text(write_bundles(ROOT, __version__)[f"pymem--{__version__}.sql"])
    url = cluster.server.url("bare", "second")
    try:
        done = cluster.psql("bare", "second", "-v", "role_prefix=bare_", "-f", str(bundle))
        assert done.returncode == 3
        assert done.stderr.count("ERROR") == 1
        assert (
            "HINT:  As the owner of the database (postgres) or a superuser: grant create"
            in done.stderr
        )

        def run(*options: str) -> subprocess.CompletedProcess[str]:
            arguments = ("deploy", "--role-prefix", "bare_", *options)
            return forked.run_text(
                "--database-url", url, *arguments, env={"PYMEM_NO_EMBEDDINGS": "1"}
            )

        refused = run()
        assert refused.returncode == 1
        assert "grant create on database bare to second;" in refused.stderr
        checked = run("--check")
        assert checked.returncode == 1
        assert checked.stdout.splitlines()[-1] == "1 missing: nothing would be deployed"
        [missing] = json.loads(run("--check", "--json").stdout)
        assert missing == {
            "severity": "error",
            "requirement": "database",
            "message": "second may not create schemas in database bare",
            "remedy": "grant create on database bare to second;",
            "run_by": "the owner of the database (postgres) or a superuser",
        }
    finally:
        bare.query("grant create on database bare to second")
    checked = run("--check")
    assert (checked.returncode, checked.stdout) == (0, "nothing is missing\n")
    assert bare.value("select count(*) from pg_roles where rolname like 'bare%%'") == 0
    assert bare.value("select to_regnamespace('memory')") is None


# The second deployer of a cluster


def test_a_second_deployer_needs_the_grants_of_the_first(
    cluster: Cluster, hosted: Database
) -> None:
    cluster.database("shared", *ELSEWHERE, *may_deploy("shared", "second"))
    url = cluster.server.url("shared", "second")

    if cluster.major >= 16:
        # A membership that does not suffice is none.
        for weak in ("inherit false, set true", "inherit true, set false"):
            cluster.ask(
                "hosted",
                "first",
                f"grant memory_owner, memory_search, memory_gateway to second with {weak}",
            )
            [missing] = errors(cluster, "shared", "second", Names())
            assert missing.message == (
                "second is not a member, or not one that can act as such, of memory_owner, "
                "memory_search, memory_gateway"
            )
        assert missing.remedy == (
            "grant memory_owner, memory_search, memory_gateway to second with inherit true, set true;"
        )
        assert missing.run_by.startswith("an administrator of these roles (first)")
        with pytest.raises(PrerequisiteError, match="not a member"):
            schema.deploy(url)
        remedy(cluster, "shared", missing)
    done = schema.deploy_schema(url)

    # It may deploy, but grant roles to logins only where the first lets it.
    cluster.ask("shared", "second", "create role guest login password 'test'")
    if cluster.major >= 16:
        [warning] = done.warnings
        assert "may not grant these roles to logins" in warning.message
        complaints = cluster.grant_login("shared", "second", "guest", "memory_writer")
        assert "second may not grant the role memory_writer" in complaints
        assert "grant memory_writer to second with admin option" in complaints
        remedy(cluster, "shared", warning)
    assert cluster.grant_login("shared", "second", "guest", "memory_writer") == ""
    cluster.ask("shared", "guest", "select memory.store_rule('Offer tea')")
    assert cluster.ask("shared", "guest", "select content from memory.search('tea')") == [
        ("Offer tea",)
    ]


# Afterwards


def test_a_deployer_drops_the_memory_and_deploys_it_again(cluster: Cluster) -> None:
    database = cluster.database("again", *ELSEWHERE, *may_deploy("again", "first"))
    url = cluster.server.url("again", "first")
    schema.deploy(url, Names("again_"))
    first = dump(cluster.server, "again")

    # As docs/operations.md says.
    cluster.ask("again", "first", "drop schema memory cascade")
    schema.deploy(url, Names("again_"))

    assert dump(cluster.server, "again") == first
    assert database.query("select * from memory.check_definitions()") == []
    page = (ROOT / "docs" / "operations.md").read_text()
    [removal] = re.findall(r"```sql\n(drop schema memory cascade;.*?)```", page, re.DOTALL)
    for statement in removal.replace("memory_", "again_memory_").split(";"):
        if statement.strip():
            cluster.ask("again", "first", statement)
    assert database.value("select count(*) from pg_roles where rolname like 'again%%'") == 0


def test_a_backup_is_restored_where_its_deployer_is_unknown(
    cluster: Cluster,
    named: Database,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster.ask("named", "postgres", "select memory.store_rule('Boil the water')")
    if cluster.programs is not None:
        monkeypatch.setenv("PYMEM_POSTGRES_BIN", str(cluster.programs))
    make_backup(named.superuser_url, tmp_path / "backup")
    monkeypatch.delenv("PYMEM_POSTGRES_BIN", raising=False)

    restore_backup(server.superuser_url, "pymem_test_restored", tmp_path / "backup")

    restored = Database(server, "pymem_test_restored")
    assert restored.value("select memory.role_prefix()") == "acme_"
    assert restored.query("select content from memory.keyword_search('rule', 'water')")
    found = restored.query("select problem, kind from memory.check_definitions()")
    # PostgreSQL of another version writes definitions differently.
    assert found == ([] if cluster.major == 18 else [("unknown", "manifest")])
    restored.server.execute(psycopg.sql.SQL("drop database pymem_test_restored with (force)"))


# sqitch


def run_sqitch(cluster: Cluster, database: str, *arguments: str) -> str:
    target = conninfo.conninfo_to_dict(cluster.server.url(database, "first"))
    command, *options = arguments
    done = subprocess.run(
        ["sqitch", command, *options, f"db:pg:{database}"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "PGHOST": str(target["host"]),
            "PGUSER": "first",
            "SQITCH_FULLNAME": "pymem tests",
            "SQITCH_EMAIL": "tests@pymem.invalid",
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_sqitch_deploys_under_other_names(cluster: Cluster) -> None:
    cluster.database("planned", *ELSEWHERE, *may_deploy("planned", "first"))
    cluster.ask("planned", "postgres", "revoke usage on schema trigrams from first")
    # The first changes show it; the databases of other tests hold all of them.
    deploy = ("deploy", "--set", "role_prefix=sqitch_", "--to", "functions/core/base/isolation")

    refused = run_sqitch(cluster, "planned", *deploy)
    assert "first may not let the memory's roles use the schema trigrams" in refused
    assert "grant usage on schema trigrams to first with grant option;" in refused

    cluster.ask("planned", "postgres", "grant usage on schema trigrams to first with grant option")
    deployed = run_sqitch(cluster, "planned", *deploy)
    assert "not ok" not in deployed
    # The variable is needed once.
    assert "Verify successful" in run_sqitch(cluster, "planned", "verify")
    assert "not ok" not in run_sqitch(cluster, "planned", "revert", "-y", "--to", "schema")
    functions = "select count(*) from pg_proc where pronamespace = 'memory'::regnamespace"
    assert cluster.ask("planned", "first", functions) == [(0,)]


# pg_cron


# The embedded server has no pg_cron.
@pytest.mark.parametrize("cluster", [15], indirect=True)
def test_a_deployer_registers_jobs_as_their_login(cluster: Cluster, named: Database) -> None:
    named.query('select memory.configure(\'{"event_seal_schedule": "7 3 * * *"}\')')
    cluster.ask("named", "first", "create role jobs login password 'test'")
    assert cluster.grant_login("named", "first", "jobs", "memory_worker, memory_admin") == ""
    script = str(ROOT / "sql" / "schedule.sql")

    def schedule(*where: str) -> subprocess.CompletedProcess[str]:
        variables = ("-v", "tenant=a", "-v", "login=jobs", *where)
        return cluster.psql("named", "first", *variables, "-f", script)

    refused = schedule()
    assert "-v cron_database=postgres" in refused.stderr
    cluster.ask("postgres", "postgres", "create extension pg_cron")
    for complaint in ("login jobs may not use pg_cron", "may not schedule jobs in other databases"):
        refused = schedule("-v", "cron_database=postgres")
        assert refused.returncode == 3
        assert complaint in refused.stderr
        [statement] = re.findall(r"grant (?:usage|execute) on .* to jobs;", refused.stderr)
        cluster.ask("postgres", "postgres", statement)
    for _ in range(2):
        done = schedule("-v", "cron_database=postgres")
        assert (done.returncode, done.stderr) == (0, "")
        assert "memory.run_job('seal_events')" in done.stdout
    jobs = "select distinct username, database from cron.job where command like '%run_job%'"
    assert cluster.ask("postgres", "postgres", jobs) == [("jobs", "named")]
    # What it needed to act as the login is gone again.
    assert cluster.ask("postgres", "first", "select pg_has_role('jobs', 'member')") == [(False,)]
