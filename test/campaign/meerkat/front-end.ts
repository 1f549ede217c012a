// Meerkat RPC, as campaigns see it.
import { createFrontEnd } from "../frame/front-end.ts";
import { meerkatCrash } from "./crash.ts";
import { meerkatFuzz } from "./fuzz.ts";
import { meerkatLiveness } from "./liveness.ts";

export const frontEnd = createFrontEnd({
	words: "--dialect meerkat ",
	fuzz: meerkatFuzz,
	crash: meerkatCrash,
	liveness: meerkatLiveness,
});
