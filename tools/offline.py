"""Pack the site that was built last into book-offline.zip, which opens without a server: `python tools/offline.py`"""

import shutil

from environment import ROOT, refuse


def main() -> None:
    site = ROOT / "_site"
    if not (site / "index.html").exists():
        refuse("there is no _site to pack; `make offline` builds it first.")
    folder = ROOT / "_build" / "offline"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(site, folder / "why-attention", ignore=shutil.ignore_patterns(".*"))
    shutil.make_archive(str(ROOT / "book-offline"), "zip", folder)
    print("── the book is in book-offline.zip: unpack it and open why-attention/index.html", flush=True)


if __name__ == "__main__":
    main()
