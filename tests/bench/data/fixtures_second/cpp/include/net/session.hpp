#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/buffer.hpp"

namespace net {

class Handler {
public:
    virtual ~Handler() = default;
    virtual void handle(Buffer &buffer) = 0;
    virtual std::string name() const { return "handler"; }
};

class EchoHandler : public Handler {
public:
    void handle(Buffer &buffer) override;
};

class CountingHandler final : public EchoHandler {
public:
    void handle(Buffer &buffer) override;
    int count() const { return count_; }

private:
    int count_ = 0;
};

class Session : public std::enable_shared_from_this<Session> {
public:
    using Ptr = std::shared_ptr<Session>;
    using Callback = std::function<void(const Session &)>;

    static Ptr create(std::string id);

    Session &on_close(Callback callback);
    void add(std::unique_ptr<Handler> handler);
    void feed(const std::string &text);
    void close();
    const std::string &id() const { return id_; }

private:
    explicit Session(std::string id) : id_(std::move(id)), buffer_(Buffer::make(32)) {}

    std::string id_;
    std::unique_ptr<Buffer> buffer_;
    std::map<std::string, std::unique_ptr<Handler>> handlers_;
    Callback callback_;
};

namespace detail {
void trace(const std::string &text);
}

}  // namespace net
