"""Zenoh's settings. Every setting that differs from its default has its reason here."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import zenoh

from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security

LEASE = 1.5  # seconds of silence after which a peer counts as gone
WORDS = 3  # keep-alive messages in a lease; every node sends them to every other, so few are better
PATIENCE = 5000  # ms for the handshake of a link: on a busy machine TLS takes its time
INTRODUCTION = 1500  # ms for the same in an introducer, which lives only for so long
RETRY = {"period_init_ms": 200, "period_max_ms": 1000, "period_increase_factor": 1.5}
# Of two nodes that hear of each other, only the one with the greater identity connects. If both
# connect they get in each other's way: each of 60 idle nodes took 0.44 % of a core and 45 threads,
# instead of 0.18 % and 26.
ONE_CONNECTS = {"peer": {"to_router": "always", "to_peer": "greater-zid"}}


def member(
    listen: Sequence[Endpoint],
    join: Sequence[Endpoint],
    security: Security | None,
    *,
    lease: float,
    multicast: bool,
    keys: str,
) -> zenoh.Config:
    """The settings of a node's own session."""
    return _config(
        {
            **_common(security, lease),
            "id": new_identity(listen),
            "listen/endpoints": [str(one) for one in listen],
            "connect/endpoints": [str(one) for one in join],
            "scouting/multicast/enabled": multicast,
            "scouting/multicast/autoconnect_strategy": ONE_CONNECTS,
            "scouting/gossip/autoconnect_strategy": ONE_CONNECTS,
            **_access(security, keys),
        }
    )


def new_identity(listen: Sequence[Endpoint]) -> str:
    """A random identity. It is greater for nodes that only their own machine can reach, so that
    they are the ones to connect.

    Zenoh compares identities byte by byte from the end of this text. It drops zeros at the
    beginning of the text, so the text begins with 1.
    """
    last = secrets.choice("89abcdef" if all(one.local for one in listen) else "01234567")
    return "1" + secrets.token_hex(15)[1:] + last + secrets.choice("0123456789abcdef")


def introducer(endpoints: Sequence[str], security: Security | None, lease: float) -> zenoh.Config:
    """The settings of a session that only makes nodes known to each other, and connects to no
    others.
    """
    return _config(
        {
            **_common(security, lease),
            "listen/endpoints": [],
            "connect/endpoints": list(endpoints),
            "scouting/multicast/enabled": False,
            "scouting/gossip/autoconnect": {"peer": []},
            # Closing the session waits for this timeout when the process at the other end is
            # stopped.
            "transport/unicast/open_timeout": INTRODUCTION,
        }
    )


def _common(security: Security | None, lease: float) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "mode": "peer",
        # Opening a session waits for so long; connecting goes on after that.
        "connect/timeout_ms": 500,
        "connect/exit_on_failure": False,  # the nodes listed may start later
        "connect/retry": RETRY,
        "scouting/gossip/enabled": True,
        "transport/link/tx/lease": round(lease * 1e3),  # ms
        "transport/link/tx/keep_alive": WORDS,
        # A peer that reads nothing is cut off when its lease is over. Otherwise we would wait for
        # it.
        "transport/link/tx/queue/congestion_control/block/wait_before_close": round(
            lease * 1e6
        ),  # µs
        "transport/unicast/open_timeout": PATIENCE,
        "transport/unicast/accept_timeout": PATIENCE,
        # It works on one machine only, and kill -9 leaves it behind.
        "transport/shared_memory/enabled": False,
        "timestamping/enabled": False,  # clocks of machines differ
    }
    if security is not None:
        settings["transport/link/tls"] = {
            "root_ca_certificate": str(security.authority),
            "listen_certificate": str(security.certificate),
            "listen_private_key": str(security.key),
            "connect_certificate": str(security.certificate),
            "connect_private_key": str(security.key),
            "enable_mtls": True,
            "verify_name_on_connect": False,  # `Security` says why
            "close_link_on_expiration": True,
        }
    return settings


def _access(security: Security | None, keys: str) -> dict[str, Any]:
    """Let only the named members in, if any are named."""
    if security is None or not security.members:
        return {}
    messages = ["put", "delete", "declare_subscriber", "query", "reply", "declare_queryable"]
    messages += ["liveliness_token", "liveliness_query", "declare_liveliness_subscriber"]
    rule = {"id": "mesh", "permission": "allow", "key_exprs": [keys], "messages": messages}
    subject = {"id": "members", "cert_common_names": list(security.members)}
    return {
        "access_control": {
            "enabled": True,
            "default_permission": "deny",
            "rules": [{**rule, "flows": ["ingress", "egress"]}],
            "subjects": [subject],
            "policies": [{"rules": ["mesh"], "subjects": ["members"]}],
        }
    }


def _config(settings: Mapping[str, Any]) -> zenoh.Config:
    config = zenoh.Config()
    for key, value in settings.items():
        config.insert_json5(key, json.dumps(value))
    return config
