"""When a pair is looked at: after how many launches or heats, at what share of the error."""

LOOKS = (8, 12, 18, 27, 40, 60, 90)  # launches of a pair at which it is judged
SHARES = (0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05)  # of the error at each look
HEAT_LOOKS = (5, 8, 12, 18, 27, 40, 60)  # heats of a pair at which it is judged
