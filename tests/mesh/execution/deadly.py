"""A module whose import ends the process, but in the test that only looks at it."""

import os

os._exit(7)
