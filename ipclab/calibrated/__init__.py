"""What calibration shows: twins and planted slow-downs, of one run and of all of its machine."""
