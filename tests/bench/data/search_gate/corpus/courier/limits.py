import time


class RateLimiter:
    def __init__(self, per_minute):
        self.per_minute = per_minute
        self.calls = {}

    def allow(self, client):
        now = time.monotonic()
        recent = [at for at in self.calls.get(client, []) if now - at < 60]
        recent.append(now)
        self.calls[client] = recent
        return len(recent) <= self.per_minute

    def forget_idle_clients(self):
        now = time.monotonic()
        self.calls = {client: at for client, at in self.calls.items() if at and now - at[-1] < 600}
