"""Two arms against each other: commands, environments, checkouts, mechanisms or a setting."""
