#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace net {

template <typename T>
class Pool;

class Buffer {
public:
    explicit Buffer(std::size_t capacity);
    virtual ~Buffer() = default;

    Buffer &append(const std::string &text);
    std::size_t size() const { return data_.size(); }
    bool empty() const { return size() == 0; }
    void clear();

    Buffer &operator<<(int value) { return append(std::to_string(value)); }
    char operator[](std::size_t at) const { return data_[at]; }

    static std::unique_ptr<Buffer> make(std::size_t capacity);

private:
    std::vector<char> data_;
};

template <typename T>
class Pool {
public:
    class Lease {
    public:
        Lease(Pool &pool, T *item) : pool_(pool), item_(item) {}
        ~Lease() { pool_.give_back(item_); }
        T *operator->() { return item_; }
        T &operator*() { return *item_; }

    private:
        Pool &pool_;
        T *item_;
    };

    Lease take() {
        if (free_.empty()) {
            grow();
        }
        T *item = free_.back();
        free_.pop_back();
        return Lease(*this, item);
    }

    void give_back(T *item) { free_.push_back(item); }

private:
    void grow() { free_.push_back(new T(64)); }

    std::vector<T *> free_;
};

}  // namespace net
