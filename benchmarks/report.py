"""A report of 10,000 features: its size, and how long a browser takes to open it.

    python -m benchmarks.report [--features 10000]
    python -m benchmarks.report --picture docs/images/report.png

The first prints megabytes, seconds to make the page, and the best of five openings in a
Chromium without a window (all of the page built, its scripts run), beside those of a page
with the same table written out in full. The second makes bookings of a hotel, selects from
them on the command line and takes a picture of the report, for the README.

Both need playwright and a Chromium: $CHROMIUM, or one that is installed.
"""

import argparse
import html
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from shortlist import Shortlist

BOOKINGS = {
    "lead_days": 1.1,
    "deposit": -1.6,
    "cancelled_before": 0.9,
    "special_requests": -0.8,
    "returning_guest": -0.6,
    "price_a_night": 0.5,
    "parking": -0.45,
    "waiting_days": 0.3,
    "nights": 0.0,
    "adults": 0.0,
    "children": 0.0,
    "weekend_nights": 0.0,
}


def many(n):
    """Shortlist of n features."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=n)
    return Shortlist(
        method="mission",
        room="sketch",
        loss="logistic",
        k=n,
        ids=np.arange(n, dtype=np.uint64),
        names=tuple(f"namespace^feature number {i}" for i in range(n)),
        margin=np.zeros(n, np.int64),
        weights=weights,
        scores=np.abs(weights) * 10,
        errors=rng.uniform(0.01, 0.1, n),
        intercept=np.zeros(1),
        classes=("no", "yes"),
        n_examples=1_000_000,
    )


def in_full(shortlist):
    """Page with a row for every entry, for comparison."""
    columns = (shortlist.names, shortlist.weights, shortlist.scores, shortlist.errors)
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{w:+.4g}</td><td>{s:.4g}</td><td>{e:.4g}</td></tr>"
        for name, w, s, e in zip(*columns, strict=True)
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>table</title><table>{rows}</table>"
    )


@contextmanager
def chromium():
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)))
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=args)
        yield browser
        browser.close()


def opening(browser, path):
    """Seconds until a page has been built and its scripts have run; best of five."""
    times = []
    for _ in range(5):
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.goto(path.as_uri(), wait_until="load")
        times.append(
            page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        )
        page.close()
    return min(times) / 1000


def measure(n_features, folder):
    shortlist = many(n_features)
    many(10).report(folder / "report.html")  # modules are loaded by now
    begin = time.process_time()
    shortlist.report(folder / "report.html")
    made = time.process_time() - begin
    (folder / "full.html").write_text(in_full(shortlist))
    size = (folder / "report.html").stat().st_size / 1e6
    print(f"{n_features:,} features: {size:.2f} MB, {made:.2f} s of CPU to make")
    with chromium() as browser:
        for name in ("report", "full"):
            print(
                f"{name:>7}: {opening(browser, folder / f'{name}.html'):.2f} s to open"
            )


def write_bookings(path, n=8000):
    """CSV of bookings: some columns decide whether one is cancelled, most do not."""
    rng = np.random.default_rng(7)
    names = [*BOOKINGS, *(f"survey_answer_{i}" for i in range(1, 41))]
    X = rng.normal(size=(n, len(names)))
    score = X[:, : len(BOOKINGS)] @ np.array(list(BOOKINGS.values())) - 0.4
    cancelled = np.where(score + rng.logistic(size=n) > 0, "cancelled", "kept")
    with path.open("w") as file:
        file.write(",".join([*names, "booking"]) + "\n")
        for row, label in zip(X.round(3).tolist(), cancelled, strict=True):
            file.write(",".join([*map(str, row), str(label)]) + "\n")


def picture(target, folder):
    write_bookings(folder / "bookings.csv")
    commands = (
        "select bookings.csv -k 8 --target booking --method mission --stability 20 "
        "-o model.shortlist -q",
        "report model.shortlist -o report.html -q",
    )
    for command in commands:
        words = [sys.executable, "-m", "shortlist", *command.split()]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with chromium() as browser:
        size = {"width": 1000, "height": 1490}
        page = browser.new_page(viewport=size, color_scheme="light")
        page.goto((folder / "report.html").as_uri())
        slider = page.get_by_label("Budget k")
        slider.fill("4")
        slider.blur()
        budgets = page.locator("section", has_text="Smaller budgets").bounding_box()
        top = page.evaluate("window.scrollY")
        height = budgets["y"] + top + budgets["height"] + 16
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height}
        page.screenshot(path=target, full_page=True, clip=clip)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=10_000)
    parser.add_argument("--picture", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if asked.picture is not None:
            picture(asked.picture.resolve(), Path(name))
        else:
            measure(asked.features, Path(name))
