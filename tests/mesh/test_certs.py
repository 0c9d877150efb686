from __future__ import annotations

import errno
import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from typer.testing import CliRunner

from steelyard.cli.main import build_app
from steelyard.errors import Fault, UsageError
from steelyard.mesh.certs import UnwrittenError, make_members
from tests.strict import complaints


def test_each_node_has_a_folder_that_its_authority_vouches_for(tmp_path: Path) -> None:
    """Certificates are signed for the node's name, as server and client, and keys are private."""
    alpha, beta = make_members(tmp_path / "certs", ["alpha", "beta"], 30, renew=False)
    authority = x509.load_pem_x509_certificate((tmp_path / "certs" / "ca.pem").read_bytes())
    for member in (alpha, beta):
        certificate = x509.load_pem_x509_certificate((member.folder / "node.pem").read_bytes())
        certificate.verify_directly_issued_by(authority)
        assert certificate.subject.rfc4514_string() == f"CN={member.name}"
        assert certificate.not_valid_after_utc == member.expires
        assert (member.folder / "ca.pem").read_bytes() == (
            tmp_path / "certs" / "ca.pem"
        ).read_bytes()
        assert stat.S_IMODE((member.folder / "node.key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "certs" / "ca.key").stat().st_mode) == 0o600
    assert not (alpha.folder / "ca.key").exists()


@pytest.mark.needs("openssl")
def test_a_strict_check_finds_nothing_wrong(tmp_path: Path) -> None:
    """Neither the authority's certificate nor a member's lacks what a strict client demands."""
    (member,) = make_members(tmp_path, ["alpha"], 30, renew=False)
    for file in (tmp_path / "ca.pem", member.folder / "node.pem"):
        assert complaints(tmp_path / "ca.pem", file) == ""


def test_later_nodes_are_of_the_same_authority(tmp_path: Path) -> None:
    """The authority is made once, and existing certificates are replaced only with `renew`."""
    make_members(tmp_path, ["alpha"], 30, renew=False)
    before = (tmp_path / "ca.pem").read_bytes(), (tmp_path / "alpha" / "node.pem").read_bytes()
    make_members(tmp_path, ["beta"], 30, renew=False)
    with pytest.raises(UsageError, match="is there already"):
        make_members(tmp_path, ["gamma", "alpha"], 30, renew=False)
    assert not (tmp_path / "gamma").exists()
    assert before == (
        (tmp_path / "ca.pem").read_bytes(),
        (tmp_path / "alpha" / "node.pem").read_bytes(),
    )
    make_members(tmp_path, ["alpha"], 30, renew=True)
    assert (tmp_path / "alpha" / "node.pem").read_bytes() != before[1]
    assert (tmp_path / "ca.pem").read_bytes() == before[0]


def test_two_authorities_have_two_names(tmp_path: Path) -> None:
    """Two authorities have different names, or a stranger's certificate would look forged."""
    for folder in ("one", "two"):
        make_members(tmp_path / folder, ["node"], 30, renew=False)
    names = {
        x509.load_pem_x509_certificate((tmp_path / folder / "ca.pem").read_bytes()).subject
        for folder in ("one", "two")
    }
    assert len(names) == 2


@pytest.mark.parametrize("name", ["", "../up", "a/b", "-x", "a" * 70, "ü"])
def test_a_name_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    """A name that cannot be a folder is refused before anything is written."""
    with pytest.raises(UsageError, match="cannot name a node"):
        make_members(tmp_path / "certs", [name], 30, renew=False)
    assert not (tmp_path / "certs").exists()


def test_half_an_authority_is_refused(tmp_path: Path) -> None:
    """If one of the authority's files is missing, the error names it, and nothing is
    overwritten.
    """
    make_members(tmp_path, ["alpha"], 30, renew=False)
    (tmp_path / "ca.key").unlink()
    with pytest.raises(UsageError, match=r"ca\.key is missing"):
        make_members(tmp_path, ["beta"], 30, renew=False)


def test_an_authority_that_is_none_is_refused(tmp_path: Path) -> None:
    """Files that are no certificates give an error that says so."""
    (tmp_path / "ca.pem").write_text("no certificate")
    (tmp_path / "ca.key").write_text("no key")
    with pytest.raises(UsageError, match="no authority that can be read"):
        make_members(tmp_path, ["beta"], 30, renew=False)


@pytest.mark.parametrize("renew", [False, True])
@pytest.mark.parametrize("name", ["ca.pem", "ca.key"])
def test_files_of_the_authority_name_no_node(tmp_path: Path, name: str, renew: bool) -> None:
    """A node cannot have the name of a file of the authority, whether that exists or not."""
    make_members(tmp_path / "old", ["alpha"], 30, renew=False)
    for folder in (tmp_path / "old", tmp_path / "new"):
        with pytest.raises(UsageError, match=f"“{name}” cannot name a node"):
            make_members(folder, [name], 30, renew=renew)
    assert not (tmp_path / "new").exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A file cannot be the folder of the mesh or of a node, nor contain one."""
    (tmp_path / "file").touch()
    for folder, name in ((tmp_path / "file", "alpha"), (tmp_path, "file")):
        with pytest.raises(UsageError, match="file is not a folder"):
            make_members(folder, [name], 30, renew=True)
    with pytest.raises(UsageError, match="Not a directory"):
        make_members(tmp_path / "file" / "certs", ["alpha"], 30, renew=False)


def test_a_folder_that_cannot_be_made_is_told() -> None:
    """A folder that cannot be made gives an error that names it."""
    with pytest.raises(UsageError, match="/proc/x: No such file or directory"):
        make_members(Path("/proc/x"), ["alpha"], 30, renew=False)


def test_a_full_disk_is_not_the_users_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is reported as plainly, but as the machine's fault."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UnwrittenError, match="No space left on device") as caught:
        make_members(tmp_path, ["alpha"], 30, renew=False)
    assert caught.value.fault is Fault.MACHINE


def test_no_certificate_outlives_every_authority(tmp_path: Path) -> None:
    """A validity longer than the authority's is refused, even one that no calendar can hold."""
    make_members(tmp_path, ["alpha"], 3650, renew=False)
    for days in (3651, 99_999_999):
        with pytest.raises(UsageError, match=f"not valid for {days} days"):
            make_members(tmp_path, ["beta"], days, renew=False)


def test_certificates_are_good_where_clocks_are_slow(tmp_path: Path) -> None:
    """Certificates are valid from an hour ago on, including the authority's."""
    (member,) = make_members(tmp_path, ["alpha"], 30, renew=False)
    for file in (tmp_path / "ca.pem", member.folder / "node.pem"):
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        made = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        assert certificate.not_valid_before_utc <= made - timedelta(minutes=59)


def test_a_member_makes_no_members(tmp_path: Path) -> None:
    """A member's certificate cannot sign others, and is valid for as many days as asked for."""
    words = ["mesh", "certs", str(tmp_path), "alpha", "--days", "30", "--json"]
    (told,) = json.loads(CliRunner().invoke(build_app(), words).stdout)
    certificate = x509.load_pem_x509_certificate((tmp_path / "alpha/node.pem").read_bytes())
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert certificate.not_valid_after_utc == datetime.fromisoformat(told["expires"])
    good = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    assert timedelta(days=30) <= good < timedelta(days=31)


def test_the_command(tmp_path: Path) -> None:
    """It prints what it made, and keys that fit their certificates."""
    words = ["mesh", "certs", str(tmp_path / "certs"), "alpha"]
    (told,) = json.loads(CliRunner().invoke(build_app(), [*words, "--json"]).stdout)
    assert told["name"] == "alpha"
    certificate = x509.load_pem_x509_certificate((Path(told["folder"]) / "node.pem").read_bytes())
    assert isinstance(certificate.public_key(), ec.EllipticCurvePublicKey)
    again = CliRunner().invoke(build_app(), words)
    assert isinstance(again.exception, UsageError)
    assert "--renew" in again.exception.hint
    assert "alpha" in CliRunner().invoke(build_app(), [*words, "--renew"]).stdout
