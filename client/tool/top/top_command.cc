#include <grpc/support/log.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "base/mutex.h"
#include "client/cpp/io/async_call.h"
#include "client/cpp/io/connection.h"
#include "client/cpp/io/follower.h"
#include "client/cpp/io/mailbox.h"
#include "client/cpp/machine/call_error.h"
#include "client/tool/admin_commands.h"
#include "client/tool/moments.h"
#include "client/tool/output.h"
#include "client/tool/signals.h"
#include "client/tool/top/model.h"
#include "client/tool/top/screen.h"
#include "client/tool/top/terminal.h"

namespace tenure::top {
namespace {

using namespace std::chrono_literals;
using Time = Model::Time;

constexpr auto kRefreshInterval = 1s;
constexpr auto kFrameInterval = 50ms;  // minimum time between two screens
constexpr auto kListPatience = 2s;
constexpr int kRefreshShare = 10;  // at most a tenth of the time goes into reading lists
constexpr int kPageSize = 1000;    // the contract's maximum

struct Quit {};
struct Resized {};
struct Changed {};  // at least one event has arrived
struct PageRead {
  grpc::Status status;
  v1::ListElectionsResponse page;
};
using Message = std::variant<Quit, Resized, Changed, Key, PageRead>;

Time Now() { return std::chrono::steady_clock::now(); }

// Collects, on its own thread, what the event stream reports until it is drawn.
class Watched {
 public:
  Watched(const CommonOptions& common, std::string prefix, std::function<void()> on_change)
      : on_change_(std::move(on_change)),
        follower_(
            {.endpoints = common.endpoints,
             .wish = {.names = {std::move(prefix)}, .prefix = true},
             .service_id = common.service_id},
            {.on_response = [this](const v1::ObserveResponse& response) { OnResponse(response); }}),
        thread_([this, &common] { Ended(follower_.Run(common.Credentials())); }) {}
  ~Watched() {
    follower_.Stop();
    thread_.join();
  }

  // Calls `use` with the model, under the lock.
  template <typename Use>
  void With(Use use) {
    const MutexLock lock(mutex_);
    told_ = false;
    use(model_);
  }
  // Why no more events come; empty while they do.
  [[nodiscard]] std::string Failure() {
    const MutexLock lock(mutex_);
    return failure_;
  }

 private:
  void OnResponse(const v1::ObserveResponse& response) {
    {
      const MutexLock lock(mutex_);
      model_.Observed(response, Now());
      if (std::exchange(told_, true)) return;
    }
    on_change_();
  }

  void Ended(const grpc::Status& status) {
    if (status.ok()) return;
    {
      const MutexLock lock(mutex_);
      failure_ = status.error_message();
    }
    on_change_();
  }

  const std::function<void()> on_change_;
  Mutex mutex_;
  Model model_ TENURE_GUARDED_BY(mutex_);
  bool told_ TENURE_GUARDED_BY(mutex_) = false;  // since With was last called
  std::string failure_ TENURE_GUARDED_BY(mutex_);
  Follower follower_;
  std::thread thread_;
};

// One `tenure top`. All decisions are made on one thread.
class TopRun {
 public:
  TopRun(const CommonOptions& common, const TopOptions& options)
      : prefix_(options.prefix),
        mailbox_(std::make_shared<Mailbox<Message>>()),
        signals_(
            [mailbox = mailbox_](int number) {
              mailbox->Put(number == SIGWINCH ? Message(Resized{}) : Message(Quit{}));
            },
            {SIGWINCH, SIGHUP, SIGQUIT}),
        connection_(common.endpoints, common.Credentials(), HealthCheck::kOff, common.service_id),
        watched_(common, prefix_, [mailbox = mailbox_] { mailbox->Put(Changed{}); }),
        keyboard_([mailbox = mailbox_](Key key) { mailbox->Put(std::move(key)); },
                  [mailbox = mailbox_] { mailbox->Put(Quit{}); }) {}

  ~TopRun() {
    if (context_ != nullptr) context_->TryCancel();
  }

