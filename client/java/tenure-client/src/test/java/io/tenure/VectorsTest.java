package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;
import io.grpc.Status;
import io.tenure.testing.Repository;
import io.tenure.v1.CampaignRequest;
import io.tenure.v1.CampaignResponse;
import io.tenure.v1.Cause;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.KeepAliveResponse;
import io.tenure.v1.Leadership;
import io.tenure.v1.ObserveResponse;
import io.tenure.v1.ResignRequest;
import io.tenure.v1.Selector;
import io.tenure.v1.Standing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Plays tests/polyglot/vectors to the pure machines, as the C++ library's tests do. */
class VectorsTest {
  private static final Path VECTORS = Repository.ROOT.resolve("tests/polyglot/vectors");
  private static final long START = 3600 * Lease.SECOND; // of a scenario; 0 is never

  @TestFactory
  Stream<DynamicTest> session() throws IOException {
    return scenarios("session")
        .flatMap(
            scenario ->
                IntStream.rangeClosed(1, 3)
                    .mapToObj(
                        seed ->
                            dynamicTest(
                                name(scenario) + " (seed " + seed + ")",
                                () -> play(scenario, seed))));
  }

  @TestFactory
  Stream<DynamicTest> observation() throws IOException {
    return scenarios("observation")
        .map(scenario -> dynamicTest(name(scenario), () -> observe(scenario)));
  }

  @TestFactory
  Stream<DynamicTest> service() throws IOException {
    return scenarios("service")
        .map(scenario -> dynamicTest(name(scenario), () -> choose(scenario)));
  }

  private static String name(JsonObject scenario) {
    return scenario.get("name").getAsString();
  }

  /** Scenarios with their options and all their steps. */
  private static Stream<JsonObject> scenarios(String machine) throws IOException {
    List<JsonObject> found = new ArrayList<>();
    List<Path> files;
    try (Stream<Path> all = Files.list(VECTORS)) {
      files = all.filter(path -> path.toString().endsWith(".json")).sorted().toList();
    }
    for (Path path : files) {
      JsonObject file = JsonParser.parseString(Files.readString(path)).getAsJsonObject();
      if (!file.get("machine").getAsString().equals(machine)) continue;
      for (JsonElement element : file.getAsJsonArray("scenarios")) {
        JsonObject scenario = element.getAsJsonObject();
        JsonArray steps = new JsonArray();
        if (scenario.has("opening")) {
          String opening = scenario.get("opening").getAsString();
          steps.addAll(file.getAsJsonObject("openings").getAsJsonArray(opening));
        }
        if (scenario.has("steps")) steps.addAll(scenario.getAsJsonArray("steps"));
        scenario.add("steps", steps);
        if (!scenario.has("options")) scenario.add("options", file.get("options"));
        found.add(scenario);
      }
    }
    assertFalse(found.isEmpty(), "no vectors in " + VECTORS);
    return found.stream();
  }

  // The session.

  private static void play(JsonObject scenario, int seed) {
    Player player = new Player(scenario.getAsJsonObject("options"), seed);
    for (JsonElement element : scenario.getAsJsonArray("steps")) {
      JsonObject step = element.getAsJsonObject();
      JsonObject expected = expectedOf(step);
      JsonObject said = player.play(step);
      matchRange(expected, said);
      assertEquals(expected, said, () -> "in the step " + step);
    }
  }

  /** What a step expects, including everything that it leaves out. */
  private static JsonObject expectedOf(JsonObject step) {
    JsonArray effects = new JsonArray();
    for (JsonElement element : arrayOf(step, "effects")) {
      JsonObject effect = element.getAsJsonObject();
      String kind = effect.keySet().iterator().next();
      Message.Builder builder =
          switch (kind) {
            case "campaign" -> CampaignRequest.newBuilder();
            case "resign" -> ResignRequest.newBuilder();
            case "renew" -> KeepAliveRequest.newBuilder();
            default -> null;
          };
      JsonObject told = effect.getAsJsonObject(kind).deepCopy();
      if (builder != null) {
        told.add("request", json(message(builder, told.get("request")).build()));
      }
      effects.add(object(kind, told));
    }
    JsonObject expected = new JsonObject();
    expected.add("effects", effects);
    expected.add("news", arrayOf(step, "news"));
    expected.add("gone", arrayOf(step, "gone"));
    JsonElement until = step.get("believed_until_ms");
    expected.add("believed_until_ms", until == null ? new JsonObject() : until);
    expected.add("wake_ms", orNull(step.get("wake_ms")));
    expected.add("ended", orNull(step.get("ended")));
    return (JsonObject) canonical(expected);
  }

