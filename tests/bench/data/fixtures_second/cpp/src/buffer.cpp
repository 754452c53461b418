#include "net/buffer.hpp"

namespace net {

namespace {
std::size_t rounded(std::size_t capacity) { return (capacity + 15) & ~std::size_t{15}; }
}  // namespace

Buffer::Buffer(std::size_t capacity) { data_.reserve(rounded(capacity)); }

Buffer &Buffer::append(const std::string &text) {
    data_.insert(data_.end(), text.begin(), text.end());
    return *this;
}

void Buffer::clear() {
    if (!empty()) {
        data_.clear();
    }
}

std::unique_ptr<Buffer> Buffer::make(std::size_t capacity) { return std::make_unique<Buffer>(capacity); }

}  // namespace net
