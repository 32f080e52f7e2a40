// What a client logs by itself.

import { setLogVerbosity, logVerbosity } from "@grpc/grpc-js";

import { aside } from "./aside.js";
import type { ServiceError } from "./errors.js";
import { explain, explained, isOfTheEndpoint, TroubleLog } from "./trouble.js";

/** Most loggers have these methods: `console`, pino, winston. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
}

/** On standard error, because standard output belongs to the program. */
const DEFAULT_LOGGER: Logger = {
  info: (message) => console.error(`tenure: ${message}`),
  warn: (message) => console.warn(`tenure: ${message}`),
};

export interface LoggerOption {
  /**
   * Gets a warning when an endpoint cannot be used, with the reason, and a line when it answers
   * again; and one for each term won and lost. Absent: `console`, on standard error. Null: no
   * logging.
   */
  logger?: Logger | null | undefined;
}

export class ClientLog {
  private readonly logger: Logger | undefined;
  private readonly troubles = new TroubleLog();
  /** The latest error of any endpoint; undefined once one has answered. */
  lastError: ServiceError | undefined;

  constructor(
    logger: Logger | null | undefined,
    private readonly tls: boolean,
  ) {
    this.logger = logger === null ? undefined : (logger ?? DEFAULT_LOGGER);
    silenceGrpc();
  }

  info(message: string): void {
    aside(() => this.logger?.info(message));
  }

  warn(message: string): void {
    aside(() => this.logger?.warn(message));
  }

  /** A call or stream to this endpoint has failed. Returns the error, explained. */
  failed(endpoint: string, error: ServiceError): ServiceError {
    if (!isOfTheEndpoint(error)) {
      this.answered(endpoint);
      return error;
    }
    const { kind, text } = explain(error, this.tls);
    if (this.troubles.failed(endpoint, kind, performance.now())) {
      this.warn(`cannot use ${endpoint}: ${text}; still trying`);
    }
    this.lastError = explained(error, endpoint, this.tls);
    return this.lastError;
  }

  /** The endpoints belong to different services. */
  disagree({ details }: ServiceError): void {
    if (this.troubles.failed("", details, performance.now())) this.warn(`${details}; still trying`);
  }

  agree(): void {
    this.troubles.answered("", 0);
  }

  answered(endpoint: string): void {
    this.lastError = undefined;
    const failedMs = this.troubles.answered(endpoint, performance.now());
    if (failedMs !== undefined) this.info(`${endpoint} answers after ${durationText(failedMs)}`);
  }
}

function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${Math.round(milliseconds / 1_000)} s`;
}

/**
 * This library logs what grpc-js would print, once, with the endpoint. grpc-js's variables override
 * this.
 */
function silenceGrpc(): void {
  const { GRPC_NODE_VERBOSITY, GRPC_VERBOSITY, GRPC_NODE_TRACE, GRPC_TRACE } = process.env;
  if (GRPC_NODE_VERBOSITY || GRPC_VERBOSITY || GRPC_NODE_TRACE || GRPC_TRACE) return;
  setLogVerbosity(logVerbosity.NONE);
}
