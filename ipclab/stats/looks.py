"""When a pair is looked at: after how many launches or heats, at what share of the error."""

LOOKS = (8, 12, 18, 27, 40, 60, 90)  # launches of a pair at which it is judged
SHARES = (0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05)  # of the error at each look
HEAT_LOOKS = (3, 5, 8, 12, 20, 36, 60)  # heats of a pair at which it is judged
# The scatter of three heats is hardly known: their look shows what is far apart, and no more.
HEAT_SHARES = (0.03, 0.2, 0.2, 0.2, 0.2, 0.1, 0.07)
