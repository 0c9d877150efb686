"""Images without a registry, for `FROM python:3.11-slim` and `redis:7-alpine`.

Both are one image, made of files that this machine's Debian packages installed: Python, a shell, a
few tools, Redis. Making it takes seconds, and needs no mirror. Packages for pip come from a folder
of wheels that is filled once and kept in the cache.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.docker.engine import Engine

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "steelyard-tests"
PACKAGES = ("python3.11", "python3.11-venv", "dash", "coreutils", "passwd", "redis-server", "sed")
TAGS = (("python", "3.11"), ("python", "3.11-slim"), ("redis", "7-alpine"))
# Packages that Debian's Python 3.11.2 needs, and the Python that runs the tests may not need.
ELSEWHERE = ("async-timeout",)
LINKS = {
    "bin": "usr/bin",
    "sbin": "usr/sbin",
    "lib": "usr/lib",
    "lib64": "usr/lib64",
    "usr/local/bin/python": "/usr/bin/python3.11",
    "usr/bin/sh": "dash",
}
ACCOUNTS = {"etc/passwd": "root:x:0:0::/root:/bin/sh\n", "etc/group": "root:x:0:\nusers:x:100:\n"}
UNUSED = re.compile(r"/usr/share/(doc|man|locale|info|bug|lintian)/|/usr/lib/systemd/|/var/|/run/")


def needed(packages: tuple[str, ...]) -> set[str]:
    """These installed packages with all their dependencies."""
    form = "${binary:Package}\t${Provides}\t${Depends}, ${Pre-Depends}\n"
    depends: dict[str, set[str]] = {}
    for line in _lines("dpkg-query", "-W", "-f", form):
        name, provides, wants = line.split("\t")
        found = set(re.findall(r"(?:^|[,|] *)([a-z0-9][a-z0-9.+-]+)", wants))
        for alias in [name.partition(":")[0], *re.findall(r"[a-z0-9][a-z0-9.+-]+", provides)]:
            depends.setdefault(alias, set()).update({name.partition(":")[0], *found})
    todo, done = list(packages), set[str]()
    while todo:
        if (one := todo.pop()) not in done and one in depends:
            done.add(one)
            todo += depends[one]
    return done


def layer() -> bytes:
    """The image's only layer, as a tar file."""
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w") as tar:
        for name, target in LINKS.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        for name, mode in (("tmp", 0o1777), ("data", 0o777), ("root", 0o700), ("home", 0o755)):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        for name, text in ACCOUNTS.items():
            file = tarfile.TarInfo(name)
            file.size = len(text)
            tar.addfile(file, io.BytesIO(text.encode()))
        for path in _files():
            tar.add(path, _merged(path), recursive=False)
    return found.getvalue()


def _files() -> Iterator[Path]:
    """The files of the packages, each once, as they are on this machine."""
    listed = _lines("dpkg", "-L", *sorted(needed(PACKAGES)))
    names = {line for line in listed if line.startswith("/") and not UNUSED.search(line)}
    taken = {*LINKS, *ACCOUNTS}
    for name in sorted({"/" + _merged(Path(name)) for name in names}):
        path = Path(name)
        if name[1:] not in taken and os.path.lexists(path) and not path.is_dir():
            yield path


def _merged(path: Path) -> str:
    """The path of a file now that /bin is a link to /usr/bin."""
    return re.sub(r"^(bin|sbin|lib|lib64)/", r"usr/\1/", str(path).lstrip("/"))


def _lines(*words: str) -> list[str]:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def load(engine: Engine) -> None:
    """Load the image into the engine under the names that Dockerfiles use."""
    (repo, tag), *others = TAGS
    engine.ask("POST", f"/images/create?fromSrc=-&repo={repo}&tag={tag}", layer())
    for name, label in others:
        engine.ask("POST", f"/images/{repo}:{tag}/tag?repo={name}&tag={label}")


def context() -> str:
    """A digest of all files that the image is built from."""
    files = [
        ROOT / name for name in ("Dockerfile", "constraints.txt", "pyproject.toml", "setup.py")
    ]
    files += sorted((ROOT / "src").rglob("*.p[yx]*"))
    digest = hashlib.sha256()
    for file in files:
        if "__pycache__" not in file.parts:
            digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def wheels() -> Path:
    """A folder with all packages that the Dockerfile's pip installs, except Steelyard itself."""
    wanted = (ROOT / "pyproject.toml").read_bytes() + (ROOT / "constraints.txt").read_bytes()
    folder = CACHE / f"wheels-{hashlib.sha256(wanted).hexdigest()[:16]}"
    if not folder.is_dir():
        draft = folder.with_name(f"{folder.name}.{os.getpid()}")
        draft.mkdir(parents=True)
        pip = [sys.executable, "-m", "pip", "-qq"]
        constraint = ["--constraint", str(ROOT / "constraints.txt")]
        project = ["setuptools>=77", "cython>=3.1", "wheel", f"{ROOT}[docker,redis]", *ELSEWHERE]
        environ = {**os.environ, "STEELYARD_PURE": "1"}
        subprocess.run([*pip, "wheel", "--wheel-dir", draft, *constraint, *project],
                       check=True, env=environ)  # fmt: skip
        for own in draft.glob("steelyard-*"):
            own.unlink()
        try:
            draft.rename(folder)
        except OSError:  # another test run was faster
            shutil.rmtree(draft)
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Keep requests out of the test's output."""


@contextmanager
def package_index(folder: Path) -> Iterator[dict[str, str]]:
    """Serve the wheels on loopback; yield the build arguments that make pip use them."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield {"PIP_FIND_LINKS": f"http://127.0.0.1:{server.server_port}/", "PIP_NO_INDEX": "1"}
        finally:
            server.shutdown()
