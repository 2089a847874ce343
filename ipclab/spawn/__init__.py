"""Fresh processes for each launch: a fork server, the worker's side, and the side that launches
them.
"""
