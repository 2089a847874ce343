"""Reports: notebooks executed, pages in each language, the appendix, two runs compared."""
