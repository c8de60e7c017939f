"""Sphinx: the site that contrib/site makes."""
project = "Keel"
copyright = "the authors of Keel. BSD-3-Clause"  # noqa: A001 (Sphinx's name)
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"

myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # the README's headings begin where Markdown wants them

smartquotes = False  # options begin with two dashes

html_theme = "furo"
html_title = "Keel"
html_static_path = ["keel.css"]
html_css_files = ["keel.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fb8e0", "color-brand-content": "#7fb8e0"},
}
pygments_style = "friendly"
highlight_language = "none"
