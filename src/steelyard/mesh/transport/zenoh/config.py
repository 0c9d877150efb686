"""What Zenoh is told. Every setting that is not its default has its reason here."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import zenoh

from steelyard.mesh.transport.endpoints import Endpoint
from steelyard.mesh.transport.security import Security

LEASE = 1.5  # seconds without a word after which a peer is gone
WORDS = 3  # in a lease; all nodes of a mesh say them to all others, so few is better
PATIENCE = 5000  # ms for the handshake of a link: a busy machine may take its time with TLS
INTRODUCTION = 1500  # ms for the same, of a session that is only there for so long
RETRY = {"period_init_ms": 200, "period_max_ms": 1000, "period_increase_factor": 1.5}
# Of two nodes that hear of each other the one with the greater identity connects. When both do they
# get in each other's way: each of 60 nodes idled at 0.44 % of a core with 45 threads, and not at
# 0.18 % with 26.
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
    """Of a node's own session."""
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
    """Random; greater for nodes that only their own machine can reach, so that they connect.

    Zenoh compares byte by byte from the end of what is written here. Zeros are not written at its
    beginning.
    """
    last = secrets.choice("89abcdef" if all(one.local for one in listen) else "01234567")
    return "1" + secrets.token_hex(15)[1:] + last + secrets.choice("0123456789abcdef")


def introducer(endpoints: Sequence[str], security: Security | None, lease: float) -> zenoh.Config:
    """Of a session that only makes nodes known to each other, and connects to no others."""
    return _config(
        {
            **_common(security, lease),
            "listen/endpoints": [],
            "connect/endpoints": list(endpoints),
            "scouting/multicast/enabled": False,
            "scouting/gossip/autoconnect": {"peer": []},
            # It closes when this is over, and would wait for a process that is stopped.
            "transport/unicast/open_timeout": INTRODUCTION,
        }
    )


def _common(security: Security | None, lease: float) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "mode": "peer",
        "connect/timeout_ms": 500,  # for which opening waits; it is tried on after that
        "connect/exit_on_failure": False,  # the nodes listed may start later
        "connect/retry": RETRY,
        "scouting/gossip/enabled": True,
        "transport/link/tx/lease": round(lease * 1e3),  # ms
        "transport/link/tx/keep_alive": WORDS,
        # A peer that takes nothing is cut off when its lease is over, or we would wait for it.
        "transport/link/tx/queue/congestion_control/block/wait_before_close": round(
            lease * 1e6
        ),  # µs
        "transport/unicast/open_timeout": PATIENCE,
        "transport/unicast/accept_timeout": PATIENCE,
        "transport/shared_memory/enabled": False,  # for one machine only; kill -9 leaves it behind
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
            "verify_name_on_connect": False,  # see `Security`
            "close_link_on_expiration": True,
        }
    return settings


def _access(security: Security | None, keys: str) -> dict[str, Any]:
    """Only members that are named, when any are."""
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
