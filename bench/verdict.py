"""From figures to rows: ratio, spread, and whether the bar holds."""

from bench.bars import OURS

HOLDS, MISSES = "holds", "MISSES"


def row(bar, figures):
    """One row of the result, a dictionary that becomes JSON as it is."""
    result = {
        "bar": bar.id,
        "name": bar.name,
        "group": bar.group,
        "unit": bar.unit,
        "ours": None,
        "spread": None,
        "repetitions": 0,
        "peer": bar.peer,
        "peer_value": None,
        "peer_spread": None,
        "ratio": None,
        "bound": bound(bar),
        "verdict": None,
    }
    if bar.not_yet:
        return {**result, "verdict": bar.not_yet}
    ours = figures.values(OURS, bar.figure)
    if ours:
        result.update(ours=figures.median(OURS, bar.figure), spread=spread(ours), repetitions=len(ours))
    if bar.peer is None:
        missing = None if ours else reason(bar, figures, OURS)
        compared = result["ours"]
    else:
        peer_figure = bar.peer_figure or bar.figure
        theirs = figures.values(bar.peer, peer_figure)
        if theirs:
            result.update(peer_value=figures.median(bar.peer, peer_figure), peer_spread=spread(theirs))
        missing = next((reason(bar, figures, who) for who, has in [(OURS, ours), (bar.peer, theirs)] if not has), None)
        if not missing and result["peer_value"] == 0:
            missing = f"{bar.peer} has zero"
        if not missing:
            result["ratio"] = result["ours"] / result["peer_value"]
        compared = result["ratio"]
    return {**result, "verdict": missing or (HOLDS if is_within(bar, compared) else MISSES)}


def reason(bar, figures, who):
    known = (figures.why_absent(who, place) for place in (bar.id, bar.group))
    return next(filter(None, known), f"no figure of {who}")


def is_within(bar, value):
    return value <= bar.at_most if bar.at_most is not None else value >= bar.at_least


def bound(bar):
    number = f"<= {bar.at_most:g}" if bar.at_most is not None else f">= {bar.at_least:g}"
    return f"{number} x {bar.peer}" if bar.peer else f"{number} {bar.unit}".rstrip()


def spread(values):
    """Half of the range, in parts of the median; `None` for a single value."""
    middle = sorted(values)[len(values) // 2]
    if len(values) < 2 or middle == 0:
        return None
    return (max(values) - min(values)) / 2 / abs(middle)
