import time


class Moment:
    def __init__(self, at: float) -> None:
        self.at = at

    def until(self, other: "Moment") -> float:
        return other.at - self.at


def now() -> Moment:
    return Moment(time.time())
