"""The tables of the reports, one module a study; cells are finished text in the reader's language."""
