// The unsent messages of a stream. Not thread-safe.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace tenure::calls {

// Bytes that streams may hold for clients that do not read. Many streams share one: thread-safe.
class SendBudget {
 public:
  virtual ~SendBudget() = default;
  // False if not enough are left.
  [[nodiscard]] virtual bool Take(size_t bytes) = 0;
  virtual void Release(size_t bytes) = 0;
};

// A stream may hold this much without asking its budget: three messages with the largest values,
// one of them on its way. No stream is stuck as long as one fits.
inline constexpr size_t kUnsentBytesFree = 14 << 10;

// One message is written at a time: the next one when it has been sent.
template <typename Message>
class Outbox {
 public:
  // Without a budget, it holds any amount.
  explicit Outbox(std::shared_ptr<SendBudget> budget = nullptr, size_t free = kUnsentBytesFree)
      : budget_(std::move(budget)), free_(free) {}
  ~Outbox() {
    bytes_ = 0;
    Settle();
  }
  Outbox(Outbox&&) noexcept = default;
  Outbox& operator=(Outbox&&) = delete;

  // False, and the message is dropped, if it takes more bytes than the budget has.
  [[nodiscard]] bool Push(Message message, size_t bytes) {
    bytes_ += bytes;
    if (!Settle()) {
      bytes_ -= bytes;
      return false;
    }
    unsent_.emplace_back(std::move(message), bytes);
    return true;
  }
  // The message to write now. Nothing while one is on its way, or if there is none.
  [[nodiscard]] std::optional<Message> Next() {
    if (writing_ || unsent_.empty()) return std::nullopt;
    writing_ = true;
    auto [message, bytes] = std::move(unsent_.front());
    unsent_.pop_front();
    on_its_way_ = bytes;
    return std::move(message);
  }
  void Sent() {
    writing_ = false;
    bytes_ -= std::exchange(on_its_way_, 0);
    (void)Settle();  // it needs less
  }

  // Messages that wait behind the one on its way.
  [[nodiscard]] size_t size() const { return unsent_.size(); }
  // Of all messages, including the one on its way.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return unsent_.empty() && !writing_; }

 private:
  // Takes the bytes beyond the free ones from the budget, or gives the rest back.
  bool Settle() {
    if (budget_ == nullptr) return true;
    const size_t needed = bytes_ > free_ ? bytes_ - free_ : 0;
    if (needed > taken_ && !budget_->Take(needed - taken_)) return false;
    if (needed < taken_) budget_->Release(taken_ - needed);
    taken_ = needed;
    return true;
  }

  std::shared_ptr<SendBudget> budget_;
  size_t free_;
  bool writing_ = false;
  std::deque<std::pair<Message, size_t>> unsent_;
  size_t bytes_ = 0;
  size_t on_its_way_ = 0;
  size_t taken_ = 0;  // from the budget
};

}  // namespace tenure::calls
