"""The public address of the site, where it has one: BOOK_ADDRESS says so, else GitHub Pages makes one of the repository's name."""

import os
import re

from editions import Edition
from environment import refuse
from repository import repository

# a folder's: addresses of pages, pictures and scripts are put behind it
ADDRESS = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/[^\s?#/]+)*/?")


def address() -> str:
    """Return the address of the site's root, which ends in a slash, or nothing where nobody says where the site is."""
    named = os.environ.get("BOOK_ADDRESS", "").strip()
    if named and (not ADDRESS.fullmatch(named) or named.endswith(".html")):
        refuse(
            f"BOOK_ADDRESS is {named!r}, but must be the address of the site's folder, such as https://example.org/book/."
        )
    if named:
        return f"{named.rstrip('/')}/"
    owner, _, name = repository().partition("/")
    root = f"{owner.lower()}.github.io"
    return f"https://{root}/{'' if name.lower() == root else f'{name}/'}" if owner else ""


def edition_address(edition: Edition) -> str:
    """Return the address of an edition's own folder, or nothing."""
    here = address()
    return f"{here}{edition.folder}/" if here and edition.folder else here
