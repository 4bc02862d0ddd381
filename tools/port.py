"""See that a server can have its port, before anything is built for it: `python3 tools/port.py PORT`.

Every Python since 2.7 can read this file, for set_up.py, which asks for a newer one, comes later.
"""

import os
import re
import socket
import sys


def free_port(text):
    """Return the number of a port that nobody has, or end with a sentence. 0 is any free one."""
    number = int(text) if re.match("[0-9]{1,5}$", text) else 65536
    if number > 65535:
        sys.exit("make: PORT is %r, but must be a whole number up to 65535, such as PORT=8001." % text)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # as servers do: one that has just ended is no hindrance
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("localhost", number))
    except EnvironmentError as error:  # as the oldest of them call it
        sys.exit("make: port %s cannot be had (%s); name another, such as PORT=8001." % (text, error.strerror))
    finally:
        listener.close()
    return number


if __name__ == "__main__":
    free_port(sys.argv[1])
