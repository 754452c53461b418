#include "net/session.hpp"

using namespace net;
using net::detail::trace;

namespace {

template <typename H, typename... Args>
std::unique_ptr<Handler> make_handler(Args &&...args) {
    return std::make_unique<H>(std::forward<Args>(args)...);
}

struct Stats {
    Stats &add(const Buffer &buffer) {
        total += buffer.size();
        return *this;
    }
    std::size_t total = 0;
};

void report(const Session &session) { trace(session.id()); }

int run(Pool<Buffer> &pool) {
    auto lease = pool.take();
    lease->append("x");
    (*lease).clear();
    Stats stats;
    stats.add(*lease).add(Buffer(8));
    auto made = Buffer::make(16);
    made->append("y").append("z");
    return static_cast<int>(stats.total);
}

}  // namespace

int main() {
    Session::Ptr session = Session::create("a");
    session->on_close([](const Session &closed) { report(closed); }).add(make_handler<EchoHandler>());
    auto counting = std::make_shared<CountingHandler>();
    session->add(std::make_unique<CountingHandler>());
    session->feed("hello");
    std::vector<Session::Ptr> sessions{session};
    for (const auto &one : sessions) {
        one->close();
    }
    sessions.front()->feed("again");
    Pool<Buffer> pool;
    auto code = [&pool] { return run(pool); }();
    Handler *handler = counting.get();
    if (auto *found = dynamic_cast<CountingHandler *>(handler)) {
        found->count();
    }
    return code + counting->count();
}
