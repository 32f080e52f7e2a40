// A file descriptor that its owner closes.
#pragma once

#include <unistd.h>

#include <utility>

namespace tenure::network {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  ~Descriptor() { Reset(); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  // The caller closes it.
  [[nodiscard]] int Release() { return std::exchange(number_, -1); }
  void Reset(int number = -1) {
    if (valid()) close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace tenure::network
