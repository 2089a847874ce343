"""Tests of ipclab."""
