"""The public address of the page whose figures are made, which a notebook's links to a figure's state lead to."""

import re

__all__ = ["set_address"]

_address = ""


def set_address(address: str) -> None:
    """Name the published page of the figures made from here on; "" where there is none.

    Raises ValueError for an address to which no state can be added.
    """
    global _address
    if not isinstance(address, str) or not re.fullmatch(r"(https?://[^\s#]+)?", address):
        raise ValueError(f"address {address!r}: it must begin with http:// or https://, without a blank and #")
    _address = address


def page_address() -> str:
    return _address
