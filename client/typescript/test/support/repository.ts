import path from "node:path";

/** The root of the repository; tests run from client/typescript. */
export const root = process.env["TENURE_ROOT"] ?? path.resolve(process.cwd(), "../..");
