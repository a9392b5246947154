"""Dockerfile and compose file: checked by linters, and typed in their order without Docker."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from pymem import __version__
from pymem.server import EmbeddedServer
from tests.conftest import ROOT, make_server_folder

FOLDER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = re.sub(r"\\\n", "", (FOLDER / "Dockerfile").read_text())
OURS = ("deploy", "server", "run")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.M)


def test_the_linter_has_no_objections_to_the_dockerfile() -> None:
    program = Path(sys.executable).with_name("hadolint")
    if not program.exists():
        pytest.skip("hadolint is not installed")

    done = subprocess.run(
        [program, FOLDER / "Dockerfile"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_the_compose_file_fits_the_schema_of_its_specification() -> None:
    pytest.importorskip("check_jsonschema")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.compose-spec", FOLDER / "compose.yaml"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout


def test_the_image_has_two_stages_and_runs_as_nobody_in_particular() -> None:
    _, final = DOCKERFILE.split("FROM python:3.13-slim AS build")[1].split(
        "FROM python:3.13-slim\n"
    )

    assert "COPY . " not in final
    assert "pip" not in final
    assert instructions("USER") == ["10001:10001"]
    assert instructions("ENTRYPOINT") == ['["pymem"]']
    [health] = instructions("HEALTHCHECK")
    assert "/health" in health
    # Neither secrets nor what the wheel is not made of.
    assert not re.search(r"password|secret|postgresql://", DOCKERFILE, re.I)
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    assert ignored[1] == "*"
    included = {line[1:] for line in ignored if line.startswith("!")}
    assert included == {name for name in included if (ROOT / name).exists()}
    assert not included & {"docker", "tests", ".git", ".venv"}


def test_the_wheel_is_made_of_what_comes_into_the_build(tmp_path: Path) -> None:
    for line in (FOLDER / "Dockerfile.dockerignore").read_text().splitlines():
        if line.startswith("!"):
            there = ROOT / line[1:]
            copy = shutil.copytree if there.is_dir() else shutil.copy2
            copy(there, tmp_path / line[1:])
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", "wheels", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [wheel] = (tmp_path / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert {f"pymem/sql/pymem--{__version__}.sql", "pymem/sql/grant_login.sql"} <= {
            *archive.namelist()
        }


def test_the_services_have_no_passwords_and_few_rights() -> None:
    for name, service in SERVICES.items():
        assert "no-new-privileges:true" in service["security_opt"], name
        for secret in service["secrets"]:
            assert secret in COMPOSE["secrets"], name
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|URL", variable):
                assert variable.endswith("_FILE"), name
                assert Path(value).name in service["secrets"], name
        assert "privileged" not in service
        assert not re.search(r":latest$|^[^:]*/[^:]*$", service["image"]), name
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), name
    for name in (*OURS, "logins"):
        assert SERVICES[name]["read_only"] is True
        assert SERVICES[name]["cap_drop"] == ["ALL"]
    # None has the secrets of others.
    assert SERVICES["server"]["secrets"] == ["pymem_server.url"]
    assert SERVICES["run"]["secrets"] == ["pymem_worker.url"]
    used = {secret for service in SERVICES.values() for secret in service["secrets"]}
    assert used == set(COMPOSE["secrets"])
    for secret in COMPOSE["secrets"].values():
        assert secret["file"].startswith("./secrets/")
    assert "/docker/secrets" in (ROOT / ".gitignore").read_text().splitlines()


def test_services_that_stay_tell_whether_they_are_well() -> None:
    for name, service in SERVICES.items():
        if service["restart"] == "no":
            assert service["healthcheck"] == {"disable": True}
        elif name != "server":  # which has that of the image
            assert service["healthcheck"]["test"][0] == "CMD"


# The same commands without Docker


@pytest.fixture
def database() -> Iterator[EmbeddedServer]:
    """A server that asks for passwords over TCP, as that of the image does."""
    folder = make_server_folder()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = EmbeddedServer(
        folder, settings={"fsync": "off", "listen_addresses": "'127.0.0.1'", "port": str(port)}
    )
    plain = EmbeddedServer(folder, settings={"fsync": "off"})
    plain.start()
    plain.stop()
    access = folder / "postgres" / "pg_hba.conf"
    owner = access.stat()
    access.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
    os.chown(access, owner.st_uid, owner.st_gid)
    programs = server._binaries(account := server._make_folders())
    server._write_settings(account)
    data = folder / "postgres"
    server._control(programs, account, data, "-l", data / "start.log", "start")
    yield server
    server._control(programs, account, data, "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


def secrets_for(server: EmbeddedServer, folder: Path) -> None:
    """Make the secrets as the documentation says, and the database as its image does."""
    port = server._settings["port"]
    make: list[str | Path] = [FOLDER / "make-secrets", folder, f"127.0.0.1:{port}"]
    subprocess.run(make, check=True)
    kept = {path.name: path.read_text() for path in folder.iterdir()}
    subprocess.run(make, check=True)

    assert {path.name: path.read_text() for path in folder.iterdir()} == kept
    assert set(kept) == set(COMPOSE["secrets"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len({kept[name] for name in kept if name.endswith(".password")}) == 3
    local = server.url() + f"&port={port}"
    with psycopg.connect(local, autocommit=True) as connection:
        password = kept["postgres.password"].strip()
        assert len(password) == 48
        connection.execute(f"alter role postgres password '{password}'".encode())
        connection.execute("create database memory")


def environment(service: str, secrets: Path) -> dict[str, str]:
    """Return the environment of a service: of the image, and of the compose file."""
    variables = {
        name: value.replace("/run/secrets", str(secrets))
        for name, value in SERVICES[service].get("environment", {}).items()
    }
    image = {"PYTHONUNBUFFERED": "1", "PYMEM_NO_START": "1", "HOME": "/nonexistent"}
    assert re.search("PYMEM_NO_START=1", DOCKERFILE)
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **image, **variables}


def run(service: str, secrets: Path, arguments: Sequence[str] | None = None) -> str:
    given = SERVICES[service]["command"] if arguments is None else arguments
    done = subprocess.run(
        [sys.executable, "-m", "pymem.cli", *given],
        env=environment(service, secrets),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_of_the_compose_file_serve_agents_and_keep_the_memory_in_order(
    database: EmbeddedServer, tmp_path: Path
) -> None:
    secrets = tmp_path / "secrets"
    secrets_for(database, secrets)
    for _ in range(2):
        # As often as `docker compose up` is typed.
        run("deploy", secrets)
        subprocess.run(
            [FOLDER / "make-logins"],
            env={
                "PATH": os.environ["PATH"],
                "SECRETS": str(secrets),
                "GRANT_LOGIN": str(ROOT / "sql" / "grant_login.sql"),
            },
            check=True,
        )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = SERVICES["server"]["command"]
    assert command == json.loads(instructions("CMD")[0])
    worker = subprocess.Popen(
        [sys.executable, "-m", "pymem.cli", *SERVICES["run"]["command"]],
        env=environment("run", secrets),
        stdout=subprocess.PIPE,
        text=True,
    )
    server = subprocess.Popen(
        [sys.executable, "-m", "pymem.cli", *command, "--port", str(port)],
        env=environment("server", secrets),
        stderr=subprocess.DEVNULL,
    )
    try:
        # What the healthcheck of the image asks.
        [health] = instructions("HEALTHCHECK")
        check = json.loads(health.split(" CMD ")[1])
        program = check[2].replace("8765", str(port))
        deadline = time.monotonic() + 30
        while subprocess.run(
            [sys.executable, "-c", program], stderr=subprocess.DEVNULL, check=False
        ).returncode:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        token = json.loads(
            run("run", secrets, ["token", "create", "--name", "a", "--role", "writer", "--json"])
        )["token"]

        def call(name: str, **arguments: str) -> str:
            request = urllib.request.Request(
                f"http://localhost:{port}/mcp",
                json.dumps(
                    {
                        "jsonrpc": "2.0",
                        "id": 1,
                        "method": "tools/call",
                        "params": {"name": name, "arguments": arguments},
                    }
                ).encode(),
                {
                    "Authorization": f"Bearer {token}",
                    "Content-Type": "application/json",
                    "Accept": "application/json, text/event-stream",
                },
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                return str(answer.read().decode())

        assert "error" not in call("memory_store_rule", content="Offer tea")
        assert "Offer tea" in call("memory_search", query="tea")
        assert worker.stdout is not None
        assert "running" in worker.stdout.readline()
        test = SERVICES["run"]["healthcheck"]["test"]
        assert test[:2] == ["CMD", "pymem"]
        assert "rule" in run("run", secrets, test[2:])
    finally:
        for process in (worker, server):
            process.terminate()
            process.communicate(timeout=30)
    assert worker.returncode == 0
    assert server.returncode == 0

    # Only with their passwords, and each only with its rights.
    url = (secrets / "pymem_server.url").read_text().strip()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(re.sub(r"server:[^@]*@", "server:wrong@", url))
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "select rolsuper, pg_has_role('memory_admin', 'member') from pg_roles "
            "where rolname = current_user"
        ).fetchone()
    assert row == (False, False)


@pytest.mark.parametrize(("content", "message"), [(None, "cannot be read"), ("\n", "is empty")])
def test_a_secret_that_is_missing_is_named(
    tmp_path: Path, content: str | None, message: str
) -> None:
    file = tmp_path / "url"
    if content is not None:
        file.write_text(content)
    done = subprocess.run(
        [sys.executable, "-m", "pymem.cli", "stats"],
        env={**os.environ, "PYMEM_DATABASE_URL_FILE": str(file), "PYMEM_DATABASE_URL": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 3
    assert f"{file} {message}" in done.stderr
    assert "Traceback" not in done.stderr
