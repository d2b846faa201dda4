"""The Python environment of a program, made at its first start.

Standard library only: this runs under whichever python3 started the program.
"""
import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path

OLDEST_PYTHON = (3, 11)


def enter(name, requirements):
    """Starts the program again inside the environment, unless it is there.

    Its packages stand in the file of requirements, all of them, with versions.
    """
    if sys.version_info < OLDEST_PYTHON:
        sys.exit("python %d.%d or newer is needed" % OLDEST_PYTHON)
    venv = _folder(name, requirements)
    if Path(sys.prefix) == venv:
        return
    _complete(venv, requirements)
    python = venv / "bin" / "python"
    os.execv(python, [str(python), *sys.argv])


def _folder(name, requirements):
    """One folder per set of requirements and Python version."""
    key = requirements.read_bytes() + sys.version.encode()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = f"{name}-{hashlib.sha256(key).hexdigest()[:12]}"
    return (Path(cache) / "stowplan-tests" / folder).absolute()


def _complete(venv, requirements):
    """Makes the environment, once even when several programs ask for it."""
    venv.parent.mkdir(parents=True, exist_ok=True)
    complete = venv / "complete"
    with open(venv.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if complete.exists():
            return
        print(f"making the Python environment {venv} (once)", file=sys.stderr)
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", venv])
        pip = [venv / "bin" / "python", "-m", "pip", "--quiet"]
        pip += ["--disable-pip-version-check"]
        subprocess.check_call(pip + ["install", "--no-deps", "-r", requirements])
        complete.touch()
