from courier.accounts import check_password
from courier.intake import read_order
from courier.limits import RateLimiter


class Server:
    def __init__(self, port=8100):
        self.port = port
        self.limiter = RateLimiter(60)
        self.routes = {}

    def add_route(self, path, handler):
        self.routes[path] = handler

    def dispatch(self, request):
        if not self.limiter.allow(request.client):
            return 429, "too many requests"
        handler = self.routes.get(request.path)
        if handler is None:
            return 404, "no such page"
        return handler(request)


def login(request):
    if not check_password(request.user, request.password):
        return 401, "wrong password"
    return 200, "welcome"


def submit_order(request):
    return 201, read_order(request.body)
