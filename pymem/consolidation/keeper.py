"""Runs the command named by its arguments, and ends it when the worker has gone.

``python keeper.py FD COMMAND...`` is the leader of a process group. The worker holds the other end
of the pipe FD and never writes to it: the pipe ends with the worker, however it died, and so does
the process group. A parent death signal (prctl) would reach one process, not the children of the
command, and would be sent too early if the thread that started the command ended.

Imports only what Python has loaded or built in: it starts with every prompt.
"""

import _thread
import contextlib
import os
import resource
import signal
import sys

_FAILED_TO_START = 127


def _watch(pipe: int) -> None:
    with contextlib.suppress(OSError):
        os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)


def main(arguments: list[str]) -> int:
    """Run the command and return its exit code; a signal that ended it ends this process too."""
    pipe = int(arguments[0])
    os.set_inheritable(pipe, False)
    _thread.start_new_thread(_watch, (pipe,))
    # The command decides what these do: it is in the same process group.
    ignored = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    try:
        process = os.posix_spawnp(
            arguments[1],
            arguments[1:],
            os.environ,
            # Those, and what Python ignores.
            setsigdef=(*ignored, signal.SIGPIPE, signal.SIGXFSZ),
        )
    except OSError as error:
        sys.stderr.write(f"{arguments[1]}: {error.strerror}\n")
        return _FAILED_TO_START
    # The output ends with the command.
    for standard in (0, 1):
        os.close(standard)
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
