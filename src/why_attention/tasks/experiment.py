"""An experiment: runs that each train a model, whose results are stored once and drawn by the pages.

The results of the experiment "recall" are ``results/recall.json``, which holds where they come from and, for each run,
its settings and what was measured, and ``results/recall/``, which holds a safetensors file for each checkpoint kept.

Training takes minutes, so each run is stored as soon as it is done, in a folder beside these, and an experiment that was
interrupted goes on where it stopped. Only when all runs are done do they replace the results before. A file that is
unfinished or damaged is refused, for a figure drawn from it would be wrong.
"""

import hashlib
import inspect
import json
import os
import platform
import shutil
import time
from collections.abc import Callable
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

__all__ = ["Experiment", "Trained", "Result", "RESULTS"]

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True)
class Trained:
    """What one run gives: the numbers measured, fit for JSON, and the weights where a checkpoint is to be kept."""

    measured: dict[str, Any]
    weights: dict[str, Tensor] | None = None


@dataclass(frozen=True)
class Result:
    """What is stored of one run, and the digest of its checkpoint, None where none was kept."""

    settings: dict[str, Any]
    measured: dict[str, Any]
    checkpoint: str | None


class Experiment:
    """Runs of one function.

    name: of its file of results.  runs: the settings of every run, fit for JSON.  train: a function of such settings,
    which gives the same for the same settings on the same machine.  folder: where results are stored.  command: what
    performs it.  search: the search for the learning rates that train reads, if it reads any.
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
        """Train every run, one a core, and store the results; go on where an interrupted training stopped."""
        unfinished = self.folder / f"{self.name}-unfinished"
        if (started := self.started(unfinished)) is None:
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(parents=True)
            started = {"provenance": self.provenance(), "seconds": 0, "runs": []}
        done = [run["settings"] for run in started["runs"]]
        left = [settings for settings in self.runs if settings not in done]
        on_cuda = pick_device().type == "cuda"
        jobs = Parallel(n_jobs=1 if on_cuda else -1, return_as="generator_unordered")
        tasks = (delayed(one)(self.train, settings) for settings in left)
        start, before = time.monotonic(), started["seconds"]
        # disable=None: a bar on a terminal, silence elsewhere
        for settings, trained in tqdm(jobs(tasks), self.name, len(self.runs), initial=len(done), disable=None):
            checkpoint = trained.weights and save({name: w.contiguous().cpu() for name, w in trained.weights.items()})
            if checkpoint:
                write(unfinished / file_name(settings), checkpoint)
            started["runs"].append(
                {
                    "settings": settings,
                    "measured": trained.measured,
                    "checkpoint": digest(checkpoint) if checkpoint else None,
                }
            )
            started["seconds"] = round(before + time.monotonic() - start)
            write(unfinished / "results.json", sealed(started))
        get_reusable_executor().shutdown(wait=True)
        started["runs"].sort(key=lambda run: self.runs.index(run["settings"]))
        write(unfinished / "results.json", sealed(started))
        self.replace_by(unfinished)

    def results(self) -> list[Result]:
        """Return what is stored of every run, in the order of the runs.

        Raises ValueError where the file is missing, damaged, or lacks a run.
        """
        stored = self.stored()["runs"]
        done = [run["settings"] for run in stored]
        if missing := [settings for settings in self.runs if settings not in done]:
            raise ValueError(
                f"{self.path.name} holds {len(stored)} runs and lacks {len(missing)}, such as {missing[0]}: train them with `{self.command}`"
            )
        return [Result(**run) for run in stored if run["settings"] in self.runs]

    def provenance_stored(self) -> dict[str, Any]:
        """Return when, where, with what and by which command the stored runs were trained, and in how many seconds."""
        stored = self.stored()
        return {**stored["provenance"], "seconds": stored["seconds"]}

    def weights(self, **settings) -> dict[str, Tensor]:
        """Return the checkpoint of one run.

        Raises ValueError where none was kept, and where its file is missing or not the one that was measured.
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

    def stored(self) -> dict[str, Any]:
        """Return what the file holds, or raise a ValueError where it is missing or damaged."""
        if not self.path.exists():
            raise ValueError(
                f"there is no {self.path.name}: the experiment was not performed; train with `{self.command}`"
            )
        return unsealed(self.path, self.command)

    def started(self, unfinished: Path) -> dict[str, Any] | None:
        """Return what an interrupted training has done with the same code of the task, versions and rates, or None."""
        try:
            started = unsealed(unfinished / "results.json", self.command)
        except (OSError, ValueError):
            return None
        same = {**started["provenance"], "date": None} == {**self.provenance(), "date": None}
        return started if same else None

    def provenance(self) -> dict[str, Any]:
        """Return when, where and with what the runs are trained.

        code is the digest of the task's file as it was then, and rates that of the results of the search for them.
        Raises ValueError where these are missing or damaged.
        """
        code = Path(inspect.getsourcefile(self.train)).read_bytes()
        return {
            "command": self.command,
            "date": date.today().isoformat(),
            "device": machine().device,
            "python": platform.python_version(),
            "torch": version("torch"),
            "numpy": version("numpy"),
            "code": digest(code),
            "rates": seal(self.search.stored()) if self.search else None,
        }

    def replace_by(self, unfinished: Path) -> None:
        """Put finished results in the place of those before."""
        checkpoints = self.folder / self.name
        shutil.rmtree(checkpoints, ignore_errors=True)
        finished = unfinished / "results.json"
        finished.replace(self.path)
        unfinished.replace(checkpoints)


def one(train: Callable[..., Trained], settings: dict[str, Any]) -> tuple[dict[str, Any], Trained]:
    """Train one run on one thread, for beside it another run has the other core."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # numbers below 1e-38 move no weight, and halve the speed
    return settings, train(**settings)


def file_name(settings: dict[str, Any]) -> str:
    """Return the name of a run's checkpoint, such as model-LSTM_T-64_seed-0.safetensors."""
    return "_".join(f"{name}-{value}".replace(" ", "-") for name, value in settings.items()) + ".safetensors"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def sealed(content: dict[str, Any]) -> bytes:
    """Return results as JSON, one run a line, with a digest of them. Raises ValueError for NaN and infinite numbers."""
    runs = ",\n  ".join(json.dumps(run, allow_nan=False) for run in content["runs"])
    head = {name: value for name, value in content.items() if name != "runs"}
    lines = json.dumps({"sha256": seal(content), **head}, allow_nan=False)[:-1]
    return f'{lines},\n "runs": [\n  {runs}\n ]}}\n'.encode()


def unsealed(path: Path, command: str) -> dict[str, Any]:
    """Return results from their file, or raise a ValueError where they are not what was written."""
    again = f"restore it, or train again with `{command}`"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        expected = content.pop("sha256")
    except (ValueError, KeyError, AttributeError) as error:
        raise ValueError(f"{path.name} is cut short or damaged ({error}): {again}") from error
    if (found := seal(content)) != expected:
        raise ValueError(f"{path.name} was changed after it was written (digest {found}, not {expected}): {again}")
    return content


def seal(content: dict[str, Any]) -> str:
    return digest(json.dumps(content, sort_keys=True, allow_nan=False).encode())


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_bytes(data)
    unfinished.replace(path)
