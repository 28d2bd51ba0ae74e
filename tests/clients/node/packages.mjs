// The installed SDKs are not beside these files, so `import` would not find them.
import { createRequire } from "node:module";

export const packaged = createRequire(`${process.env.BENCH_PACKAGES}/`);
