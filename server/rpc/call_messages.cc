#include "server/rpc/call_messages.h"

#include <google/protobuf/util/time_util.h>

#include <string>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "core/validation.h"
#include "server/rpc/convert.h"

namespace tenure::rpc {
namespace {

void Fill(const Leadership& leadership, v1::CampaignResponse& response) {
  *response.mutable_elected() = ToProto(leadership);
}
void Fill(const calls::Standing& it, v1::CampaignResponse& response) {
  v1::Standing& standing = *response.mutable_standing();
  standing.set_position(it.position);
  if (it.leader) *standing.mutable_leader() = ToProto(*it.leader);
}
void Fill(const calls::AllElected& it, v1::CampaignResponse& response) {
  v1::AllElected& elected = *response.mutable_all_elected();
  for (const Leadership& leadership : it.leaderships) {
    *elected.add_leaderships() = ToProto(leadership);
  }
}
void Fill(const calls::Blocked& it, v1::CampaignResponse& response) {
  v1::Blocked& blocked = *response.mutable_blocked();
  for (const ElectionName& name : it.elections) blocked.add_elections(name.bytes);
}

void Fill(const calls::SessionRenewal& it, v1::SessionRenewal& session) {
  session.set_session_id(it.id.Hex());
  if (it.session) {
    *session.mutable_lease_ttl() = ToProto(it.session->lease_ttl);
    *session.mutable_heartbeat_interval() = HeartbeatInterval(*it.session);
    for (const Leadership& seat : it.seats) *session.add_seats() = ToProto(seat);
  } else if (it.session.error().reason == Reason::kSessionNotFound) {
    session.set_not_found(true);
  } else {
    v1::Cause cause = v1::CAUSE_UNSPECIFIED;
    (void)v1::Cause_Parse("CAUSE_" + it.session.error().metadata.at("cause"), &cause);
    session.set_ended(cause);
  }
}
void Fill(const calls::Renewal& it, v1::KeepAliveResponse& response) {
  v1::Renewal& renewal = *response.mutable_renewal();
  renewal.set_sequence(it.sequence);
  renewal.set_more(it.more);
  for (const calls::SessionRenewal& session : it.sessions) Fill(session, *renewal.add_sessions());
}
void Fill(const calls::SeatNotice& event, v1::KeepAliveResponse& response) {
  v1::SeatNotice& notice = *response.mutable_notice();
  notice.set_session_id(event->leader.session.Hex());
  notice.set_election(event->election.bytes);
  if (event->type == EventType::kElected) {
    *notice.mutable_elected() = ToProto(Leadership{event->election, event->term, event->leader});
  } else if (event->type == EventType::kVacated) {
    notice.mutable_lost()->set_term(event->term.value);
    notice.mutable_lost()->set_cause(ToProto(event->cause));
  } else {
    notice.mutable_step_down()->set_term(event->term.value);
    notice.mutable_step_down()->set_successor(event->successor);
  }
}
void Fill(const calls::SessionOver& it, v1::KeepAliveResponse& response) {
  response.mutable_session_ended()->set_session_id(it.session.id.Hex());
  response.mutable_session_ended()->set_cause(ToProto(it.session.ended));
}

void Fill(const std::shared_ptr<const Event>& event, v1::ObserveResponse& response) {
  *response.mutable_event() = ToProto(*event);
}
void Fill(const calls::Snapshot& it, v1::ObserveResponse& response) {
  const auto reason = it.resync ? v1::Snapshot::REASON_RESYNC : v1::Snapshot::REASON_INITIAL;
  *response.mutable_snapshot() = ToSnapshot(it.name, it.election, reason);
}
void Fill(const calls::Progress& it, v1::ObserveResponse& response) {
  using google::protobuf::util::TimeUtil;
  const auto ago = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::steady_clock::now() - it.at);
  *response.mutable_progress()->mutable_time() =
      TimeUtil::GetCurrentTime() - TimeUtil::NanosecondsToDuration(ago.count());
}

Result<calls::Selector> Parse(const v1::Selector& selector) {
  calls::Selector parsed;
  if (selector.has_from_revision()) {
    if (selector.from_revision() == 0) {
      return Fail(Reason::kInvalidSelector, "from_revision is 0; revisions start at 1");
    }
    parsed.from = Revision{selector.from_revision()};
  }
  switch (selector.by_case()) {
    case v1::Selector::kElection: {
      const auto name = ParseElectionName(selector.election());
      if (!name) return tl::unexpected(name.error());
      parsed.by = *name;
      return parsed;
    }
    case v1::Selector::kPrefix:
      if (!selector.prefix().empty()) {
        const auto prefix = ParseElectionName(selector.prefix());
        if (!prefix) return tl::unexpected(prefix.error());
      }
      parsed.by = selector.prefix();
      return parsed;
    case v1::Selector::BY_NOT_SET: break;
  }
  return Fail(Reason::kInvalidSelector, "a selector must name an election or a prefix");
}

}  // namespace

void Fill(const calls::CampaignReply& reply, v1::CampaignResponse& response) {
  std::visit([&](const auto& outcome) { Fill(outcome, response); }, reply.outcome);
  *response.mutable_session() = ToProto(reply.session);
}

void Fill(const calls::KeepAliveMessage& message, v1::KeepAliveResponse& response) {
  std::visit([&](const auto& it) { Fill(it, response); }, message);
}

void Fill(const calls::ObserveMessage& message, v1::ObserveResponse& response) {
  std::visit([&](const auto& it) { Fill(it, response); }, message);
}

Result<calls::RenewalRequest> Parse(const v1::KeepAliveRequest& request) {
  const auto count = static_cast<size_t>(request.session_ids_size());
  if (count == 0) {
    return Fail(Reason::kInvalidSessionId,
                "the request names no session; it must name at least one");
  }
  if (count > kSessionsPerRenewalMax) {
    return Fail(Reason::kInvalidSessionId, "the request names " + std::to_string(count) +
                                               " sessions; the maximum is " +
                                               std::to_string(kSessionsPerRenewalMax));
  }
  calls::RenewalRequest parsed{request.sequence(), {}};
  for (const std::string& hex : request.session_ids()) {
    const auto id = ParseSessionId(hex);
    if (!id) return tl::unexpected(id.error());
    parsed.sessions.push_back(*id);
  }
  return parsed;
}

Result<calls::Selection> Parse(const v1::ObserveRequest& request) {
  const auto count = static_cast<size_t>(request.selectors_size());
  if (count == 0 || count > kSelectorsMax) {
    return Fail(Reason::kInvalidSelector, "the request has " + std::to_string(count) +
                                              " selectors; it must have 1 to " +
                                              std::to_string(kSelectorsMax));
  }
  std::vector<calls::Selector> selectors;
  for (const v1::Selector& selector : request.selectors()) {
    auto parsed = Parse(selector);
    if (!parsed) return tl::unexpected(parsed.error());
    selectors.push_back(*std::move(parsed));
  }
  calls::Selection selection(selectors);
  if (selection.prefixes() > kPrefixesMax) {
    return Fail(Reason::kInvalidSelector,
                "the request has " + std::to_string(selection.prefixes()) +
                    " different prefixes; the maximum is " + std::to_string(kPrefixesMax));
  }
  return selection;
}

}  // namespace tenure::rpc
