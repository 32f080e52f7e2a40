package io.tenure;

import io.tenure.v1.CampaignRequest;
import io.tenure.v1.KeepAliveRequest;
import io.tenure.v1.ResignRequest;

/**
 * What a session can decide, to be done in its order. Calls and streams have numbers that are never
 * used again. {@code patience} is the deadline of a call.
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
