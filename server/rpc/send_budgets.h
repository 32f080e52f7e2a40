// Limits the bytes that streams hold for clients that do not read, shared among identities.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/fair_share.h"
#include "base/mutex.h"
#include "server/calls/outbox.h"

namespace tenure::rpc {

// Thread-safe.
class SendBudgets {
 public:
  // Of all streams together.
  static constexpr size_t kUnsentBytesMax = 128 << 20;

  // The budget of one stream of this holder. It may outlive this object.
  [[nodiscard]] std::shared_ptr<calls::SendBudget> For(std::string holder) {
    return std::make_shared<Budget>(all_, std::move(holder));
  }

 private:
  struct All {
    Mutex mutex;
    FairShare<std::string> bytes TENURE_GUARDED_BY(mutex){{.max = kUnsentBytesMax}};
  };

  class Budget final : public calls::SendBudget {
   public:
    Budget(std::shared_ptr<All> all, std::string holder)
        : all_(std::move(all)), holder_(std::move(holder)) {}
    bool Take(size_t bytes) override {
      const MutexLock lock(all_->mutex);
      return all_->bytes.Take(holder_, bytes, std::chrono::steady_clock::now());
    }
    void Release(size_t bytes) override {
      const MutexLock lock(all_->mutex);
      all_->bytes.Release(holder_, bytes);
    }

   private:
    const std::shared_ptr<All> all_;
    const std::string holder_;
  };

  const std::shared_ptr<All> all_ = std::make_shared<All>();
};

}  // namespace tenure::rpc
