"""The HTML reports in a real browser: nothing from outside, no sideways scrolling, usable by
keyboard, accessible.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.browser import chromium
from tests.support.few import some
from tests.support.rendered import TRANSLATED

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
SERIOUS = ("serious", "critical")
KINDS = ["00_appendix", "01_payload", "claims", "index"]  # pages with all kinds of content


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def pages(*folders: Path) -> list[Path]:
    return [file for folder in folders for file in sorted(folder.glob("*.html"))]


def test_pages_load_nothing_and_fit_a_phone(browser: Any, made: Path, translated: Path) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for file in pages(made / "en", translated / "ko", translated / "zh"):
        asked.clear()
        page.goto(file.as_uri())
        assert asked == [file.as_uri()], file
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            over = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert over <= 0, f"{file} scrolls sideways by {over} pixels at {width}"
        tops = [
            page.evaluate(f"document.querySelector('{name}').offsetTop") for name in ("main", "nav")
        ]
        assert tops[0] < tops[1], f"{file} has links before conclusions on a phone"


@pytest.mark.parametrize("names", some([KINDS, ["*"]], 2))
def test_pages_are_accessible(browser: Any, made: Path, translated: Path, names: list[str]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(viewport={"width": 390, "height": 800})
    found = [file for name in names for file in sorted((made / "en").glob(f"{name}.html"))]
    assert len(found) >= len(names)
    for file in [*found, translated / f"ko/{TRANSLATED[0]}.html"]:
        page.goto(file.as_uri())
        rules = {"color-contrast": {"enabled": file.stem in KINDS}}  # all have one style sheet
        options = {"resultTypes": ["violations"], "rules": rules}
        violations = Axe().run(page, options=options).response["violations"]
        serious = [each for each in violations if each["impact"] in SERIOUS]
        assert not serious, [(v["id"], v["nodes"][0]["html"][:200]) for v in serious]


def test_contents_by_keyboard(browser: Any, translated: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((translated / "ko" / f"{TRANSLATED[0]}.html").as_uri())
    for _ in range(24):  # past the links to other pages
        page.keyboard.press("Tab")
        target = page.evaluate("document.activeElement.getAttribute('href')")
        inside = page.evaluate("document.activeElement.closest('nav') !== null")
        if target and inside and target.startswith("#"):
            break
    assert inside
    assert target.startswith("#")
    page.keyboard.press("Enter")
    assert page.evaluate("decodeURIComponent(location.hash)") == target
    assert page.evaluate(
        "document.getElementById(decodeURIComponent(location.hash.slice(1))) !== null"
    )


def test_a_table_sorts_filters_and_saves_without_a_request(browser: Any, made: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((made / "en" / "01_payload.html").as_uri())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    table = page.locator("#payload-claims")
    count = table.locator("tbody tr").count()
    first = [
        table.locator("tbody tr").nth(place).locator("th").inner_text() for place in range(count)
    ]
    for order in (sorted(first, key=float_of), sorted(first, key=float_of, reverse=True)):
        table.locator("thead th button").first.click()
        assert [float_of(each) for each in table.locator("tbody th").all_inner_texts()] == list(
            map(float_of, order)
        )
    table.locator("input[type=search]").fill("page fault")
    assert table.locator("tbody tr:visible").count() < count
    with page.expect_download() as caught:
        table.locator("p.tools button").click()
    saved = Path(caught.value.path()).read_text("utf-8-sig").splitlines()
    assert len(saved) == 1 + table.locator("tbody tr:visible").count()
    assert page.locator("figure circle title").count() > 0
    assert [url for url in asked if not url.startswith("blob:")] == []
    page.goto((made / "en" / "claims.html").as_uri() + "#0.9")
    assert page.evaluate("document.querySelector('tr:target th').innerText") == "0.9"


def float_of(text: str) -> float:
    return float("".join(letter for letter in text if letter.isdigit() or letter == "."))
