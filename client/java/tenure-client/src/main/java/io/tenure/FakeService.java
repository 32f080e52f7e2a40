package io.tenure;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.grpc.Status;
import io.tenure.v1.AllElected;
import io.tenure.v1.Blocked;
import io.tenure.v1.CampaignRequest;
import io.tenure.v1.CampaignResponse;
import io.tenure.v1.Cause;
import io.tenure.v1.Event;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.KeepAliveResponse;
import io.tenure.v1.Leadership;
import io.tenure.v1.ObserveRequest;
import io.tenure.v1.ObserveResponse;
import io.tenure.v1.Progress;
import io.tenure.v1.Renewal;
import io.tenure.v1.ResignRequest;
import io.tenure.v1.ResignResponse;
import io.tenure.v1.SeatLost;
import io.tenure.v1.SeatNotice;
import io.tenure.v1.Selector;
import io.tenure.v1.SessionRenewal;
import io.tenure.v1.Snapshot;
import io.tenure.v1.Standing;
import io.tenure.v1.StepDown;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The elections of a {@link FakeTenure}: handles calls as the service does, but without a database,
 * for any number of clients. Thread-safe: one call at a time.
 */
final class FakeService {
  private static final long LEASE_TTL = 10 * Lease.SECOND;

  /** Receives the messages of a stream. */
  interface Stream {
    void send(MessageLite message);
  }

  private static final class Session {
    final String id;
    final String candidate;
    final long leaseTtl;
    long expiresAt;
    Stream stream; // null: none is open

    Session(String id, String candidate, long leaseTtl) {
      this.id = id;
      this.candidate = candidate;
      this.leaseTtl = leaseTtl;
    }
  }

  private static final class Place {
    final Session session;
    final long ticket;
    int priority;
    ByteString value;

    Place(Session session, long ticket) {
      this.session = session;
      this.ticket = ticket;
    }
  }

  private static final class Election {
    final String name;
    final List<Place> places = new ArrayList<>(); // including the leader's
    final List<Event> events = new ArrayList<>(); // the n-th has revision n
    long term;
    Place leader; // null: the seat is vacant
    String successor = "";

    Election(String name) {
      this.name = name;
    }

    Leadership leadership() {
      return Leadership.newBuilder()
          .setElection(name)
          .setTerm(term)
          .setCandidate(leader.session.candidate)
          .setValue(leader.value)
          .setLeaseTtl(Lease.duration(leader.session.leaseTtl))
          .setSuccessor(successor)
          .build();
    }

    Place placeOf(Session session) {
      return places.stream().filter(one -> one.session == session).findFirst().orElse(null);
    }

    /** The places in the queue, in the order of election. */
    List<Place> queue() {
      Comparator<Place> order =
          Comparator.comparing((Place place) -> !place.session.candidate.equals(successor))
              .thenComparing(place -> -place.priority)
              .thenComparing(place -> place.ticket);
      return places.stream().filter(place -> place != leader).sorted(order).toList();
    }
  }

  private record Observation(Stream stream, List<Selector> selectors) {
    boolean selects(String election) {
      return selectors.stream()
          .anyMatch(
              one ->
                  one.hasPrefix()
                      ? election.startsWith(one.getPrefix())
                      : election.equals(one.getElection()));
    }
  }

  private final Map<String, Session> sessions = new LinkedHashMap<>(); // all of these under this
  private final Map<ByteString, Session> opened = new LinkedHashMap<>(); // by request
  private final Map<String, Election> elections = new TreeMap<>();
  private final Set<Observation> observations = new LinkedHashSet<>();
  private long now;
  private long last; // last number given to a session or a place

  // For the test.

  /** Ends the leases that expire by then. */
  synchronized void passTo(long time) {
    now = time;
    for (Session session : List.copyOf(sessions.values())) {
      if (session.expiresAt <= now) end(session, Cause.CAUSE_EXPIRED);
    }
  }

