"""An experiment: runs that each train a model; the results are stored once, and the pages draw them.

The experiment "recall" has ``results/recall.json`` (the provenance, and of each run its settings and measurements) and
``results/recall/`` (a safetensors file for each checkpoint kept).

Training takes minutes: each run is stored when it is done, in a folder beside these, and an interrupted experiment
continues from there. The old results are replaced when all runs are done. A file that is unfinished or damaged is
refused, so that no figure is drawn from it.
"""

import hashlib
import inspect
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from safetensors.torch import load, save
from torch import Tensor
from tqdm import tqdm

from why_attention.device import pick_device
from why_attention.timing import machine

__all__ = ["Experiment", "Trained", "Result"]

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True)
class Trained:
    """The outcome of a run: measurements for JSON, and the weights where a checkpoint is to be kept."""

    measured: dict[str, Any]
    weights: dict[str, Tensor] | None = None


@dataclass(frozen=True)
class Result:
    """A stored run; checkpoint: the digest of its file, or None."""

    settings: dict[str, Any]
    measured: dict[str, Any]
    checkpoint: str | None


class Experiment:
    """Runs of one function.

    name: of the file of results.  runs: the settings of every run, for JSON.  train: a deterministic function of these
    settings.  folder: where results are stored.  command: what performs the experiment.  search: the rate search whose
    results ``train`` reads, if any.
    """

    def __init__(
        self,
        name: str,
        runs: list[dict[str, Any]],
        train: Callable[..., Trained],
        folder: Path = RESULTS,
        command: str = "python -m why_attention.tasks",
        search: "Experiment | None" = None,
    ):
        self.name, self.runs, self.train, self.folder, self.command = name, runs, train, Path(folder), command
        self.search = search

    def perform(self) -> None:
        """Train every run and store the results; continue an interrupted training."""
        folder = self.folder / f"{self.name}-unfinished"
        content = self.resume(folder)
        if content is None:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            content = {"provenance": self.provenance(), "seconds": 0, "runs": []}
        start, before = time.monotonic(), content["seconds"]
        for settings, trained in self.train_missing(content["runs"]):
            content["runs"].append(store_run(folder, settings, trained))
            content["seconds"] = round(before + time.monotonic() - start)
            write(folder / "results.json", to_json(content))
        content["runs"].sort(key=lambda run: self.runs.index(run["settings"]))
        write(folder / "results.json", to_json(content))
        self.replace_by(folder)

    def train_missing(self, runs: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Trained]]:
        """Yield the settings and the outcome of each run that is not among ``runs``, one a core, with a progress bar."""
        done = [run["settings"] for run in runs]
        jobs = [delayed(train_one)(self.train, settings) for settings in self.runs if settings not in done]
        parallel = Parallel(n_jobs=1 if pick_device().type == "cuda" else -1, return_as="generator_unordered")
        # disable=None: a bar on a terminal, silence elsewhere
        yield from tqdm(parallel(jobs), self.name, len(self.runs), initial=len(done), disable=None)
        get_reusable_executor().shutdown(wait=True)

    def results(self) -> list[Result]:
        """Return the stored runs, in order.

        Raises ValueError where the file is missing, damaged, or lacks a run.
        """
        stored = self.read()["runs"]
        done = [run["settings"] for run in stored]
        if missing := [settings for settings in self.runs if settings not in done]:
            raise ValueError(
                f"{self.path.name} holds {len(stored)} runs and lacks {len(missing)}, such as {missing[0]}: train them with `{self.command}`"
            )
        return [Result(**run) for run in stored if run["settings"] in self.runs]

    def stored_provenance(self) -> dict[str, Any]:
        """Return when, where, with what and by which command the stored runs were trained, and in how many seconds."""
        content = self.read()
        return {**content["provenance"], "seconds": content["seconds"]}

    def weights(self, **settings) -> dict[str, Tensor]:
        """Return the checkpoint of one run.

        Raises ValueError where none was kept, and where its file is missing or changed.
        """
        kept = [result for result in self.results() if result.settings == settings and result.checkpoint]
        if not kept:
            raise ValueError(f"{self.path.name} keeps no checkpoint of {settings}")
        path = self.folder / self.name / file_name(settings)
        data = path.read_bytes() if path.exists() else b""
        if digest(data) != kept[0].checkpoint:
            state = f"has {len(data)} bytes that are not those measured" if data else "is missing"
            raise ValueError(f"the checkpoint {path.name} of {self.name} {state}: train it again with `{self.command}`")
        return load(data)

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.json"

    def read(self) -> dict[str, Any]:
        """Return the content of the file.  Raises ValueError where it is missing or damaged."""
        if not self.path.exists():
            raise ValueError(
                f"there is no {self.path.name}: the experiment was not performed; train with `{self.command}`"
            )
        return from_json(self.path, self.command)

    def resume(self, folder: Path) -> dict[str, Any] | None:
        """Return the results of an interrupted training with the same code, versions and rates, or None."""
        try:
            content = from_json(folder / "results.json", self.command)
        except (OSError, ValueError):
            return None
        same = {**content["provenance"], "date": None} == {**self.provenance(), "date": None}
        return content if same else None

    def provenance(self) -> dict[str, Any]:
        """Return when, where and with what the runs are trained.

        code: the digest of the task's file at that time.  rates: the digest of the results of the rate search.
        Raises ValueError where these results are missing or damaged.
        """
        code = Path(inspect.getfile(self.train)).read_bytes()
        return {
            "command": self.command,
            "date": date.today().isoformat(),
            "device": machine().device,
            "python": platform.python_version(),
            "torch": version("torch"),
            "numpy": version("numpy"),
            "code": digest(code),
            "rates": content_digest(self.search.read()) if self.search else None,
        }

    def replace_by(self, folder: Path) -> None:
        """Replace the stored results by the finished ones in a folder."""
        checkpoints = self.folder / self.name
        shutil.rmtree(checkpoints, ignore_errors=True)
        (folder / "results.json").replace(self.path)
        folder.replace(checkpoints)


