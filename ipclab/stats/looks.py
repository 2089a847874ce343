"""When a pair is looked at: after how many launches or heats, at what share of the error."""

LOOKS = (8, 12, 18, 27, 40, 60, 90)  # launches of a pair at which it is judged
SHARES = (0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05)  # of the error at each look
HEAT_LOOKS = (3, 5, 8, 12, 20, 36, 60)  # heats of a pair at which it is judged
# The scatter of three heats is hardly known: their look shows what is far apart, and no more.
HEAT_SHARES = (0.03, 0.2, 0.2, 0.2, 0.2, 0.1, 0.07)
# A run that is content with so wide a bound is a short one: it hardly comes to later looks.
SHORT_BOUND = 0.10
SHORT_SHARES = (0.05, 0.5, 0.25, 0.1, 0.06, 0.03, 0.01)
# So many contestants are hardly all in one state by chance, as a few are in few heats.
MANY = 10
MANY_SHARES = (0.25, 0.35, 0.2, 0.1, 0.06, 0.03, 0.01)


def heat_shares(bound: float, contestants: int) -> tuple[float, ...]:
    """Return the share of each look at heats, where `bound` (a share) counts as the same."""
    if bound < SHORT_BOUND:
        return HEAT_SHARES
    return MANY_SHARES if contestants >= MANY else SHORT_SHARES
