// Empty projects that install the packed library, as an application does.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The package that pack.sh has made. */
export function packedLibrary(): string {
  const dist = process.env["TENURE_DIST"];
  assert.ok(dist, "TENURE_DIST names the folder that pack.sh has packed into");
  const packed = readdirSync(dist).filter((name) => /^tenure-[0-9].*\.tgz$/.test(name));
  assert.equal(packed.length, 1);
  return path.join(dist, packed[0]!);
}

export class Project {
  readonly folder: string;

  constructor(name: string, manifest: object, ...packages: string[]) {
    this.folder = path.resolve("build", name);
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    this.write("package.json", JSON.stringify(manifest));
    this.run("npm", "install", "--silent", "--no-package-lock", packedLibrary(), ...packages);
  }

  write(name: string, text: string): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return name;
  }

  /** Returns the output of the program. */
  run(command: string, ...options: string[]): string {
    return execFileSync(command, options, { cwd: this.folder, encoding: "utf8" });
  }

  /** The same for a program installed in this project. */
  runInstalled(command: string, ...options: string[]): string {
    return this.run(path.join("node_modules/.bin", command), ...options);
  }
}
