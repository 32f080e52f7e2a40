package io.tenure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Keeps gRPC's log lines about the library's channels out of the application's log, because the
 * library logs the same itself. Lines about other channels stay.
 */
final class QuietGrpc {
  /** Kept, because a logger without references loses its filter. */
  private static final Logger CHANNELS = Logger.getLogger("io.grpc.internal.ManagedChannelImpl");

  private static final int ENDPOINTS_MAX = 1_000; // the latest ones
  private static final Map<String, Boolean> ENDPOINTS =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > ENDPOINTS_MAX;
        }
      }; // under itself

  static {
    Filter before = CHANNELS.getFilter();
    CHANNELS.setFilter(record -> !isOfUs(record) && (before == null || before.isLoggable(record)));
  }

  private QuietGrpc() {}

  /** Silences channels to this endpoint from now on. */
  static void about(String endpoint) {
    synchronized (ENDPOINTS) {
      ENDPOINTS.put(key(endpoint), true);
    }
  }

  /** The endpoint as gRPC writes it in the name of a channel, however it was spelled. */
  private static String key(String endpoint) {
    return "(" + endpoint.toLowerCase(Locale.ROOT) + ")";
  }

  private static boolean isOfUs(LogRecord record) {
    Object[] parameters = record.getParameters();
    if (parameters == null || parameters.length == 0) return false;
    String channel = String.valueOf(parameters[0]).toLowerCase(Locale.ROOT);
    synchronized (ENDPOINTS) {
      return ENDPOINTS.keySet().stream().anyMatch(channel::contains);
    }
  }
}
