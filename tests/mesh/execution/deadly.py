"""A module whose import ends the process, except in the test that only inspects it."""

import os

os._exit(7)
