/** The binary that npm installed with this package. */

import { createRequire } from "node:module";

/** Its path; none on a platform that has no package. */
export function packaged(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`quipu-memory-${process.platform}-${process.arch}/bin/quipu`);
  } catch {
    return undefined;
  }
}
