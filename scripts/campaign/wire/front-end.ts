// Kimi Wire and legacy, as campaigns see them.
import { createFrontEnd } from "../frame/front-end.ts";
import { runCampaign } from "../liveness/liveness.ts";
import { wireCrash } from "./crash.ts";
import { wireFuzz } from "./fuzz.ts";

export const frontEnd = createFrontEnd({ words: "", fuzz: wireFuzz, crash: wireCrash, liveness: runCampaign });
