"""Writes what wheels have of the guide, scenarios and notebooks to `python/dumbbell/guide`.

Pages are there as Markdown, for `dumbbell help`, and as HTML, for `dumbbell docs`; notebooks are
there without their figures, which running them draws. `make wheel` runs it.
"""

from __future__ import annotations

import json
import re
import shutil

from guide_pages import generated  # next to this file
from markdown_it import MarkdownIt

from dumbbell.guide import CHECKOUT, HERE, ROOT, plain_page

TABLES = "_generated"
#: A link to another page, with its heading.
LINK = re.compile(r'href="([\w-]+)\.md(#[^"]*)?"')
#: A link to a file that is not shipped.
OUTSIDE = re.compile(r'<a href="(?!https?:|#|[\w-]+\.html)[^"]*">(.*?)</a>', re.DOTALL)
#: Where pages have their pictures; a wheel has them next to the pages.
FIGURES = "figures"
PICTURE = re.compile(r'<img src="([^"/:]+)"')
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}pre,code{font-size:.9em}pre{overflow-x:auto;padding:.6rem;"
    "background:#8881}table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{border:1px solid #8886;padding:.2rem .5rem;text-align:left;vertical-align:top}"
)


def main() -> None:
    """Write them all."""
    for kind in CHECKOUT:
        shutil.rmtree(HERE / kind, ignore_errors=True)
        (HERE / kind).mkdir()
    docs = ROOT / CHECKOUT["pages"]
    tables = docs / TABLES
    for path, text in generated().items():
        (tables / path).parent.mkdir(parents=True, exist_ok=True)
        (tables / path).write_text(text, encoding="utf-8")
    for page in sorted(docs.glob("*.md")):
        text = plain_page(page.read_text(encoding="utf-8"), docs)
        (HERE / "pages" / page.name).write_text(text, encoding="utf-8")
        (HERE / "pages" / f"{page.stem}.html").write_text(html(text), encoding="utf-8")
        for picture in PICTURE.findall(html(text)):
            shutil.copy(docs / FIGURES / picture, HERE / "pages")
    for scenario in (ROOT / CHECKOUT["scenarios"]).glob("*.toml"):
        shutil.copy(scenario, HERE / "scenarios")
    for notebook in (ROOT / CHECKOUT["notebooks"]).glob("*.ipynb"):
        document = json.loads(notebook.read_text(encoding="utf-8"))
        for cell in document["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = [], None
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        (HERE / "notebooks" / notebook.name).write_text(text, encoding="utf-8")


def html(text: str) -> str:
    """Return a page as HTML, with links to pages that are shipped."""
    title = text.partition("\n")[0].lstrip("# ")
    body = MarkdownIt("commonmark").enable("table").render(text)
    body = OUTSIDE.sub(r"\1", LINK.sub(r'href="\1.html\2"', body))
    body = body.replace(f'src="{FIGURES}/', 'src="')
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style>"
        f'<p><a href="index.html">dumbbell</a></p>\n{body}</html>\n'
    )


if __name__ == "__main__":
    main()
