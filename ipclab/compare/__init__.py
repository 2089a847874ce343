"""Runs of two or more machines compared: what differs, each point's verdict, use of the limits, rankings."""
