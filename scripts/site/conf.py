"""Builds the site from the Markdown of this repository, unchanged: scripts/site/build.sh

The pages keep their paths, so that a link which works on a code host works on the site. `docs/README.md` is the table of contents: each of its
headings becomes a part of the navigation, and a page that it leaves out is an error.
"""

import pathlib
import re
import shutil

project = "Quipu"
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
# Markdown that is no page.
exclude_patterns = ["CLAUDE.md", ".github/**", ".claude/commands/**", "crates/**", "plugins/**"]
# Anchors are those of a code host.
myst_heading_anchors = 6
smartquotes = False
# Examples shorten their output with "…", which no language knows.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "Quipu"
html_logo = html_favicon = "../../crates/page/assets/icon.svg"
# The colours of Quipu's own page: crates/page/assets/page.css.
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#a2461f", "color-brand-content": "#a2461f", "color-brand-visited": "#a2461f"},
    "dark_css_variables": {"color-brand-primary": "#f0a078", "color-brand-content": "#f0a078", "color-brand-visited": "#f0a078"},
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = html_show_copyright = False

CONTENTS = "docs/README"
# Pages that stand for a folder, and its pages. The decisions are listed; the others have a table of theirs.
FOLDERS = {
    "docs/decisions/README": ("0*", ":glob:\n"),
    "docs/guides/README": ("*", ":glob:\n:hidden:\n"),
    "AGENTS": (".claude/rules/*", ":glob:\n:hidden:\n"),
}
LINK = re.compile(r"\[([^\]]+)\]\((?!http)([^)#]+)\.md(?:#[^)]*)?\)")
TREE = "```{{toctree}}\n:titlesonly:\n{options}\n{entries}\n```\n"


def tree(entries, options=":hidden:\n"):
    return "\n\n" + TREE.format(options=options, entries="\n".join(entries))


def navigation(source):
    """A hidden tree for each heading of the table of contents."""
    folder = pathlib.PurePosixPath(CONTENTS).parent
    trees = []
    for part in (source / f"{CONTENTS}.md").read_text().split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        pages = {resolved(str(folder / page)): title for title, page in LINK.findall(text)}
        trees.append(tree([f"{title} </{page}>" for page, title in pages.items()], f":hidden:\n:caption: {heading}\n"))
    return "".join(trees)


def resolved(path):
    """A path without `..`."""
    parts = []
    for part in path.split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


def add_trees(app, name, text):
    """Only the built page has the trees; a code host would show them as text."""
    if name == root_doc:
        text[0] += tree([f"All pages </{CONTENTS}>"]) + navigation(pathlib.Path(app.srcdir))
    elif name in FOLDERS:
        pages, options = FOLDERS[name]
        text[0] += tree([pages], options)


def add_home(app, failure):
    """A server shows `index.html` for the folder."""
    if failure is None:
        shutil.copy(pathlib.Path(app.outdir) / "README.html", pathlib.Path(app.outdir) / "index.html")


def setup(app):
    app.connect("source-read", add_trees)
    app.connect("build-finished", add_home)