  // Runs until the operator quits (OK), or a permanent error occurs.
  grpc::Status Run() {
    while (terminal_.alive()) {
      const Time now = Now();
      if (now >= next_list_) ReadPage("", now);
      if (now >= next_frame_) Draw(now);
      const auto message = mailbox_->Take(std::min(next_list_, next_frame_));
      if (!message) continue;
      if (std::holds_alternative<Quit>(*message)) break;
      if (const auto* key = std::get_if<Key>(&*message)) {
        if (!Press(view_, *key, elections_shown_, terminal_.size())) break;
      } else if (const auto* read = std::get_if<PageRead>(&*message)) {
        if (!read->status.ok() && !IsTransient(read->status)) {
          return connection_.Explained(read->status, connection_.endpoint());
        }
        TakeIn(*read, Now());
      }
      next_frame_ = std::min(next_frame_, drawn_at_ + kFrameInterval);
    }
    return grpc::Status::OK;
  }

 private:
  // Requests one page of the list; an empty token starts a new list.
  void ReadPage(const std::string& token, Time now) {
    if (token.empty()) {
      list_.clear();
      asked_at_ = now;
    }
    next_list_ = Time::max();
    using Call =
        AsyncCall<v1::AdminService::Stub, v1::ListElectionsRequest, v1::ListElectionsResponse>;
    auto call = std::make_shared<Call>(connection_, connection_.admin());
    connection_.NameService(call->context);
    call->request.set_prefix(prefix_);
    call->request.set_page_size(kPageSize);
    call->request.set_page_token(token);
    call->context.set_deadline(std::chrono::system_clock::now() + kListPatience);
    context_ = std::shared_ptr<grpc::ClientContext>(call, &call->context);
    call->stub->async()->ListElections(&call->context, &call->request, &call->response,
                                       [call, mailbox = mailbox_](const grpc::Status& status) {
                                         mailbox->Put(PageRead{status, std::move(call->response)});
                                       });
  }

  void TakeIn(const PageRead& read, Time now) {
    if (!read.status.ok()) {
      if (!disconnected_since_) disconnected_since_ = now;
      disconnected_why_ =
          connection_.Explained(read.status, connection_.endpoint()).error_message();
      connection_.MoveOn();
      next_list_ = now + connection_.Backoff();
      return;
    }
    connection_.Succeeded();
    disconnected_since_.reset();
    list_.insert(list_.end(), read.page.elections().begin(), read.page.elections().end());
    if (!read.page.next_page_token().empty()) return ReadPage(read.page.next_page_token(), now);
    watched_.With([&](Model& model) { model.Listed(std::move(list_), asked_at_, now); });
    list_.clear();
    read_ = true;
    next_list_ =
        std::max<Time>(asked_at_ + kRefreshInterval, now + kRefreshShare * (now - asked_at_));
  }

  void Draw(Time now) {
    Scene scene;
    scene.endpoint = connection_.endpoint();
    scene.prefix = prefix_;
    scene.now = WallClock();
    watched_.With([&](const Model& model) {
      scene.elections = model.Elections(now);
      scene.changes = model.changes();
      scene.observing = model.observing();
    });
    scene.read = read_;
    if (disconnected_since_) {
      scene.disconnected = disconnected_why_;
      scene.disconnected_for = std::chrono::duration_cast<Duration>(now - *disconnected_since_);
    }
    if (const std::string failure = watched_.Failure(); !failure.empty()) {
      scene.note = "changes are not shown: " + failure;
    }
    scene = Filtered(std::move(scene), view_.filter);
    elections_shown_ = scene.elections.size();
    const Size size = terminal_.size();
    terminal_.Show(Render(scene, view_, size), size);
    drawn_at_ = now;
    next_frame_ = now + kRefreshInterval;
  }

  const std::string prefix_;
  const std::shared_ptr<Mailbox<Message>> mailbox_;
  const Signals signals_;  // before gRPC starts its threads
  Connection connection_;
  Watched watched_;

  std::shared_ptr<grpc::ClientContext> context_;  // of the call in flight
  std::vector<v1::Election> list_;                // so far
  Time asked_at_{};
  Time next_list_{};
  bool read_ = false;
  std::optional<Time> disconnected_since_;
  std::string disconnected_why_;

  View view_;
  size_t elections_shown_ = 0;
  Time drawn_at_{};
  Time next_frame_{};

  Keyboard keyboard_;
  Terminal terminal_;  // last, so it is restored first
};

}  // namespace
}  // namespace tenure::top

namespace tenure {

int RunTop(const CommonOptions& common, const TopOptions& options) {
  if (common.json || !top::HasTerminal()) return RunList(common, {options.prefix});
  gpr_set_log_function([](gpr_log_func_args*) {});  // it would write over the screen
  const grpc::Status status = top::TopRun(common, options).Run();
  return status.ok() ? EXIT_SUCCESS : Output::Complain(status);
}

}  // namespace tenure
