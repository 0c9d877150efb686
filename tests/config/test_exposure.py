"""Warnings about addresses that other machines can reach."""

from __future__ import annotations

from steelyard.config.exposure import exposure_warnings
from steelyard.config.load import load_settings


def test_loopback_needs_no_warning() -> None:
    """The defaults are reachable from this machine only."""
    assert exposure_warnings(load_settings(None, {}, {})) == []


def test_each_wider_address_is_told() -> None:
    """There is a warning for each address of agent, gateway and metrics beyond loopback."""
    flags = {"agent.listen": "*:8081", "gateway.listen": "[::]:8080", "gateway.metrics": "*:9101"}
    agent, gateway, metrics = exposure_warnings(load_settings(None, {}, flags))
    assert "agent.listen = 0.0.0.0:8081" in agent
    assert "token" in agent
    assert "encrypts" in agent
    assert "gateway.listen = [::]:8080" in gateway
    assert "served to the network" in gateway
    assert "gateway.metrics = 0.0.0.0:9101" in metrics


def test_a_gateway_that_speaks_tls_needs_no_warning() -> None:
    """A gateway with TLS is encrypted, so there is no warning."""
    flags = {"gateway.listen": "*:8443", "gateway.tls_cert": "a.pem"}
    assert exposure_warnings(load_settings(None, {}, flags)) == []
