"""The fastest of many rounds: times of several functions, interleaved in one run."""

import math
import random
import time

__all__ = ["fastest"]


def fastest(functions, rounds, clock=time.perf_counter):
    """Return the shortest time in seconds of each function of a dict, over interleaved rounds after one warm-up."""
    seconds, names = dict.fromkeys(functions, math.inf), list(functions)
    for round_number in range(1 + rounds):
        random.Random(round_number).shuffle(names)  # the order affects the cost of fresh memory
        for name in names:
            start = clock()
            functions[name]()
            if round_number > 0:
                seconds[name] = min(seconds[name], clock() - start)
    return seconds
