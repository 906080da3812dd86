"""What was measured: figures by who and what, and why some are missing."""

import statistics


class Figures:
    """Values of each figure, one for each repetition."""

    def __init__(self):
        self._values = {}
        self._absent = {}

    def add(self, who, figure, value):
        self._values.setdefault((who, figure), []).append(value)

    def values(self, who, figure):
        return self._values.get((who, figure), [])

    def median(self, who, figure):
        return statistics.median(self.values(who, figure))

    def lacks(self, who, reason, place):
        """Notes why there is nothing of someone in a place: a group, or the id of a bar."""
        self._absent[(who, place)] = reason

    def why_absent(self, who, place):
        return self._absent.get((who, place))


class CannotMeasure(Exception):
    """A program that measures is not there, or did not end as it should. The message is for the row."""
