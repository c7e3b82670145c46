"""A real browser, for tests that are marked with ``browser``."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    """Path of a Chromium: $CHROMIUM, or what is installed."""
    return os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, NAMES)), None
    )


@pytest.fixture(scope="session")
def chromium():
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.fail(f"no Chromium: install one of {NAMES}, or say CHROMIUM=path")
    # root may not use the sandbox
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=args)
        yield browser
        browser.close()


class Opened:
    """A report in a browser, and all that the browser complained of or asked for."""

    def __init__(self, page, path):
        self.page, self.complaints, self.requests = page, [], []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())

    def names(self, within):
        """Names in a table, as they are shown."""
        return self.page.locator(f"{within} tbody th").all_inner_texts()

    def section(self, title):
        """Find the part of the page with this heading."""
        return self.page.locator("section").filter(
            has=self.page.get_by_role("heading", name=title, exact=True)
        )


@pytest.fixture
def opened(chromium, tmp_path):
    """Open the report of a shortlist: ``opened(shortlist, width=1200, **options)``."""
    contexts = []

    def opened(shortlist, width=1200, **options):
        path = tmp_path / "report.html"
        shortlist.report(path)
        size = {"width": width, "height": 900}
        contexts.append(chromium.new_context(viewport=size, **options))
        contexts[-1].set_default_timeout(120_000)  # on a machine that is busy, too
        return Opened(contexts[-1].new_page(), path)

    yield opened
    for context in contexts:
        context.close()
