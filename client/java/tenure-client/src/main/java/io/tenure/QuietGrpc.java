package io.tenure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Keeps what gRPC logs of the library's channels from the application's log: the library says it
 * itself. What gRPC logs of other channels stays.
 */
final class QuietGrpc {
  /** Kept, because a logger that nobody keeps loses its filter. */
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

  /** From now on for channels to this endpoint. */
  static void about(String endpoint) {
    synchronized (ENDPOINTS) {
      ENDPOINTS.put(key(endpoint), true);
    }
  }

  /** As gRPC writes it in the name of a channel, however it is spelled. */
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
