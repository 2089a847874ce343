"""Fresh processes for each launch: a fork server, the worker's side, the launching side."""
