"""`python -m … PORT`: becomes an nginx that answers every request with a few bytes.

It is one process, so that killing the worker kills all of it. Its limits are nginx's defaults:
after 1,000 requests it closes a connection, as servers do.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from steelyard.bench.ports import HOST
from steelyard.bench.tools import find

_FILE = """
{user} daemon off; master_process off; pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 4096; }}
http {{
  access_log off; {temporary}
  server {{ listen {host}:{port} backlog=1024; location / {{ return 200 "served"; }} }}
}}
"""


def become_nginx(port: int) -> None:
    """Replace this process by nginx; this does not return."""
    folder = Path(tempfile.mkdtemp(prefix=f"{port}-", dir=os.environ.get("SOAK_FOLDER")))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    text = _FILE.format(
        user="user root;" if os.geteuid() == 0 else "",
        folder=folder,
        temporary=" ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds),
        host=HOST,
        port=port,
    )
    file = folder / "nginx.conf"
    file.write_text(text)
    program = find("nginx") or "nginx"
    os.execv(program, [program, "-e", "stderr", "-p", str(folder), "-c", str(file)])


if __name__ == "__main__":
    become_nginx(int(sys.argv[1]))
