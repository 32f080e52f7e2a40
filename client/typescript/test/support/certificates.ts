// Certificates for tests.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { TestContext } from "node:test";

import { temporaryFolder } from "./service.js";

export type Folder = (name: string) => string;

/** Returns the path of a file in a folder for new certificates. */
export function folderOf(context: TestContext): Folder {
  const folder = temporaryFolder(context);
  return (name: string) => path.join(folder, name);
}

function openssl(...options: string[]): void {
  execFileSync("openssl", options, { stdio: "ignore" });
}

export function makeAuthority(file: Folder, name: string): void {
  const key = ["-newkey", "rsa:2048", "-nodes", "-keyout", file(`${name}.key`)];
  openssl("req", "-x509", ...key, "-out", file(`${name}.crt`), "-subj", `/CN=${name}`);
}

export function makeCertificate(
  file: Folder,
  name: string,
  alternative: string,
  ...options: string[]
): void {
  const request = file(`${name}.csr`);
  const key = ["-newkey", "rsa:2048", "-nodes", "-keyout", file(`${name}.key`)];
  openssl("req", ...key, "-out", request, "-subj", `/CN=${name}`);
  writeFileSync(file("extensions"), `subjectAltName=${alternative}`);
  const authority = ["-CA", file("ca.crt"), "-CAkey", file("ca.key"), "-CAcreateserial"];
  const extensions = ["-extfile", file("extensions"), "-out", file(`${name}.crt`)];
  openssl("x509", "-req", "-in", request, ...authority, ...options, ...extensions);
}
