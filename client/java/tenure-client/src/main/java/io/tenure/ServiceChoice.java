package io.tenure;

import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Which service a client belongs to, after it has asked its endpoints. Pure.
 *
 * @param serviceId null if there is an error, or nothing is known
 * @param notUsed endpoints that belong to other services, by endpoint
 * @param error null if an id was chosen
 */
record ServiceChoice(String serviceId, Map<String, String> notUsed, ServiceException error) {
  /**
   * The answer of an endpoint.
   *
   * @param serviceId null if it did not answer
   * @param error why not; null if not known
   */
  record Answer(String endpoint, String serviceId, ServiceException error) {}

  /**
   * The choice.
   *
   * @param known the id that is known, or null
   * @param pinned the user has set it
   * @param answers one for each endpoint, in their order
   */
  static ServiceChoice of(String known, boolean pinned, List<Answer> answers) {
    Map<String, List<String>> groups = new LinkedHashMap<>(); // endpoints, by service
    for (Answer answer : answers) {
      if (answer.serviceId == null) continue;
      groups.computeIfAbsent(answer.serviceId, id -> new ArrayList<>()).add(answer.endpoint);
    }
    String most = majorityOf(answers);
    if (most != null && !pinned) return chosen(most, answers);
    boolean allAnswer = answers.stream().allMatch(answer -> answer.serviceId != null);
    if (known != null && (groups.containsKey(known) || !allAnswer)) return chosen(known, answers);
    if (pinned) {
      String message =
          "no endpoint belongs to service %s: %s; correct the endpoints or service_id"
              .formatted(known, inWords(groups));
      return failed(wrong(message));
    }
    if (known != null) return failed(different(groups));
    if (groups.isEmpty()) return failed(nobodyAnswers(answers));
    int size = groups.values().stream().mapToInt(List::size).max().getAsInt();
    List<String> largest =
        groups.keySet().stream().filter(id -> groups.get(id).size() == size).toList();
    return largest.size() == 1 ? chosen(largest.get(0), answers) : failed(different(groups));
  }

  /** The service that more than half of the endpoints belong to, or null. */
  static String majorityOf(List<Answer> answers) {
    Map<String, Long> counts =
        answers.stream()
            .filter(answer -> answer.serviceId != null)
            .collect(Collectors.groupingBy(Answer::serviceId, Collectors.counting()));
    return counts.keySet().stream()
        .filter(id -> 2 * counts.get(id) > answers.size())
        .findAny()
        .orElse(null);
  }

  private static ServiceChoice chosen(String id, List<Answer> answers) {
    Map<String, String> notUsed = new LinkedHashMap<>();
    for (Answer answer : answers) {
      boolean isOther = answer.serviceId != null && !answer.serviceId.equals(id);
      if (isOther) notUsed.put(answer.endpoint, answer.serviceId);
    }
    return new ServiceChoice(id, notUsed, null);
  }

  private static ServiceChoice failed(ServiceException error) {
    return new ServiceChoice(null, Map.of(), error);
  }

  private static ServiceException different(Map<String, List<String>> groups) {
    return wrong(
        "the endpoints belong to different services: %s; set service_id to the right one"
            .formatted(inWords(groups)));
  }

  private static String inWords(Map<String, List<String>> groups) {
    return groups.entrySet().stream()
        .map(group -> String.join(", ", group.getValue()) + " to " + group.getKey())
        .collect(Collectors.joining(", "));
  }

  private static ServiceException wrong(String message) {
    return new ServiceException(
        Status.Code.FAILED_PRECONDITION,
        message,
        ServiceException.WRONG_SERVICE,
        Map.of(),
        Duration.ZERO);
  }

  private static ServiceException nobodyAnswers(List<Answer> answers) {
    for (Answer answer : answers) {
      if (answer.error == null) continue;
      String details = answer.endpoint + ": " + Reason.of(answer.error, false);
      ServiceException error = new ServiceException(Status.Code.UNAVAILABLE, details);
      error.initCause(answer.error);
      return error;
    }
    return new ServiceException(Status.Code.UNAVAILABLE, "no endpoint answers");
  }
}
