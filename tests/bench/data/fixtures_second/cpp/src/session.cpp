#include "net/session.hpp"

#include <iostream>

namespace net {

void detail::trace(const std::string &text) { std::cerr << text; }

void EchoHandler::handle(Buffer &buffer) {
    detail::trace(name());
    buffer.append("echo").clear();
}

void CountingHandler::handle(Buffer &buffer) {
    EchoHandler::handle(buffer);
    count_ += static_cast<int>(buffer.size());
}

Session::Ptr Session::create(std::string id) { return Ptr(new Session(std::move(id))); }

Session &Session::on_close(Callback callback) {
    callback_ = std::move(callback);
    return *this;
}

void Session::add(std::unique_ptr<Handler> handler) {
    auto name = handler->name();
    handlers_.emplace(name, std::move(handler));
}

void Session::feed(const std::string &text) {
    buffer_->append(text);
    *buffer_ << 1;
    for (auto &[name, handler] : handlers_) {
        handler->handle(*buffer_);
    }
    if (auto found = handlers_.find("main"); found != handlers_.end()) {
        found->second->handle(*buffer_);
    }
}

void Session::close() {
    if (callback_) {
        callback_(*this);
    }
    this->buffer_->clear();
}

}  // namespace net
