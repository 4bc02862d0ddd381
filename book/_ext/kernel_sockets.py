"""Kernels that a build starts are reached through sockets in a folder of its own, not through ports of this machine.

A port is sought, let go and taken again, and between the two another build beside it may take it: "Address already in use".
"""

import os
from tempfile import TemporaryDirectory

from nbclient import NotebookClient
from sphinx.application import Sphinx

FOLDER = TemporaryDirectory(prefix="kernels-")  # removed when the build ends
create_kernel_manager = NotebookClient.create_kernel_manager


def create_with_sockets(client: NotebookClient):
    manager = create_kernel_manager(client)
    manager.transport = "ipc"
    manager.ip = os.path.join(
        FOLDER.name, str(os.getpid())
    )  # each socket adds a number; the page's own folder is no place
    return manager


def setup(app: Sphinx) -> dict:
    if os.name != "nt":  # where ZeroMQ has ports only
        NotebookClient.create_kernel_manager = create_with_sockets
    return {"parallel_read_safe": True}
