package candidate;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.LinkedHashMap;
import java.util.Map;

/** One JSON object a line. Thread-safe. */
final class Output {
  private static final Gson GSON = new GsonBuilder().serializeNulls().create();

  /** Names and values of fields follow the event. */
  static void say(String event, Object... fields) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("event", event);
    for (int i = 0; i < fields.length; i += 2) {
      line.put((String) fields[i], fields[i + 1]);
    }
    line.put("time_ms", System.currentTimeMillis());
    System.out.println(GSON.toJson(line));
  }

  static void complain(Throwable error) {
    System.err.println(error.getMessage());
  }

  private Output() {}
}