  /** When the next lease ends. */
  synchronized long nextExpiry() {
    return sessions.values().stream()
        .mapToLong(session -> session.expiresAt)
        .min()
        .orElse(Lease.NEVER);
  }

  synchronized Optional<Leadership> leader(String name) {
    return Optional.ofNullable(elections.get(name))
        .filter(election -> election.leader != null)
        .map(Election::leadership);
  }

  synchronized List<String> queue(String name) {
    Election election = elections.get(name);
    if (election == null) return List.of();
    return election.queue().stream().map(place -> place.session.candidate).toList();
  }

  synchronized boolean depose(String name) {
    Election election = elections.get(name);
    if (election == null || election.leader == null) return false;
    vacate(election, Cause.CAUSE_DEPOSED);
    fill(election);
    return true;
  }

  synchronized boolean appoint(String name, String candidate) {
    Election election = elections.get(name);
    if (election == null || !queue(name).contains(candidate)) return false;
    election.successor = candidate;
    if (election.leader == null) {
      fill(election);
      return true;
    }
    StepDown wish = StepDown.newBuilder().setTerm(election.term).setSuccessor(candidate).build();
    notice(election.leader.session, election, SeatNotice.newBuilder().setStepDown(wish));
    change(election, Event.Type.TYPE_HANDOVER_ASKED, Cause.CAUSE_UNSPECIFIED);
    return true;
  }

  /** Closes all streams. */
  synchronized void disconnect() {
    sessions.values().forEach(session -> session.stream = null);
    observations.clear();
  }

  synchronized void closed(Stream stream) {
    observations.removeIf(observation -> observation.stream == stream);
    for (Session session : sessions.values()) {
      if (session.stream == stream) session.stream = null;
    }
  }

  // The calls.

  synchronized CampaignResponse campaign(CampaignRequest request) {
    Session session = sessionFor(request);
    if (request.getSupersede()) supersede(session);
    CampaignResponse.Builder response =
        CampaignResponse.newBuilder()
            .setSession(
                io.tenure.v1.Session.newBuilder()
                    .setSessionId(session.id)
                    .setLeaseTtl(Lease.duration(session.leaseTtl)));
    if (request.getElectionsCount() > 0) return campaignForAll(session, request, response);
    Election election = electionOf(request.getElection());
    boolean leads = election.leader != null && election.leader.session == session;
    if (leads && request.getAfterTerm() == election.term) {
      leadOn(election, session, request);
    } else {
      stand(election, session, request);
      fill(election);
    }
    if (election.leader != null && election.leader.session == session) {
      return response.setElected(election.leadership()).build();
    }
    int position = election.queue().indexOf(election.placeOf(session)) + 1;
    Standing.Builder standing = Standing.newBuilder().setPosition(position);
    if (election.leader != null) standing.setLeader(election.leadership());
    return response.setStanding(standing).build();
  }

  private CampaignResponse campaignForAll(
      Session session, CampaignRequest request, CampaignResponse.Builder response) {
    Blocked.Builder blocked = Blocked.newBuilder();
    for (String name : request.getElectionsList()) {
      Election election = electionOf(name);
      boolean isFree = election.leader == null && election.places.isEmpty();
      if (!isFree) blocked.addElections(name);
    }
    if (blocked.getElectionsCount() > 0) return response.setBlocked(blocked).build();
    AllElected.Builder elected = AllElected.newBuilder();
    for (String name : request.getElectionsList()) {
      Election election = electionOf(name);
      stand(election, session, request);
      fill(election);
      elected.addLeaderships(election.leadership());
    }
    return response.setAllElected(elected).build();
  }

  private Session sessionFor(CampaignRequest request) {
    if (!request.getSessionId().isEmpty()) return known(request.getSessionId());
    Session before = opened.get(request.getRequestId());
    if (before != null && sessions.containsValue(before)) return before;
    long wished = Lease.nanoseconds(request.getLeaseTtl());
    long leaseTtl = wished == 0 ? LEASE_TTL : wished;
    Session session = new Session("fake-" + ++last, request.getCandidate(), leaseTtl);
    session.expiresAt = now + leaseTtl;
    sessions.put(session.id, session);
    opened.put(request.getRequestId(), session);
    return session;
  }

