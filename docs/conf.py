"""The site: `make docs` builds it from these pages, from docstrings and from nothing else.

No network: nothing is fetched, and nothing on a page is loaded from elsewhere.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import unimodal  # noqa: E402

# The kernels of the tutorials have a profile of their own. They say that they talk over an
# unencrypted port, to this machine alone: no warning for whoever builds a site.
profile = Path(tempfile.mkdtemp()) / "profile_default"
profile.mkdir()
(profile / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 40\n")
os.environ["IPYTHONDIR"] = str(profile.parent)
atexit.register(shutil.rmtree, profile.parent, ignore_errors=True)

project = "unimodal"
author = "The unimodal authors"
copyright = "the unimodal authors, MIT licence"
version = release = unimodal.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docstrings",
    "generated_pages",
    "project_files",
    "made_from",
    "quiet_cells",
    "wide_pictures",
]
exclude_patterns = ["README.md", "_*", "studies/**/*.j2"]
nitpicky = False
default_role = "py:obj"  # `simulate` in a docstring is a link where that is a public name
highlight_language = "text"

# Pages
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
nb_execution_mode = "force"  # of the pages that are notebooks: the tutorials
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # of a cell, on a busy machine
nb_merge_streams = True

# Reference
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}  # not the dozen types that it stands for
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
add_module_names = False
toc_object_entries_show_parents = "hide"

# Looks
html_theme = "furo"
html_title = f"unimodal {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_show_sphinx = False
html_domain_indices = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0072B2",
        "color-brand-content": "#0072B2",
        "font-stack": "system-ui, sans-serif",
    },
    "dark_css_variables": {
        "color-brand-primary": "#56B4E9",
        "color-brand-content": "#56B4E9",
        "font-stack": "system-ui, sans-serif",
    },
}
