import { runCampaign } from "./crash.ts";
const r = await runCampaign({ rounds: 60, seed: 1, points: 60, log: console.log });
console.log(r.findings.length, r.seconds, r.figures);
const seen = new Map<string, number>();
for (const f of r.findings) { const k = f.replace(/\d+/g,"#").slice(f.indexOf(":")); seen.set(k,(seen.get(k)??0)+1); if (seen.get(k)===1 ) console.log(f.slice(0,600)); }
