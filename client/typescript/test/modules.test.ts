// The packed library in each kind of project: CommonJS, ES modules, Jest, and the oldest Node.js that it promises.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { packedLibrary, Project } from "./support/project.js";
import { Service } from "./support/service.js";

const OLDEST_NODE = "18.18.0";

let project: Project;

before(() => {
  project = new Project(
    "modules",
    {},
    `node@${OLDEST_NODE}`,
    "jest@30.5.2",
    "prom-client@15.1.3",
    "typescript@7.0.2",
    "typescript-5@npm:typescript@5.7.2",
    "@types/node@18.19.130",
    "@arethetypeswrong/cli@0.18.5",
  );
  project.write("modules/package.json", '{"type": "module"}');
});

/** A program that leads once, after these imports. */
function leading(imports: string, endpoint: string): string {
  return `${imports}
    async function main() {
      const elector = new Elector(${JSON.stringify(endpoint)});
      const seat = await elector.lead("orders");
      console.log("term", seat.term, typeof PromClientMetrics);
      await seat.release();
      await elector.close();
    }
    main();`;
}

const REQUIRES = `const { Elector } = require("tenure");
  const { PromClientMetrics } = require("tenure/prom-client");`;
const IMPORTS = `import { Elector } from "tenure";
  import { PromClientMetrics } from "tenure/prom-client";`;

// The Node.js that runs the tests, and not one that a package manager's script has put first.
const runNode = (script: string) => project.run(process.execPath, script);

test("a CommonJS program requires it", async (context) => {
  const { endpoint } = await Service.start(context);
  const script = project.write("requires.js", leading(REQUIRES, endpoint));

  assert.equal(runNode(script), "term 1 function\n");
});

test("an ES module imports it", async (context) => {
  const { endpoint } = await Service.start(context);
  const script = project.write("modules/imports.js", leading(IMPORTS, endpoint));

  assert.equal(runNode(script), "term 1 function\n");
});

test("the oldest Node.js that package.json promises requires and imports it", async (context) => {
  const { endpoint } = await Service.start(context);
  const requires = project.write("oldest.cjs", leading(REQUIRES, endpoint));
  const imports = project.write("oldest.mjs", leading(IMPORTS, endpoint));
  const { engines } = require(`${project.folder}/node_modules/tenure/package.json`);

  assert.equal(engines.node, `>=${OLDEST_NODE.replace(/\.0$/, "")}`);
  assert.equal(project.runInstalled("node", "--version"), `v${OLDEST_NODE}\n`);
  assert.equal(project.runInstalled("node", requires), "term 1 function\n");
  assert.equal(project.runInstalled("node", imports), "term 2 function\n");
});

test("require and import give the same classes, and all of them", () => {
  const script = project.write(
    "both.mjs",
    `import { createRequire } from "node:module";
     const require = createRequire(import.meta.url);
     for (const name of ["tenure", "tenure/prom-client", "tenure/testing"]) {
       const imported = await import(name);
       const required = require(name);
       for (const key of new Set([...Object.keys(imported), ...Object.keys(required)])) {
         if (imported[key] !== required[key]) console.log(name, key);
       }
     }`,
  );

  assert.equal(runNode(script), "");
});

const leadingTest = (imports: string, endpoint: string) => `${imports}
  test("leads", async () => {
    const elector = new Elector(${JSON.stringify(endpoint)});
    const seat = await elector.lead("orders");
    expect(seat.term).toBe(1);
    await seat.release();
    await elector.close();
  });`;

test("a test of default Jest requires it", async (context) => {
  const { endpoint } = await Service.start(context);
  project.write("jest/requires.test.js", leadingTest(REQUIRES, endpoint));

  project.runInstalled("jest", "--silent", "--rootDir", "jest");
});

test("a test of Jest with fake timers uses the fake service", () => {
  project.write(
    "jest-fake/fake.test.js",
    `const { Elector } = require("tenure");
     const { FakeTenure } = require("tenure/testing");
     jest.useFakeTimers();
     test("is not elected in time", async () => {
       const tenure = new FakeTenure();
       const rival = tenure.rival("orders");
       const elector = new Elector(tenure.client());
       const waiting = elector.lead("orders", { waitMs: 60_000 });
       await Promise.all([expect(waiting).rejects.toThrow("not elected"), tenure.advance(60_000)]);
       rival.resign();
       const seat = await elector.lead("orders");
       expect(seat.term).toBe(2);
       await seat.release();
       await elector.close();
     });`,
  );

  project.runInstalled("jest", "--silent", "--rootDir", "jest-fake");
});

test("a test of Jest with ES modules imports it", async (context) => {
  const { endpoint } = await Service.start(context);
  project.write("jest-modules/imports.test.mjs", leadingTest(IMPORTS, endpoint));

  const modules = ["--experimental-vm-modules", "--no-warnings", "node_modules/jest/bin/jest.js"];
  const options = ["--silent", "--rootDir", "jest-modules", "--testMatch", "**/*.test.mjs"];
  project.run(process.execPath, ...modules, ...options);
});

const TYPED = `
  async function main(): Promise<void> {
    await using elector = new Elector({ endpoints: "tenure:7070", leaseTtlMs: 10_000 });
    elector.on("lost", (seat, cause) => console.log(seat.term + 1, cause === "EXPIRED"));
    const work: Work = async (seat) => seat.check();
    await elector.run("orders", work);
    // @ts-expect-error: there is no such event
    elector.on("lots", () => {});
    void PromClientMetrics;
    await new FakeTenure().advance(1_000);
  }
  void main();`;
const TYPED_IMPORTS = `import { Elector, type Work } from "tenure";
  import { PromClientMetrics } from "tenure/prom-client";
  import { FakeTenure } from "tenure/testing";`;

const COMPILERS = {
  "an ES module": ["typescript", "modules/typed.ts", "node18"],
  "a CommonJS module": ["typescript", "typed.ts", "node18"],
  "a bundler": ["typescript", "typed.ts", "preserve", "--moduleResolution", "bundler"],
  "an older compiler of a CommonJS module": ["typescript-5", "typed.ts", "node16"],
  "an older compiler of an ES module": ["typescript-5", "modules/typed.ts", "node16"],
  "a compiler that knows no exports": [
    "typescript-5",
    "typed.ts",
    "commonjs",
    "--moduleResolution",
    "node10",
  ],
} as const;

for (const [name, [compiler, file, module, ...more]] of Object.entries(COMPILERS)) {
  test(`the types serve ${name}`, () => {
    project.write(file, TYPED_IMPORTS + TYPED);
    const ignore = compiler === "typescript" ? ["--ignoreConfig"] : [];
    const strict = ["--strict", "--noEmit", "--target", "es2022", "--types", "node"];
    const library = ["--lib", "es2022,esnext.disposable"];
    const options = [...ignore, ...strict, ...library, "--module", module, ...more, file];

    project.run(process.execPath, `node_modules/${compiler}/bin/tsc`, ...options);
  });
}

test("are the types wrong? No", () => {
  project.runInstalled("attw", packedLibrary(), "--no-emoji", "--format", "ascii");
});
