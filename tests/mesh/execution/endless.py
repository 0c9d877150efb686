"""A module whose import takes for ever."""

import time

time.sleep(1_000_000)