  private Session known(String id) {
    Session session = sessions.get(id);
    if (session != null) return session;
    throw TermRefusedException.of(
        Status.Code.NOT_FOUND, "session " + id + " is not known", "SESSION_NOT_FOUND", Map.of());
  }

  private void supersede(Session by) {
    for (Session session : List.copyOf(sessions.values())) {
      boolean isOlder = session != by && session.candidate.equals(by.candidate);
      if (isOlder) end(session, Cause.CAUSE_SUPERSEDED);
    }
  }

  /** The leader ends its term, and gets the next one unless a waiting candidate is appointed. */
  private void leadOn(Election election, Session session, CampaignRequest request) {
    boolean isAppointed =
        election.queue().stream()
            .anyMatch(place -> place.session.candidate.equals(election.successor));
    vacate(election, Cause.CAUSE_RESIGNED);
    stand(election, session, request);
    if (isAppointed) {
      fill(election);
    } else {
      elect(election, election.placeOf(session));
    }
  }

  private void stand(Election election, Session session, CampaignRequest request) {
    Place place = election.placeOf(session);
    if (place == null) {
      place = new Place(session, ++last);
      election.places.add(place);
    }
    place.priority = request.getPriority();
    boolean isNew = place == election.leader && !request.getValue().equals(place.value);
    place.value = request.getValue();
    if (isNew) change(election, Event.Type.TYPE_PROCLAIMED, Cause.CAUSE_UNSPECIFIED);
  }

  synchronized KeepAliveResponse keepAlive(KeepAliveRequest request, Stream stream) {
    Renewal.Builder renewal = Renewal.newBuilder().setSequence(request.getSequence());
    for (String id : request.getSessionIdsList()) {
      SessionRenewal.Builder renewed = SessionRenewal.newBuilder().setSessionId(id);
      Session session = sessions.get(id);
      if (session == null) {
        renewal.addSessions(renewed.setNotFound(true));
        continue;
      }
      boolean isFirst = session.stream != stream;
      session.stream = stream;
      session.expiresAt = now + session.leaseTtl;
      for (Election election : elections.values()) {
        boolean holds = election.leader != null && election.leader.session == session;
        if (isFirst && holds) renewed.addSeats(election.leadership());
      }
      renewal.addSessions(renewed.setLeaseTtl(Lease.duration(session.leaseTtl)));
    }
    return KeepAliveResponse.newBuilder().setRenewal(renewal).build();
  }

  synchronized ResignResponse resign(ResignRequest request) {
    Session session = known(request.getSessionId());
    ResignResponse.Builder response = ResignResponse.newBuilder();
    if (request.getElection().isEmpty()) {
      end(session, Cause.CAUSE_SESSION_CLOSED);
      return response.setOutcome(ResignResponse.Outcome.OUTCOME_SESSION_ENDED).build();
    }
    Election election = electionOf(request.getElection());
    boolean holds = election.leader != null && election.leader.session == session;
    long term = holds ? election.term : 0;
    if (request.hasTerm() && request.getTerm() != term) {
      throw TermRefusedException.of(
          Status.Code.FAILED_PRECONDITION,
          "the session holds term " + term,
          "STALE_TERM",
          Map.of("current_term", String.valueOf(term)));
    }
    Place place = election.placeOf(session);
    if (holds) vacate(election, Cause.CAUSE_RESIGNED);
    election.places.remove(place);
    fill(election);
    ResignResponse.Outcome withdrawn =
        place == null
            ? ResignResponse.Outcome.OUTCOME_NOT_STANDING
            : ResignResponse.Outcome.OUTCOME_WITHDRAWN;
    return response
        .setTerm(term)
        .setOutcome(holds ? ResignResponse.Outcome.OUTCOME_RESIGNED : withdrawn)
        .build();
  }

