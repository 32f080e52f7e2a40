// TLS, client certificates and tokens.

import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";

import {
  type CallCredentials,
  ChannelCredentials,
  credentials,
  Metadata,
  status as Status,
} from "@grpc/grpc-js";

/** How to connect to a service that uses TLS. All are paths of files. */
export interface TlsOptions {
  /**
   * CA bundle (PEM) that the service's certificate must chain to. Absent: those that Node.js
   * brings.
   */
  ca?: string;
  /** The client certificate (PEM). Absent: none is presented. */
  certificate?: string;
  /** Its private key (PEM). */
  key?: string;
  /** Its first line is sent with each call as a bearer token; read again for each call. */
  token?: string;
}

/**
 * Makes credentials, and makes them again after a connection has failed and a PEM file has changed.
 * Throws a RangeError if a file cannot be read, or if a certificate is given without its key.
 */
export class Tls {
  private readonly pems: readonly (string | undefined)[];

  constructor(private readonly options: TlsOptions = {}) {
    const { ca, certificate, key, token } = options;
    if ((certificate === undefined) !== (key === undefined)) {
      const what = "a client certificate and its private key need each other";
      throw new RangeError(`${what}: give both or neither`);
    }
    this.pems = [ca, key, certificate];
    for (const path of [...this.pems, token]) {
      if (path !== undefined) checkReadable(path);
    }
  }

  /** Differs once a PEM file has changed. */
  stamp(): string {
    return this.pems.map((path) => path && statSync(path, { bigint: true }).mtimeNs).join();
  }

  /** Credentials from the files as they are now. */
  channelCredentials(): ChannelCredentials {
    const [ca, key, certificate] = this.pems.map((path) => (path ? readFileSync(path) : null));
    const channel = credentials.createSsl(ca, key, certificate);
    const { token } = this.options;
    if (token === undefined) return channel;
    return credentials.combineChannelCredentials(channel, tokenOf(token));
  }
}

function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new RangeError(`cannot read ${path}`);
  }
}

function tokenOf(path: string): CallCredentials {
  return credentials.createFromMetadataGenerator((_, done) => {
    authorizationOf(path).then(
      (metadata) => done(null, metadata),
      (error: Error) => done(Object.assign(error, { code: Status.UNAVAILABLE })),
    );
  });
}

async function authorizationOf(path: string): Promise<Metadata> {
  const [line] = (await readFile(path, "utf8")).split("\n", 1);
  const token = line!.trimEnd();
  // Perhaps not yet, while the file is being replaced.
  if (!/^[ -~]+$/.test(token)) throw new Error(`the first line of ${path} holds no token`);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}
