"""Units of work over nodes that pull them, with no broker and no head node.

function   the functions that are run as units, and the rules of these units
client     has units and gives them to nodes; job, answer, future, executor and aio are its API
node       pulls units and runs them
journal    the results that a job has so far, in a file
protocol   pure: a client's desk and a node's crew; the messages between them
execution  runs units in child processes; a crash, a hang or an excess hurts only its unit
transport  how nodes find, ask and answer each other: zenoh, and one in memory for tests
"""

from steelyard.mesh.aio import AsyncClient
from steelyard.mesh.answer import (
    Answer,
    UnitCancelledError,
    UnitExpiredError,
    UnitFailedError,
    UnitQuarantinedError,
    UnitRaisedError,
    UnitRefusedError,
)
from steelyard.mesh.client import Client
from steelyard.mesh.executor import MeshExecutor
from steelyard.mesh.function import unit
from steelyard.mesh.job import Job, JobTimeoutError, Progress
from steelyard.mesh.join import Place
from steelyard.mesh.transport.security import Security

__all__ = [
    "Answer",
    "AsyncClient",
    "Client",
    "Job",
    "JobTimeoutError",
    "MeshExecutor",
    "Place",
    "Progress",
    "Security",
    "UnitCancelledError",
    "UnitExpiredError",
    "UnitFailedError",
    "UnitQuarantinedError",
    "UnitRaisedError",
    "UnitRefusedError",
    "unit",
]
