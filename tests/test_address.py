"""The state of figures in the page's address: it is read as data, whatever it holds, and reads back as it was written."""

import json
import random

from node import evaluate

from explorable import script

ADDRESS = f"""
import {{ readAddress, writeAddress }} from {json.dumps((script.FOLDER / "js" / "address.js").as_uri())};
globalThis.location = {{ pathname: "/page.html", search: "?q=1" }};
globalThis.history = {{ replaceState: (state, title, address) => (location.href = address) }};
const asMap = (pairs) => new Map(pairs.map(([figure, state]) => [figure, new Map(state)]));
const asPairs = (read) => [...read.states].map(([figure, state]) => [figure, [...state]]);
const isMap = (map, isValue) => map instanceof Map && [...map].every(([key, value]) => isText(key) && isValue(value));
const isText = (value) => typeof value === "string";
const isRead = (read) => isText(read.section) && isMap(read.states, (state) => isMap(state, isText));
"""
HOSTILE = [
    "",
    "#",
    "#a heading",
    "#%",
    "#%E0%A4%A:n=%zz",
    "#f:n=%FF;%=1;k=3",
    "#<script>alert(1)</script>:n=<img src=x onerror=alert(1)>",
    "#__proto__:polluted=1",
    "#constructor:prototype=1&toString:valueOf=1",
    "#f:__proto__=1;constructor=2;hasOwnProperty=3",
    "#" + "&" * 5000,
    "#f:" + ";" * 5000,
    "#f:" + "=" * 5000,
    "#" + ":" * 5000,
    "#f:n=" + "9" * 200_000,
    "##f:n=1#g:n=2",
    "#f:n=1\x00\n\u2028\ufeff𝄞",
]


def test_no_address_breaks_the_reading_of_it():
    rng = random.Random(0)
    pieces = ["#", "&", ":", ";", "=", "%", "%2", "%C3", "%41", "n", "__proto__", "<", '"', "中", "\x00", " "]
    hashes = HOSTILE + ["#" + "".join(rng.choices(pieces, k=rng.randrange(40))) for _ in range(500)]
    program = f"{ADDRESS} const bad = {json.dumps(hashes)}.filter((hash) => !isRead(readAddress(hash)));"
    assert evaluate(program, '[bad, "polluted" in {}]') == [[], False]


def test_an_address_names_figures_controls_and_values():
    read = evaluate(ADDRESS, 'asPairs(readAddress("#gradient-decay:cell=LSTM%2C%20b%3D1;gain=1.5&field:k=5"))')
    assert read == [["gradient-decay", [["cell", "LSTM, b=1"], ["gain", "1.5"]]], ["field", [["k", "5"]]]]


def test_an_address_reads_back_as_it_was_written():
    awkward = ["n", "LSTM, b=1", "1.5", "a:b;c=d&e#f%41", "__proto__", '中文 ’"<>', "%", "+", " "]
    states = [[figure, [[name, value] for name, value in zip(awkward, reversed(awkward))]] for figure in awkward]
    for section in ["", "a heading", "50 %"]:
        named = f"{{ section: {json.dumps(section)}, states: asMap({json.dumps(states)}) }}"
        program = f'{ADDRESS} writeAddress({named}); const read = readAddress(new URL(location.href, "http://localhost").hash);'
        assert evaluate(program, "[read.section, asPairs(read)]") == [section, states]


def test_figures_in_their_start_state_leave_the_address_clean():
    program = f"{ADDRESS} writeAddress({{ section: '', states: new Map() }});"
    assert evaluate(program, "location.href") == "/page.html?q=1"
