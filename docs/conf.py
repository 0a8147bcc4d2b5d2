"""Settings of the documentation; ``make docs`` builds it without network into ``site/html``."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

import clinometer

project = "Clinometer"
author = "the authors of Clinometer"
version = release = clinometer.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
# Pages
smartquotes = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Notebooks are run when the site is built: what a page shows is what the code gives.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

# The API: names in single backticks are objects.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "npt.ArrayLike": "ArrayLike"}
python_maximum_signature_line_length = 80
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_admonition_for_examples = False

# The look: every file of a page lies beside it.
html_theme = "furo"
html_title = "Clinometer"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
pygments_style = "default"


def dashes(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write a dash between a parameter and its meaning; elsewhere "--" begins an option."""
    for text in list(doctree.findall(nodes.Text)):
        if text.startswith(" -- "):
            text.parent.replace(text, nodes.Text(" – " + text.removeprefix(" -- ")))


def setup(app: Sphinx) -> None:
    """Connect what this project adds."""
    app.connect("doctree-resolved", dashes)
