// The dialects of SDKs, as campaigns see them.
import { runCrash } from "../frame/crash.ts";
import type { FrontEnd } from "../frame/front-end.ts";
import { runLiveness } from "../frame/liveness.ts";
import { claudeLiveness } from "./claude-liveness.ts";
import { codexLiveness } from "./codex-liveness.ts";
import { claudeCrash } from "./crash-claude.ts";
import { codexCrash } from "./crash-codex.ts";
import { fuzzClaude, fuzzCodex } from "./fuzz.ts";

type SdkFrontEnd = Pick<FrontEnd, "fuzz" | "liveness" | "crash">;

export const claude: SdkFrontEnd = {
	fuzz: fuzzClaude,
	liveness: (options) => runLiveness(claudeLiveness, "--dialect claude --kind liveness", options),
	crash: (options) => runCrash(claudeCrash, "--dialect claude --kind crash", options),
};

export const codex: SdkFrontEnd = {
	fuzz: fuzzCodex,
	liveness: (options) => runLiveness(codexLiveness, "--dialect codex --kind liveness", options),
	crash: (options) => runCrash(codexCrash, "--dialect codex --kind crash", options),
};
