// The Agent Client Protocol, as campaigns see it.
import { createFrontEnd } from "../frame/front-end.ts";
import { acpCrash } from "./crash.ts";
import { acpFuzz } from "./fuzz.ts";
import { acpLiveness } from "./liveness.ts";

export const frontEnd = createFrontEnd({
	words: "--dialect acp ",
	fuzz: acpFuzz,
	crash: acpCrash,
	liveness: acpLiveness,
});
