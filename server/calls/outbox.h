// What a stream has to say and has not said yet. Of one thread at a time.
#pragma once

#include <deque>
#include <optional>
#include <utility>

namespace tenure::calls {

// One message is written at a time: the next one when that is sent.
template <typename Message>
class Outbox {
 public:
  void Push(Message message) { unsent_.push_back(std::move(message)); }
  // What is to be written now; nothing while something is on its way, or if there is nothing to
  // say.
  [[nodiscard]] std::optional<Message> Next() {
    if (writing_ || unsent_.empty()) return std::nullopt;
    writing_ = true;
    Message message = std::move(unsent_.front());
    unsent_.pop_front();
    return message;
  }
  void Sent() { writing_ = false; }

  // Messages that wait behind the one on its way.
  [[nodiscard]] size_t size() const { return unsent_.size(); }
  [[nodiscard]] bool empty() const { return unsent_.empty() && !writing_; }

 private:
  bool writing_ = false;
  std::deque<Message> unsent_;
};

}  // namespace tenure::calls