  /** Any time within a range matches it. */
  private static void matchRange(JsonObject expected, JsonObject said) {
    JsonElement range = expected.get("wake_ms");
    if (!range.isJsonArray() || said.get("wake_ms").isJsonNull()) return;
    double wake = said.get("wake_ms").getAsDouble();
    double from = range.getAsJsonArray().get(0).getAsDouble();
    double to = range.getAsJsonArray().get(1).getAsDouble();
    if (from <= wake && wake <= to) said.add("wake_ms", range);
  }

  private static final class Player {
    private final Session session;
    private final List<Integer> seats = new ArrayList<>();
    private final List<ByteString> requestIds = new ArrayList<>();

    Player(JsonObject options, int seed) {
      long leaseTtl = nanoseconds(options, "lease_ttl_ms", 0);
      boolean supersede = options.has("supersede") && options.get("supersede").getAsBoolean();
      String candidate = options.get("candidate").getAsString();
      session = new Session(new Session.Options(candidate, leaseTtl, supersede), new Random(seed));
    }

    /** The step's outcome, in the words of the vectors. */
    JsonObject play(JsonObject step) {
      long now = START + nanoseconds(step, "at_ms", 0);
      if (step.has("input")) {
        step.getAsJsonObject("input")
            .entrySet()
            .forEach(input -> tell(input.getKey(), input.getValue().getAsJsonObject(), now));
      }
      ToldEffects effects = new ToldEffects();
      for (Consumer<Effects> effect : session.decide(now)) effect.accept(effects);
      JsonArray news = new JsonArray();
      for (Session.News told : session.takeNews()) {
        told.event().accept(new ToldNews(told.seat(), news));
      }
      JsonArray gone = new JsonArray();
      session.takeGone().forEach(gone::add);
      JsonObject said = new JsonObject();
      said.add("effects", effects.told);
      said.add("news", news);
      said.add("gone", gone);
      said.add("believed_until_ms", beliefs());
      long wake = session.nextWake();
      said.add("wake_ms", wake == Lease.NEVER ? JsonNull.INSTANCE : time(Math.max(wake, now)));
      said.add("ended", session.ended() ? new JsonPrimitive(endCode()) : JsonNull.INSTANCE);
      return (JsonObject) canonical(said);
    }

    private String endCode() {
      ServiceException error = session.endError();
      return (error == null ? Status.Code.OK : error.code()).name();
    }

    private void tell(String name, JsonObject told, long now) {
      int seat = told.has("seat") ? told.get("seat").getAsInt() : 0;
      switch (name) {
        case "add" -> {
          seats.add(seat);
          session.add(
              seat,
              new SeatOptions(
                  told.get("election").getAsString(),
                  value(told),
                  told.has("priority") ? told.get("priority").getAsInt() : 0,
                  told.has("has_work") && told.get("has_work").getAsBoolean(),
                  nanoseconds(told, "stop_grace_ms", SeatOptions.QUARTER),
                  told.has("one_term") && told.get("one_term").getAsBoolean()));
        }
        case "proclaim" -> session.proclaim(seat, value(told), now);
        case "leave" -> session.leave(seat, now);
        case "abandon" -> session.abandon(seat, now);
        case "work_ended" -> session.workEnded(seat, now);
        case "belief_ended" -> session.beliefEnded(seat, now);
        case "end" -> {
          if (told.has("insist_until_ms")) {
            session.end(now, START + nanoseconds(told, "insist_until_ms", 0));
          } else {
            session.end(now);
          }
        }
        case "campaign_done" -> {
          long call = told.get("call").getAsLong();
          ServiceException error = errorOf(told);
          if (error != null) {
            session.onCampaignFailed(call, now, error);
          } else {
            CampaignResponse.Builder response = CampaignResponse.newBuilder();
            if (told.has("response")) message(response, told.get("response"));
            session.onCampaignDone(call, now, response.build());
          }
        }
        case "resign_done" ->
            session.onResignDone(told.get("call").getAsLong(), now, errorOf(told));
        case "stream_message" -> {
          KeepAliveResponse.Builder received = KeepAliveResponse.newBuilder();
          message(received, told.get("message"));
          session.onStreamMessage(told.get("stream").getAsLong(), received.build(), now);
        }
        case "stream_closed" -> session.onStreamClosed(told.get("stream").getAsLong(), now);
        case "service_replaced" -> session.onServiceReplaced(now);
        default -> throw new AssertionError("an unknown input: " + name);
      }
    }

