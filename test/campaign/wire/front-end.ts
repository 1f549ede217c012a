// Kimi Wire and legacy, as campaigns see them.
import { createFrontEnd } from "../frame/front-end.ts";
import { wireCrash } from "./crash.ts";
import { wireFuzz } from "./fuzz.ts";
import { wireLiveness } from "./liveness.ts";

export const frontEnd = createFrontEnd({ words: "", fuzz: wireFuzz, crash: wireCrash, liveness: wireLiveness });
