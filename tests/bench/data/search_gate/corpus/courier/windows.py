from datetime import timedelta

WIDTH = timedelta(hours=2)


class MissedWindow(Exception):
    pass


def earliest_arrival(departure, minutes):
    return departure + timedelta(minutes=minutes)


def check_window(arrival, opens):
    if arrival > opens + WIDTH:
        raise MissedWindow(f"arrival {arrival} is after the window")
    return max(arrival, opens)
