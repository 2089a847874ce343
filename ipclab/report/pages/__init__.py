"""From a notebook and a language to an executed notebook, HTML and PDF."""