    private JsonObject beliefs() {
      JsonObject beliefs = new JsonObject();
      for (int seat : seats) {
        long until = session.believedUntil(seat);
        if (until != 0) beliefs.add(String.valueOf(seat), time(until));
      }
      return beliefs;
    }

    private final class ToldEffects implements Effects {
      final JsonArray told = new JsonArray();

      @Override
      public void campaign(long call, CampaignRequest request, long patience) {
        JsonObject campaign = new JsonObject();
        campaign.addProperty("call", call);
        ByteString id = request.getRequestId();
        if (!id.isEmpty()) {
          if (!requestIds.contains(id)) requestIds.add(id);
          campaign.addProperty("request_id", requestIds.indexOf(id) + 1);
        }
        campaign.add("request", json(request.toBuilder().clearRequestId().build()));
        campaign.add("patience_ms", milliseconds(patience));
        told.add(object("campaign", campaign));
      }

      @Override
      public void resign(long call, ResignRequest request, long patience) {
        JsonObject resign = new JsonObject();
        resign.addProperty("call", call);
        resign.add("request", json(request));
        resign.add("patience_ms", milliseconds(patience));
        told.add(object("resign", resign));
      }

      @Override
      public void open(long stream) {
        told.add(object("open", object("stream", new JsonPrimitive(stream))));
      }

      @Override
      public void renew(long stream, KeepAliveRequest request) {
        JsonObject renew = object("stream", new JsonPrimitive(stream));
        renew.add("request", json(request));
        told.add(object("renew", renew));
      }

      @Override
      public void close(long stream) {
        told.add(object("close", object("stream", new JsonPrimitive(stream))));
      }

      @Override
      public void anotherReplica(boolean silent) {
        told.add(object("another_replica", object("silent", new JsonPrimitive(silent))));
      }
    }
  }

  private record ToldNews(int seat, JsonArray told) implements SeatListener {
    private void tell(String event, String key, Object value) {
      JsonObject news = new JsonObject();
      news.addProperty("seat", seat);
      news.addProperty("event", event);
      if (value instanceof Number number) news.addProperty(key, number);
      if (value instanceof String text) news.addProperty(key, text);
      told.add(news);
    }

    @Override
    public void standing(Standing place) {
      tell("standing", "position", place.getPosition());
    }

    @Override
    public void elected(Leadership leadership) {
      tell("elected", "term", leadership.getTerm());
    }

    @Override
    public void suspended() {
      tell("suspended", "", null);
    }

    @Override
    public void resumed() {
      tell("resumed", "", null);
    }

    @Override
    public void handoverAsked(String successor) {
      tell("handover_asked", "successor", successor);
    }

    @Override
    public void stopWork() {
      tell("stop_work", "", null);
    }

    @Override
    public void overrun() {
      tell("overrun", "", null);
    }

    @Override
    public void lost(Cause cause) {
      tell("lost", "cause", cause.name());
    }

    @Override
    public void troubled(ServiceException error) {
      tell("troubled", "code", error.code().name());
    }

    @Override
    public void refused(ServiceException error) {
      tell("refused", "code", error.code().name());
    }
  }

  // The observation.

  private static void observe(JsonObject scenario) {
    JsonObject wish = scenario.getAsJsonObject("wish");
    List<String> names = new ArrayList<>();
    wish.getAsJsonArray("names").forEach(name -> names.add(name.getAsString()));
    boolean prefix = wish.has("prefix") && wish.get("prefix").getAsBoolean();
    long fromRevision =
        wish.has("from_revision") ? wish.get("from_revision").getAsLong() : Observation.SNAPSHOT;
    Observation observation = new Observation(new Observation.Wish(names, prefix, fromRevision));
    for (JsonElement element : scenario.getAsJsonArray("steps")) {
      JsonObject step = element.getAsJsonObject();
      if (step.has("message")) {
        ObserveResponse.Builder response = ObserveResponse.newBuilder();
        message(response, step.get("message"));
        String verdict = observation.note(response.build()).name().toLowerCase();
        assertEquals(step.get("verdict").getAsString(), verdict, step::toString);
      }
      if (!step.has("selectors")) continue;
      Collection<Selector> expected = new HashSet<>();
      for (JsonElement selector : step.getAsJsonArray("selectors")) {
        Selector.Builder builder = Selector.newBuilder();
        message(builder, selector);
        expected.add(builder.build());
      }
      List<Selector> asked = observation.request().getSelectorsList();
      assertEquals(expected, new HashSet<>(asked), step::toString);
      assertEquals(expected.size(), asked.size(), step::toString);
    }
  }

