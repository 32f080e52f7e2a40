package io.tenure;

import io.tenure.v1.CampaignRequest;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.ResignRequest;

/**
 * Decisions of a session, to be carried out in order. Numbers of calls and streams are never
 * reused. {@code patience} is the deadline of a call.
 */
interface Effects {
  void campaign(long call, CampaignRequest request, long patience);

  void resign(long call, ResignRequest request, long patience);

  void open(long stream);

  void renew(long stream, KeepAliveRequest request);

  void close(long stream);

  /**
   * The replica in use did not answer as it should: use another one from now on. If it is {@code
   * silent}, it did not answer at all.
   */
  void anotherReplica(boolean silent);
}
