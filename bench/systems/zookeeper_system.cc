#include "bench/systems/zookeeper_system.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/systems/zookeeper_session.h"

namespace tenure::bench {
namespace {

constexpr char kNodePrefix[] = "/candidate-";

std::string FolderOf(const std::string& election) { return "/" + election; }

class ZooKeeperCandidate : public Candidate {
 public:
  ZooKeeperCandidate(const std::string& endpoint, CandidateOptions options)
      : options_(std::move(options)),
        session_(endpoint, options_.lease, [this] { Tell(ZSESSIONEXPIRED); }) {}

  void Campaign(const std::string& election, Done done) override {
    Stand(election, std::move(done));
  }

  void Stand(const std::string& election, Done told) override {
    done_ = std::move(told);
    if (folder_ != FolderOf(election)) {
      folder_ = FolderOf(election);
      session_.EnsureNode(folder_);
    }
    Begin(zoo_acreate(session_.handle(), (folder_ + kNodePrefix).c_str(), options_.name.data(),
                      static_cast<int>(options_.name.size()), &ZOO_OPEN_ACL_UNSAFE,
                      ZOO_EPHEMERAL | ZOO_SEQUENCE, &OnCreated, this));
  }

  void Resign(Done done) override {
    done_ = std::move(done);
    Begin(zoo_adelete(session_.handle(), (folder_ + "/" + node_).c_str(), -1, &OnEnded, this));
  }

  // Any request renews the session; the client has no call for its own heartbeats.
  void KeepAlive(Done done) override {
    done_ = std::move(done);
    Begin(zoo_aexists(
        session_.handle(), "/", 0,
        [](int result, const Stat* /*stat*/, const void* context) { OnEnded(result, context); },
        this));
  }

  // A read is answered from what the server has applied; sync makes it apply everything
  // acknowledged before.
  void AskLeader(const std::string& election, Done done) override {
    done_ = std::move(done);
    const std::string folder = FolderOf(election);
    Begin(zoo_async(
        session_.handle(), folder.c_str(), [](int, const char*, const void*) {}, nullptr));
    Begin(zoo_aget_children(session_.handle(), folder.c_str(), 0, &OnNodesToRead, this));
  }

 private:
  static ZooKeeperCandidate& Self(const void* context) {
    return *static_cast<ZooKeeperCandidate*>(const_cast<void*>(context));
  }

  // The steps of the recipe, each on the client's own thread.
  static void OnCreated(int result, const char* path, const void* context) {
    ZooKeeperCandidate& self = Self(context);
    if (result != ZOK) return self.Tell(result);
    self.node_ = std::string(path).substr(self.folder_.size() + 1);
    self.LookWhoIsBefore();
  }

  void LookWhoIsBefore() {
    Begin(zoo_aget_children(session_.handle(), folder_.c_str(), 0, &OnChildren, this));
  }

  static void OnChildren(int result, const String_vector* strings, const void* context) {
    ZooKeeperCandidate& self = Self(context);
    if (result != ZOK) return self.Tell(result);
    std::string before;
    for (std::string& node : ToNames(*strings)) {
      if (node < self.node_ && node > before) before = std::move(node);
    }
    if (before.empty()) return self.Tell(ZOK);
    self.Begin(zoo_awexists(self.session_.handle(), (self.folder_ + "/" + before).c_str(),
                            &OnWatched, &self, &OnExists, &self));
  }

  static void OnExists(int result, const Stat* /*stat*/, const void* context) {
    if (result == ZNONODE) return Self(context).LookWhoIsBefore();
    if (result != ZOK) Self(context).Tell(result);
  }

  static void OnWatched(zhandle_t* /*handle*/, int type, int /*state*/, const char* /*path*/,
                        void* context) {
    if (type == ZOO_DELETED_EVENT) Self(context).LookWhoIsBefore();
  }

  static void OnNodesToRead(int result, const String_vector* strings, const void* context) {
    ZooKeeperCandidate& self = Self(context);
    if (result != ZOK) return self.Tell(result);
    const std::vector<std::string> nodes = ToNames(*strings);
    if (nodes.empty()) return self.Tell(ZNONODE);
    const std::string leader = *std::ranges::min_element(nodes);
    self.Begin(zoo_aget(
        self.session_.handle(), (self.folder_ + "/" + leader).c_str(), 0,
        [](int got, const char* /*value*/, int /*bytes*/, const Stat* /*stat*/, const void* it) {
          OnEnded(got, it);
        },
        &self));
  }

  static void OnEnded(int result, const void* context) { Self(context).Tell(result); }

  // The operation reports its end itself, unless it could not be sent.
  void Begin(int sent) {
    if (sent != ZOK) Tell(sent);
  }

  // The owner may begin the next operation before this returns.
  void Tell(int result) {
    const Done done = std::exchange(done_, nullptr);
    if (done != nullptr && !session_.closing()) done(result == ZOK ? "" : zerror(result));
  }

  const CandidateOptions options_;
  std::string folder_;
  std::string node_;
  Done done_;
  ZooKeeperSession session_;  // last: no step follows its end
};

}  // namespace

ZooKeeperSystem::ZooKeeperSystem(std::string endpoint) : endpoint_(std::move(endpoint)) {}

std::unique_ptr<Candidate> ZooKeeperSystem::NewCandidate(const CandidateOptions& options) {
  return std::make_unique<ZooKeeperCandidate>(endpoint_, options);
}

uint64_t ZooKeeperSystem::CountStanding(const std::string& election) {
  ZooKeeperSession session(endpoint_, std::chrono::seconds(10));
  session.EnsureNode(FolderOf(election));
  return session.Children(FolderOf(election)).size();
}

}  // namespace tenure::bench
