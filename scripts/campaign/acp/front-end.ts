// The Agent Client Protocol, as campaigns see it.

import { runCrash, runKill } from "../frame/crash.ts";
import type { FrontEnd } from "../frame/front-end.ts";
import { runFuzz } from "../frame/fuzz.ts";
import { acpCrash } from "./crash.ts";
import { acpFuzz } from "./fuzz.ts";

const words = "--dialect acp --kind";

export const frontEnd: Pick<FrontEnd, "fuzz" | "crash" | "kill"> = {
	fuzz: (options) => runFuzz(acpFuzz, `${words} fuzz`, options),
	crash: (options) => runCrash(acpCrash, `${words} crash`, options),
	kill: (options) => runKill(acpCrash, `${words} kill`, options),
};