  synchronized void observe(ObserveRequest request, Stream stream) {
    for (Selector selector : request.getSelectorsList()) {
      if (selector.hasPrefix()) {
        for (String name : List.copyOf(elections.keySet())) {
          boolean isNamed =
              request.getSelectorsList().stream().anyMatch(one -> one.getElection().equals(name));
          if (name.startsWith(selector.getPrefix()) && !isNamed) begin(name, selector, stream);
        }
      } else {
        begin(selector.getElection(), selector, stream);
      }
    }
    stream.send(ObserveResponse.newBuilder().setProgress(Progress.getDefaultInstance()).build());
    observations.add(new Observation(stream, request.getSelectorsList()));
  }

  private void begin(String name, Selector selector, Stream stream) {
    Election election = elections.getOrDefault(name, new Election(name));
    if (selector.hasFromRevision()) {
      for (Event event : election.events) {
        if (event.getRevision() >= selector.getFromRevision()) send(event, stream);
      }
      return;
    }
    Snapshot.Builder snapshot =
        Snapshot.newBuilder()
            .setElection(name)
            .setRevision(election.events.size())
            .setTerm(election.term)
            .setReason(Snapshot.Reason.REASON_INITIAL);
    if (election.leader != null) snapshot.setLeader(election.leadership());
    stream.send(ObserveResponse.newBuilder().setSnapshot(snapshot).build());
  }

  // Internals.

  private Election electionOf(String name) {
    return elections.computeIfAbsent(name, Election::new);
  }

  private void end(Session session, Cause cause) {
    sessions.remove(session.id);
    opened.values().remove(session);
    if (session.stream != null) {
      session.stream.send(
          KeepAliveResponse.newBuilder()
              .setSessionEnded(
                  io.tenure.v1.SessionEnded.newBuilder().setSessionId(session.id).setCause(cause))
              .build());
    }
    for (Election election : elections.values()) {
      Place place = election.placeOf(session);
      if (place == null) continue;
      if (place == election.leader) vacate(election, cause);
      election.places.remove(place);
      fill(election);
    }
  }

  private void vacate(Election election, Cause cause) {
    Session session = election.leader.session;
    change(election, Event.Type.TYPE_VACATED, cause);
    election.places.remove(election.leader);
    election.leader = null;
    SeatLost lost = SeatLost.newBuilder().setTerm(election.term).setCause(cause).build();
    notice(session, election, SeatNotice.newBuilder().setLost(lost));
  }

  /** Elects the next in the queue if the seat is vacant. */
  private void fill(Election election) {
    if (election.leader != null) return;
    for (Place place : election.queue()) {
      boolean isWanted = place.session.candidate.equals(election.successor);
      if (place.priority < 0 && !isWanted) continue; // only if appointed
      elect(election, place);
      return;
    }
  }

  private void elect(Election election, Place place) {
    election.leader = place;
    election.successor = "";
    election.term++;
    change(election, Event.Type.TYPE_ELECTED, Cause.CAUSE_UNSPECIFIED);
    notice(place.session, election, SeatNotice.newBuilder().setElected(election.leadership()));
  }

  private void notice(Session to, Election election, SeatNotice.Builder change) {
    if (to.stream == null) return;
    SeatNotice.Builder notice = change.setSessionId(to.id).setElection(election.name);
    to.stream.send(KeepAliveResponse.newBuilder().setNotice(notice).build());
  }

  private void change(Election election, Event.Type type, Cause cause) {
    Event event =
        Event.newBuilder()
            .setElection(election.name)
            .setRevision(election.events.size() + 1)
            .setType(type)
            .setLeadership(election.leadership())
            .setCause(cause)
            .build();
    election.events.add(event);
    for (Observation observation : observations) {
      if (observation.selects(election.name)) send(event, observation.stream);
    }
  }

  private static void send(Event event, Stream stream) {
    stream.send(ObserveResponse.newBuilder().setEvent(event).build());
  }
}
