"""nginx, with one worker process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from steelyard.bench import tools
from steelyard.bench.launch import Command
from steelyard.bench.ports import HOST
from steelyard.bench.proxies.base import CONNECTIONS, MANY, Proxy, Site

BUFFERS_64K = "proxy_buffer_size 64k; proxy_buffers 8 64k; proxy_busy_buffers_size 128k;"
# nginx must write no file: neither for an answer that its client reads slowly, nor for a request
# body of 16 KiB, which just does not fit the default of 16k and then costs four times as much.
_NO_FILES = "proxy_max_temp_file_size 0; client_body_buffer_size 64k;"

_PROXY = """
  map $http_upgrade $upgrading {{ default upgrade; '' ''; }}
  upstream members {{
    {balance}
    {members}
    keepalive 256; keepalive_requests {many};
  }}
  server {{
    listen {host}:{listen} backlog=4096;
    location / {{
      proxy_pass http://members;
      proxy_http_version 1.1;
      {tunnel}
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header Via "1.1 nginx";
      add_header Via "1.1 nginx" always;
    }}
  }}
"""
_TUNNEL = "proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $upgrading;"
_KEEP_ALIVE = 'proxy_set_header Connection "";'


class Nginx(Proxy):
    """nginx as a proxy, with given buffers and a given balancing method."""

    program: ClassVar[str] = "nginx"

    def __init__(self, name: str = "nginx", buffers: str = "", balance: str = "") -> None:
        self.name = name
        self._buffers = buffers
        self._balance = balance

    def missing(self) -> str:
        return tools.why_missing(self.program)

    def version(self) -> str:
        return tools.first_line(tools.find(self.program) or "", "-v").rpartition("/")[2]

    def command(self, site: Site) -> Command:
        members = (f"server {HOST}:{port} weight={weight};" for port, weight in site.members)
        proxy = _PROXY.format(
            balance=self._balance,
            members=" ".join(members),
            many=MANY,
            host=HOST,
            listen=site.listen,
            tunnel=_TUNNEL if site.tunnel else _KEEP_ALIVE,
        )
        return nginx_command(site.folder, f"  {_NO_FILES} {self._buffers}{proxy}")


def nginx_command(folder: Path, http: str) -> Command:
    """The command of an nginx with this `http` block; all its files go into the folder."""
    file = folder / "nginx.conf"
    file.write_text(_whole(folder, http))
    program = tools.find("nginx") or "nginx"
    return Command([program, "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(file)])


def _whole(folder: Path, http: str) -> str:
    # As root, nginx would make its worker the user nobody, who may not read our folder.
    user = "user root;" if os.geteuid() == 0 else ""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    return f"""
{user} daemon off; worker_processes 1; pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections {2 * CONNECTIONS}; }}
http {{
  access_log off; {temporary}
  keepalive_requests {MANY}; keepalive_timeout 300s; client_max_body_size 0;
{http}
}}
"""
