// How many bytes streams hold for clients that do not read them, shared among identities.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "core/fair_share.h"
#include "core/mutex.h"
#include "server/calls/outbox.h"

namespace tenure::rpc {

// Thread-safe. Must outlive the budgets that it gives.
class SendBudgets {
 public:
  // Of all streams together.
  static constexpr size_t kUnsentBytesMax = 128 << 20;

  // Of one stream of this holder.
  [[nodiscard]] std::shared_ptr<calls::SendBudget> For(std::string holder) {
    return std::make_shared<Budget>(*this, std::move(holder));
  }

 private:
  class Budget final : public calls::SendBudget {
   public:
    Budget(SendBudgets& all, std::string holder) : all_(all), holder_(std::move(holder)) {}
    bool Take(size_t bytes) override {
      const MutexLock lock(all_.mutex_);
      return all_.bytes_.Take(holder_, bytes, std::chrono::steady_clock::now());
    }
    void GiveBack(size_t bytes) override {
      const MutexLock lock(all_.mutex_);
      all_.bytes_.GiveBack(holder_, bytes);
    }

   private:
    SendBudgets& all_;
    const std::string holder_;
  };

  Mutex mutex_;
  FairShare<std::string> bytes_ TENURE_GUARDED_BY(mutex_){{.max = kUnsentBytesMax}};
};

}  // namespace tenure::rpc