def train_one(train: Callable[..., Trained], settings: dict[str, Any]) -> tuple[dict[str, Any], Trained]:
    """Train one run on one thread: the other cores train other runs."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # numbers below 1e-38 move no weight, and halve the speed
    return settings, train(**settings)


def store_run(folder: Path, settings: dict[str, Any], trained: Trained) -> dict[str, Any]:
    """Write the checkpoint of a run where it has one, and return the run's entry in the results."""
    checkpoint = None
    if trained.weights:
        data = save({name: weight.contiguous().cpu() for name, weight in trained.weights.items()})
        write(folder / file_name(settings), data)
        checkpoint = digest(data)
    return {"settings": settings, "measured": trained.measured, "checkpoint": checkpoint}


def file_name(settings: dict[str, Any]) -> str:
    """Return the name of a run's checkpoint, such as model-LSTM_T-64_seed-0.safetensors."""
    return "_".join(f"{name}-{value}".replace(" ", "-") for name, value in settings.items()) + ".safetensors"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def to_json(content: dict[str, Any]) -> bytes:
    """Return results as JSON, one run a line, with their digest. Raises ValueError for NaN and infinite numbers."""
    runs = ",\n  ".join(json.dumps(run, allow_nan=False) for run in content["runs"])
    head = {name: value for name, value in content.items() if name != "runs"}
    lines = json.dumps({"sha256": content_digest(content), **head}, allow_nan=False)[:-1]
    return f'{lines},\n "runs": [\n  {runs}\n ]}}\n'.encode()


def from_json(path: Path, command: str) -> dict[str, Any]:
    """Return results from their file.  Raises ValueError where their digest is another."""
    again = f"restore it, or train again with `{command}`"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        expected = content.pop("sha256")
    except (ValueError, KeyError, AttributeError) as error:
        raise ValueError(f"{path.name} is cut short or damaged ({error}): {again}") from error
    if (found := content_digest(content)) != expected:
        raise ValueError(f"{path.name} was changed after it was written (digest {found}, not {expected}): {again}")
    return content


def content_digest(content: dict[str, Any]) -> str:
    return digest(json.dumps(content, sort_keys=True, allow_nan=False).encode())


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_bytes(data)
    unfinished.replace(path)
