"""A page of the browser, and what it said and asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

WAIT_MS = 60_000  # for a busy machine


@dataclass
class Tab:
    """A page of the browser, and what it said and asked for."""

    page: Any
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("console", lambda told: self.said.append(f"{told.type}: {told.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def goto(self, file: Path, hash_: str = "") -> Tab:
        self.page.goto(file.as_uri() + hash_)
        self.page.wait_for_selector("#problems tbody tr")
        return self

    def open(self, session: str, problem: str) -> None:
        """By its address; until it is drawn."""
        self.page.evaluate(
            "address => { location.hash = address }",
            f"#problem/{session}/{quote(problem, safe='')}",
        )
        self.page.wait_for_function("([session, name]) => { const one = document.querySelector('.problem'); return one"
                                    " && one.querySelector('h3').textContent === name && one.querySelector('code').textContent === session }",
                                    arg=[session, problem])  # fmt: skip

    def unfold(self, within: str = "body") -> None:
        """Opens all that is folded, also what was drawn only then, until it is drawn. A part is filled when its
        event `toggle` comes, which is after it was opened, or later where it reads a block of the page."""
        self.page.evaluate(
            """async (within) => {
          for (let shut; (shut = [...document.querySelectorAll(`${within} details:not([open])`)]).length;) {
            await Promise.all(shut.map((one) => new Promise((filled) => {
              one.addEventListener("toggle", filled, { once: true });
              one.open = true;
            })));
            const parts = [...document.querySelectorAll(`${within} details`)];
            const until = performance.now() + 60000;
            for (let empty; (empty = parts.find((one) => one.isConnected && one.childElementCount < 2));) {
              if (performance.now() > until) throw new Error(`stays empty: ${empty.textContent}`);
              await new Promise((done) => setTimeout(done, 10));
            }
          }
        }""",
            within,
        )

    def all(self, selector: str, script: str = "one => one.textContent") -> list[Any]:
        return list(
            self.page.evaluate(
                f"selector => [...document.querySelectorAll(selector)].map({script})", selector
            )
        )

    def count(self, selector: str) -> int:
        return len(self.all(selector, "one => 1"))

    def choose(self, label: str, value: str) -> None:
        """An option of the list that has this label."""
        labels = self.all("label:has(select)", "one => one.firstChild.textContent")
        (place,) = [place for place, one in enumerate(labels) if one == label]
        self.page.locator("label:has(select) select").nth(place).select_option(value)

    def search(self, words: str) -> list[str]:
        """What is listed then."""
        self.page.fill("#search", words)
        self.page.wait_for_selector(".scroll.list:not([aria-busy])")
        return self.listed()

    def listed(self) -> list[str]:
        return self.all(".list tbody th a")

    def counted(self) -> str:
        return str(self.page.text_content("#problems .count"))
