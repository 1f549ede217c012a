import { runCampaign } from "./kill.ts";
const [,, rounds, seed] = process.argv;
const r = await runCampaign({ rounds: Number(rounds), seed: Number(seed ?? 1), points: "all", log: console.log });
console.log(r);