  // The service.

  private static void choose(JsonObject scenario) {
    List<ServiceChoice.Answer> answers = new ArrayList<>();
    for (JsonElement element : scenario.getAsJsonArray("answers")) {
      JsonObject answer = element.getAsJsonObject();
      answers.add(
          new ServiceChoice.Answer(
              answer.get("endpoint").getAsString(), textOf(answer, "service_id"), null));
    }
    boolean pinned = scenario.has("pinned") && scenario.get("pinned").getAsBoolean();

    ServiceChoice choice = ServiceChoice.of(textOf(scenario, "known"), pinned, answers);

    assertEquals(textOf(scenario, "chosen"), choice.serviceId());
    List<String> notUsed = new ArrayList<>();
    arrayOf(scenario, "not_used").forEach(endpoint -> notUsed.add(endpoint.getAsString()));
    assertEquals(notUsed, List.copyOf(choice.notUsed().keySet()));
    JsonObject error = scenario.getAsJsonObject("error");
    assertEquals(error == null, choice.error() == null);
    if (error == null) return;
    assertEquals(error.get("code").getAsString(), choice.error().code().name());
    assertEquals(error.has("reason") ? textOf(error, "reason") : "", choice.error().reason());
    if (error.has("message")) assertEquals(textOf(error, "message"), choice.error().details());
  }

  private static String textOf(JsonObject object, String key) {
    return object.has(key) ? object.get(key).getAsString() : null;
  }

  // JSON.

  private static Message.Builder message(Message.Builder builder, JsonElement json) {
    try {
      JsonFormat.parser().merge(json.toString(), builder);
      return builder;
    } catch (InvalidProtocolBufferException malformed) {
      throw new AssertionError(json.toString(), malformed);
    }
  }

  private static JsonElement json(MessageOrBuilder message) {
    try {
      return JsonParser.parseString(JsonFormat.printer().print(message));
    } catch (InvalidProtocolBufferException malformed) {
      throw new AssertionError(malformed);
    }
  }

  private static ServiceException errorOf(JsonObject told) {
    if (!told.has("error")) return null;
    JsonObject error = told.getAsJsonObject("error");
    Map<String, String> metadata = new HashMap<>();
    if (error.has("metadata")) {
      error
          .getAsJsonObject("metadata")
          .entrySet()
          .forEach(entry -> metadata.put(entry.getKey(), entry.getValue().getAsString()));
    }
    return new ServiceException(
        Status.Code.valueOf(error.get("code").getAsString()),
        "",
        error.has("reason") ? error.get("reason").getAsString() : "",
        metadata,
        Duration.ofNanos(nanoseconds(error, "retry_delay_ms", 0)));
  }

  private static ByteString value(JsonObject told) {
    return ByteString.copyFromUtf8(told.has("value") ? told.get("value").getAsString() : "");
  }

  private static long nanoseconds(JsonObject told, String key, long otherwise) {
    if (!told.has(key)) return otherwise;
    return told.get(key).getAsBigDecimal().movePointRight(6).longValueExact();
  }

  private static JsonPrimitive milliseconds(long nanoseconds) {
    return new JsonPrimitive((double) nanoseconds / Lease.MILLISECOND);
  }

  private static JsonPrimitive time(long nanoseconds) {
    return milliseconds(nanoseconds - START);
  }

  private static JsonObject object(String key, JsonElement value) {
    JsonObject object = new JsonObject();
    object.add(key, value);
    return object;
  }

  private static JsonArray arrayOf(JsonObject step, String key) {
    return step.has(key) ? step.getAsJsonArray(key) : new JsonArray();
  }

  private static JsonElement orNull(JsonElement element) {
    return element == null ? JsonNull.INSTANCE : element;
  }

  /** Numbers are equal however they are written. */
  private static JsonElement canonical(JsonElement json) {
    if (json.isJsonObject()) {
      JsonObject object = new JsonObject();
      json.getAsJsonObject()
          .entrySet()
          .forEach(entry -> object.add(entry.getKey(), canonical(entry.getValue())));
      return object;
    }
    if (json.isJsonArray()) {
      JsonArray array = new JsonArray();
      json.getAsJsonArray().forEach(element -> array.add(canonical(element)));
      return array;
    }
    boolean isNumber = json.isJsonPrimitive() && json.getAsJsonPrimitive().isNumber();
    return isNumber ? new JsonPrimitive(json.getAsDouble()) : json;
  }
}
