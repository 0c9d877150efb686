"""TLS as a user switches it on: for the plain reverse proxy, and for `steelyard up`."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path

import httpx
import psutil

from tests.balancer.authority import issue, trusting
from tests.e2e.gateway import QUICK, Gateway, free_port
from tests.e2e.test_balancer_alone import (
    answers,
    processes,  # noqa: F401 - a fixture
    run,
)


async def peer_names(port: int) -> set[str]:
    """The names in the certificate that the server shows now."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting())
    told = writer.get_extra_info("peercert")
    writer.close()
    return {value for _, value in told["subjectAltName"]}


async def until_served(port: int) -> None:
    """Wait for an answer with status 200."""
    async with httpx.AsyncClient(verify=trusting()) as client:
        for _ in range(600):
            with contextlib.suppress(httpx.TransportError):
                if (await client.get(f"https://127.0.0.1:{port}/health")).status_code == 200:
                    return
            await asyncio.sleep(0.05)
    raise AssertionError("it was never served")


async def test_a_reverse_proxy(processes, tmp_path):  # noqa: F811
    """All processes load a new certificate, and the successor of a killed one serves it, too."""
    certificate, key = issue(tmp_path, "127.0.0.1")
    worker, port = free_port(), free_port()
    processes.append(run("steelyard.demo", "--port", str(worker)))
    await answers(f"http://127.0.0.1:{worker}/health")
    processes.append(run(
        "steelyard", "balancer", "--listen", f"127.0.0.1:{port}", "--processes", "2",
        "--worker", f"127.0.0.1:{worker}", "--tls-cert", certificate, "--tls-key", key,
    ))  # fmt: skip
    await until_served(port)
    said = f"serving on https://127.0.0.1:{port}, Ctrl-C stops\n".encode()
    assert said in iter(processes[1].stdout.readline, b"")
    issue(tmp_path, "127.0.0.1", "new.org")
    seen = 0
    while seen < 20:  # in a row, so that both processes were asked
        seen = seen + 1 if "new.org" in await peer_names(port) else 0
    child = psutil.Process(processes[1].pid).children()[0]
    child.kill()
    child.wait()
    while len(psutil.Process(processes[1].pid).children()) < 2:
        await asyncio.sleep(0.05)
    for _ in range(20):
        await until_served(port)


async def test_a_reload(processes, tmp_path):  # noqa: F811
    """SIGHUP loads another list of certificates; a wrong list is refused, and nothing changes."""
    worker, port = free_port(), free_port()
    processes.append(run("steelyard.demo", "--port", str(worker)))
    first, second = issue(tmp_path, "127.0.0.1"), issue(tmp_path, "b.org", "127.0.0.1")
    file = tmp_path / "steelyard.toml"

    def configure(certificate: Path, key: Path) -> None:
        file.write_text(f"""
            [gateway]
            listen = "127.0.0.1:{port}"
            workers = ["127.0.0.1:{worker}"]
            processes = 1
            tls_cert = "{certificate}"
            tls_key = "{key}"
            """)

    configure(*first)
    started = run("steelyard", "balancer", "--config", str(file))
    processes.append(started)
    await until_served(port)
    configure(*second)
    started.send_signal(signal.SIGHUP)
    said = f"reloaded: serving on https://127.0.0.1:{port}; "
    said += "the old balancers finish their exchanges\n"
    assert said.encode() in iter(started.stdout.readline, b"")
    # Until the old balancer has been told to leave, it takes clients, too.
    assert b"the old balancers have ended\n" in iter(started.stdout.readline, b"")
    assert "b.org" in await peer_names(port)
    configure(first[0], second[1])
    started.send_signal(signal.SIGHUP)
    assert any(b"does not belong" in line for line in iter(started.stdout.readline, b""))
    assert any(b"stays in force" in line for line in iter(started.stdout.readline, b""))
    assert "b.org" in await peer_names(port)
    await until_served(port)


async def test_everything(tmp_path: Path):
    """`up` serves over TLS, and says so."""
    certificate, key = issue(tmp_path, "127.0.0.1")
    flags = ("--min", "1", "--tls-cert", str(certificate), "--tls-key", str(key))
    gateway = Gateway(tmp_path / "home", *QUICK, *flags).start()
    try:
        await gateway.ready()
        await until_served(gateway.port)
        while f"serving app on https://127.0.0.1:{gateway.port}" not in gateway.output():
            await asyncio.sleep(0.05)
        assert gateway.stop() == 0
    finally:
        assert gateway.destroy() == []
