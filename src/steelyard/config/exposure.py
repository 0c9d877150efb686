"""Warnings about addresses that other machines can reach."""

from __future__ import annotations

from steelyard.config.settings import Settings


def exposure_warnings(settings: Settings) -> list[str]:
    """One sentence for each listen address beyond loopback."""
    agent, gateway = settings.agent.listen, settings.gateway.listen
    warnings = []
    if not agent.loopback:
        warnings.append(
            f"agent.listen = {agent}: the agent's API is open to the network; "
            "a token guards it, but nothing encrypts it"
        )
    if not gateway.loopback and not settings.gateway.tls_cert:
        warnings.append(
            f"gateway.listen = {gateway}: the application is served to the network, unencrypted"
        )
    metrics = settings.gateway.metrics
    if metrics is not None and not metrics.loopback:
        warnings.append(
            f"gateway.metrics = {metrics}: names and load of the workers are open to the network, "
            "without a token"
        )
    return warnings
