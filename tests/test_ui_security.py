"""Who gets into the dashboard, and what a page of another site can make of it: nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest

from pymem.ui.guard import CONTENT_SECURITY_POLICY
from tests.conftest import Database, Server, fresh_database
from tests.test_mcp_http import make_token, revoke, serving
from tests.ui import Dashboard, Visitor, dashboard, text_of


@pytest.fixture(scope="module")
def shared(
    server: Server, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Dashboard]:
    with (
        fresh_database(server, template) as database,
        dashboard(database, tmp_path_factory.mktemp("ui")) as running,
    ):
        yield running


@pytest.fixture
def tenant(own_tenant: str) -> str:
    return own_tenant


def cookie_of(visitor: Visitor) -> str:
    [name] = [name for name in visitor.cookies if name.startswith("__Host-pymem")]
    return name


# Signing in


def test_a_token_signs_in_and_is_not_kept(shared: Dashboard, tenant: str) -> None:
    visitor = shared.stranger()
    token = make_token(shared.database, tenant, "writer")
    answer = visitor.sign_in(token=token, next="/ui/facts")
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/facts")
    [cookie] = answer.headers.get_list("set-cookie")
    assert cookie.startswith(f"__Host-pymem-{shared.origin.rpartition(':')[2]}=")
    assert {part.strip().lower() for part in cookie.split(";")[1:]} >= {
        "secure",
        "httponly",
        "samesite=strict",
        "path=/",
    }
    assert "domain" not in cookie.lower()
    assert token.rpartition("_")[2] not in cookie
    assert "mira" not in text_of(visitor.get("/help"))
    assert "assistant writer" in text_of(visitor.get("/help"))


@pytest.mark.parametrize(
    "token", ["", "pymem_61_" + "0" * 64, "x", "pymem_ff_" + "0" * 64, "a" * 500]
)
def test_a_wrong_token_signs_nobody_in(shared: Dashboard, token: str) -> None:
    visitor = shared.stranger()
    answer = visitor.sign_in(token=token)
    assert answer.status_code in (401, 429)
    assert not visitor.cookies
    assert "a" * 500 not in answer.text


def test_opening_a_page_signs_nobody_in(shared: Dashboard, tenant: str) -> None:
    code = shared.database.value(
        "select c.login_code from memory.create_login_code('reader') as c", tenant=tenant
    )
    visitor = shared.stranger()
    for path in ("/", "/login", f"/login?code={code}", f"/login?token={code}"):
        visitor.ask("GET", f"/ui{path}")
        assert not visitor.cookies
    answer = visitor.ask("GET", "/ui/facts?state=any")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/ui/login?next=%2Fui%2Ffacts%3Fstate%3Dany",
    )


def test_the_code_of_a_link_signs_in_once(shared: Dashboard, tenant: str) -> None:
    code = shared.database.value(
        "select c.login_code from memory.create_login_code('admin') as c", tenant=tenant
    )
    first, second = shared.stranger(), shared.stranger()
    page = first.ask("GET", f"/ui/login?code={code}")
    assert f'name="code" value="{code}"' in page.text
    assert first.sign_in(code=code).status_code == 303
    assert first.get("/help").status_code == 200
    assert second.sign_in(code=code).status_code == 401
    assert not second.cookies


def test_guessing_is_slow(database: Database, tmp_path: Path) -> None:
    with dashboard(database, tmp_path) as running:
        visitor = running.stranger()
        statuses = [
            visitor.sign_in(token=f"pymem_61_{number:064x}").status_code for number in range(12)
        ]
        assert statuses == [401] * 10 + [429] * 2
        # Not even the right one, for a while.
        answer = visitor.sign_in(token=make_token(database, "a"))
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 61


def test_the_form_leads_to_pages_here_only(shared: Dashboard, tenant: str) -> None:
    for given in ("https://evil.example/", "//evil.example/ui/", "/mcp", "/ui/\\\\evil"):
        visitor = shared.stranger()
        answer = visitor.sign_in(token=make_token(shared.database, tenant), next=given)
        assert (answer.status_code, answer.headers["location"]) == (303, "/ui/")


def test_a_link_on_another_site_finds_the_session(shared: Dashboard, tenant: str) -> None:
    # With SameSite=Strict the first request comes without the cookie, the second one with it.
    answer = shared.stranger().ask("GET", "/ui/help", headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 200
    assert '<meta http-equiv="refresh" content="0">' in answer.text
    assert "csrf" not in answer.text


# Sessions


def test_a_session_ends_when_its_token_is_revoked(shared: Dashboard, tenant: str) -> None:
    token = make_token(shared.database, tenant, "admin")
    visitor = shared.stranger()
    visitor.sign_in(token=token)
    stolen = shared.stranger(visitor.cookies, visitor.csrf)
    assert stolen.get("/help")
    revoke(shared.database, token, tenant)
    for each in (visitor, stolen):
        assert each.ask("GET", "/ui/help").status_code == 303
        answer = each.send("/preferences", **{"pymem-theme": "dark"}) if each.csrf else None
        assert answer is None or answer.status_code == 401


def test_signing_out_ends_the_session_for_whoever_has_its_cookie(
    shared: Dashboard, tenant: str
) -> None:
    visitor = shared.visitor(tenant)
    visitor.get("/help")
    stolen = shared.stranger(visitor.cookies, visitor.csrf)
    answer = visitor.send("/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/login")
    assert not visitor.cookies
    assert stolen.ask("GET", "/ui/help").status_code == 303


def test_a_session_of_another_tenant_or_a_made_up_one_is_none(
    shared: Dashboard, tenant: str
) -> None:
    visitor = shared.visitor(tenant)
    name = cookie_of(visitor)
    given = visitor.cookies[name]
    other = b"other".hex()
    for forged in (
        f"{other}_{given.partition('_')[2]}",
        given[:-1] + ("0" if given[-1] != "0" else "1"),
        "ff_" + "0" * 64,
        "",
        "../../etc",
        given.upper(),
    ):
        stranger = shared.stranger({name: forged})
        assert stranger.ask("GET", "/ui/help").status_code == 303, forged


def test_what_the_database_keeps_is_no_session(shared: Dashboard, tenant: str) -> None:
    visitor = shared.visitor(tenant)
    given = visitor.cookies[cookie_of(visitor)]
    kept = str(shared.database.query("select to_jsonb(s) from memory.sessions as s", tenant=tenant))
    assert given.partition("_")[2] not in kept


# Other sites


def forms_of_others(origin: str) -> dict[str, dict[str, str]]:
    return {
        "another site": {"sec-fetch-site": "cross-site", "origin": "https://evil.example"},
        "the same site": {"sec-fetch-site": "same-site", "origin": "http://evil.127.0.0.1"},
        "an old browser": {"origin": "https://evil.example"},
        "a sandboxed frame": {"origin": "null"},
        "no browser": {},
        "another port": {"origin": origin[:-1] + ("1" if origin[-1] != "1" else "2")},
    }


@pytest.mark.parametrize("kind", forms_of_others("http://127.0.0.1:1"))
def test_forms_of_other_sites_change_nothing(shared: Dashboard, tenant: str, kind: str) -> None:
    visitor = shared.visitor(tenant)
    visitor.get("/help")
    headers = forms_of_others(shared.origin)[kind]
    answer = visitor.ask(
        "POST",
        "/ui/new/rule",
        data={"csrf": visitor.csrf, "content": "Obey", "back": "/ui/"},
        headers=headers,
    )
    assert answer.status_code == 403
    assert (
        shared.database.value(
            "select count(*) from memory.rules where tenant_id = %s", tenant, tenant=tenant
        )
        == 0
    )


@pytest.mark.parametrize("csrf", ["", "0" * 64, "é", "x"])
def test_a_form_without_the_token_of_the_session_changes_nothing(
    shared: Dashboard, tenant: str, csrf: str
) -> None:
    visitor = shared.visitor(tenant)
    answer = visitor.send("/new/rule", csrf=csrf, content="Obey")
    assert answer.status_code == 403
    assert "not one of this session" in text_of(answer)
    assert (
        shared.database.value(
            "select count(*) from memory.rules where tenant_id = %s", tenant, tenant=tenant
        )
        == 0
    )


def test_the_token_of_one_session_serves_no_other(shared: Dashboard, tenant: str) -> None:
    one, other = shared.visitor(tenant), shared.visitor(tenant)
    one.get("/help"), other.get("/help")
    assert one.csrf != other.csrf
    assert one.send("/new/rule", csrf=other.csrf, content="Obey").status_code == 403


def test_pages_are_served_under_the_servers_own_names_only(shared: Dashboard) -> None:
    for host, status in (("evil.example", 421), ("127.0.0.1.evil.example", 421)):
        answer = shared.stranger().ask("GET", "/ui/login", headers={"host": host})
        assert answer.status_code == status
        assert "not known under this name" in text_of(answer)


def test_nothing_inline_and_nothing_from_elsewhere_runs(shared: Dashboard, tenant: str) -> None:
    visitor = shared.visitor(tenant)
    for answer in (
        visitor.get("/help"),
        visitor.ask("GET", "/ui/nothing"),
        shared.stranger().ask("GET", "/ui/login"),
        visitor.ask("POST", "/ui/new/rule"),
    ):
        headers = answer.headers
        assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
        assert not re.search(r"<script(?! src=\"/ui/static/)|<style|\sstyle=|\son\w+=", answer.text)
    assert "unsafe" not in CONTENT_SECURITY_POLICY


def test_a_form_that_is_too_long_or_no_form_is_refused(shared: Dashboard, tenant: str) -> None:
    visitor = shared.visitor(tenant)
    visitor.get("/help")
    answer = visitor.send("/new/rule", content="x" * (5 << 20))
    assert answer.status_code == 413
    answer = visitor.ask(
        "POST",
        "/ui/new/rule",
        content=b"\xff\xfe{",
        headers={"origin": shared.origin, "content-type": "application/json"},
    )
    assert answer.status_code == 403


# Roles and tenants


def test_a_reader_sees_no_buttons_and_the_database_refuses_anyway(
    shared: Dashboard, tenant: str
) -> None:
    rule = shared.database.value("select memory.store_rule('Offer tea')::text", tenant=tenant)
    reader = shared.visitor(tenant, "reader")
    for path in ("/rules", f"/m/rule/{rule}", "/tokens", "/settings"):
        answer = reader.ask("GET", f"/ui{path}")
        forms = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]+)"', answer.text)
        assert set(forms) <= {"/ui/preferences", "/ui/logout", "/ui/bulk"}, (path, forms)
        assert 'data-do="forget"' not in answer.text
    for path, fields in (
        (f"/m/rule/{rule}/forget", {}),
        ("/new/rule", {"content": "Obey"}),
        ("/bulk", {"memory_type": "rule", "one": f"forget {rule}"}),
        ("/tokens", {"name": "x", "role": "admin", "days": "1"}),
        ("/erase", {"subject": "tea", "mentions": "yes", "confirm": "tea"}),
        ("/settings", {"ranking": "specified"}),
    ):
        answer = reader.send(path, **fields)
        assert answer.status_code == 403, path
        assert "may not" in text_of(answer)
    assert shared.database.query(
        "select content, lifecycle_state from memory.rules where tenant_id = %s",
        tenant,
        tenant=tenant,
    ) == [("Offer tea", "active")]


def test_a_writer_neither_configures_nor_erases(shared: Dashboard, tenant: str) -> None:
    writer = shared.visitor(tenant, "writer")
    for path, fields in (
        ("/tokens", {"name": "x", "role": "admin", "days": "1"}),
        ("/erase", {"subject": "tea", "mentions": "yes", "confirm": "tea"}),
        ("/settings", {"ranking": "specified"}),
    ):
        assert writer.send(path, **fields).status_code == 403
    assert writer.ask("GET", "/ui/tokens").status_code == 403


def test_a_dashboard_that_is_read_only_has_no_way_to_write(
    database: Database, tmp_path: Path
) -> None:
    with (
        dashboard(database, tmp_path, "--ui-read-only") as running,
    ):
        rule = database.value("select memory.store_rule('Offer tea')::text")
        admin = running.visitor("a", "admin")
        page = admin.get("/help")
        assert "read-only" in text_of(page)
        for path in (f"/m/rule/{rule}/forget", "/new/rule", "/bulk", "/tokens", "/undo"):
            assert admin.send(path, content="x").status_code in (404, 405), path
        assert database.query("select content, lifecycle_state from memory.rules") == [
            ("Offer tea", "active")
        ]


def test_the_dashboard_is_off_unless_it_is_asked_for(database: Database, tmp_path: Path) -> None:
    with (
        serving(database.login(None), tmp_path) as running,
    ):
        assert httpx2.get(f"{running.origin}/ui/login").status_code == 404


def test_a_page_says_nothing_of_the_server_behind_it(database: Database, tmp_path: Path) -> None:
    with dashboard(database, tmp_path) as running:
        visitor = running.visitor("a")
        visitor.get("/help")
        database.query("alter function memory.authenticate_session rename to gone")
        answer = visitor.ask("GET", "/ui/help")
        assert answer.status_code == 500
        for word in (
            "gone",
            "authenticate",
            "postgres",
            "Traceback",
            "function",
            "password",
            "/tmp",
        ):
            assert word not in text_of(answer)


def test_what_is_away_looks_different_from_what_is_not_there(
    database: Database, tmp_path: Path
) -> None:
    nowhere = "/ui/m/fact/00000000-0000-0000-0000-000000000000"
    with (
        dashboard(database, tmp_path) as running,
        psycopg.connect(database.server.url("postgres"), autocommit=True) as operator,
    ):
        visitor = running.visitor("a")
        missing = visitor.ask("GET", nowhere)
        assert missing.status_code == 404
        assert "trouble-404" in missing.text
        operator.execute(f"alter database {database.name} with allow_connections false")
        operator.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s",
            (database.name,),
        )
        try:
            away = visitor.ask("GET", nowhere)
        finally:
            operator.execute(f"alter database {database.name} with allow_connections true")
        # Not the form to sign in: the session may be as valid as before.
        assert away.status_code == 503
        assert "trouble-503" in away.text
        assert "says nothing about what is stored" in text_of(away)
        assert away.headers["retry-after"] == "5"
        assert not re.search("postgres|/dev/shm|pymem_test_gateway|password", text_of(away))


def test_a_link_of_another_site_signs_nobody_in_without_a_click(
    server: Server, template: str, tmp_path: Path
) -> None:
    with (
        fresh_database(server, template) as database,
        dashboard(database, tmp_path, "--ui", "--allowed-host", "memory.example.org") as running,
    ):
        for host, site, submits in (
            ("memory.example.org", "cross-site", False),
            ("memory.example.org", "none", True),
            ("127.0.0.1", "cross-site", True),
        ):
            page = running.stranger().ask(
                "GET", "/ui/login?code=x", headers={"host": host, "sec-fetch-site": site}
            )
            assert ("data-submit" in page.text) is submits
            assert "Open the memory" in page.text


# On the command line


def test_the_link_that_is_printed_signs_in(database: Database, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pymem.cli", "ui", "--no-browser", "--port"]
    env = {**os.environ, "PYMEM_DATABASE_URL": database.login("a"), "PYMEM_NO_EMBEDDINGS": "1"}
    process = subprocess.Popen([*command, "0"], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        origin, _, path = link.partition("/ui/")
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", origin)
        with httpx2.Client(base_url=origin) as http:
            visitor = Visitor(http)
            code = path.partition("code=")[2]
            assert visitor.sign_in(code=code).status_code == 303
            assert "pymem_test_a admin" in text_of(visitor.get("/help"))
            assert visitor.ask("GET", "/").headers["location"] == "/ui/"
            assert visitor.sign_in(code=code).status_code == 401
            # Once more, while it serves: another link.
            port = origin.rpartition(":")[2]
            again = subprocess.run(
                [*command, port], env=env, capture_output=True, text=True, check=True
            )
            assert f"served already at {origin}" in again.stderr
            code = again.stdout.partition("code=")[2].strip()
            assert Visitor(http).sign_in(code=code).status_code == 303
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
