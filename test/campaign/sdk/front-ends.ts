// The dialects of SDKs, as campaigns see them.
import type { FrontEnd } from "../frame/front-end.ts";
import { runLiveness } from "../frame/liveness.ts";
import { claudeLiveness } from "./claude-liveness.ts";
import { codexLiveness } from "./codex-liveness.ts";
import { fuzzClaude, fuzzCodex } from "./fuzz.ts";

export const claude: Pick<FrontEnd, "fuzz" | "liveness"> = {
	fuzz: fuzzClaude,
	liveness: (options) => runLiveness(claudeLiveness, "--dialect claude --kind liveness", options),
};

export const codex: Pick<FrontEnd, "fuzz" | "liveness"> = {
	fuzz: fuzzCodex,
	liveness: (options) => runLiveness(codexLiveness, "--dialect codex --kind liveness", options),
};
