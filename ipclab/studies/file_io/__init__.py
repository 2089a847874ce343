"""The file-reading study: how a program reads many files and works on them (methods: text 004)."""
