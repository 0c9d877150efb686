"""The report of a run: every sample, and the contenders that could not be measured."""

from __future__ import annotations

from pydantic import BaseModel, computed_field

from steelyard.bench.noise import DISTURBED


class Sample(BaseModel):
    """The figures of one contender in one case in one round."""

    contender: str
    case: str
    round: int
    requests: int
    seconds: float
    cpu_user: float  # seconds, of all processes of the proxy
    cpu_system: float
    p50_us: float
    p99_us: float
    errors: int
    memory: int  # bytes of the proxy after the round
    idle_bytes: float | None = None  # per idle connection
    reconnects: int | None = None  # connections to the backend, beyond one for each client
    foreign: float  # share of the cores' time that other programs took

    @computed_field
    def disturbed(self) -> bool:
        """Whether other programs took so much time that the figures are doubtful."""
        return self.foreign > DISTURBED

    @property
    def cpu_us(self) -> float | None:
        """Microseconds of CPU per request."""
        spent = self.cpu_user + self.cpu_system
        return spent / self.requests * 1e6 if self.requests else None

    @property
    def user_us(self) -> float | None:
        return self.cpu_user / self.requests * 1e6 if self.requests else None

    @property
    def system_us(self) -> float | None:
        return self.cpu_system / self.requests * 1e6 if self.requests else None


class Absence(BaseModel):
    """A contender that was not measured; without a case, it was not measured in any."""

    contender: str
    case: str | None = None
    reason: str


class Setting(BaseModel):
    """The conditions of the run."""

    date: str
    machine: str
    command: str
    rounds: int
    seconds: int
    connections: int
    load: tuple[float, float]  # the load average before and after
    versions: dict[str, str]


class Report(BaseModel):
    """The report of one run."""

    setting: Setting
    notes: list[str]
    absences: list[Absence]
    samples: list[Sample]
