// One endpoint of a connection, as it was seen last.

import type { Stub } from "./surroundings.js";

export interface Replica {
  endpoint: string;
  stub: Stub;
  /** Something was received on this connection. */
  answered: boolean;
  /** The service that the replica said it belongs to, if that is not the one in use. */
  otherService: string;
}
