// The kill campaign of the gateway: the process is killed at any moment of its turns, and started again. What a reader was
// sent is in the history afterwards, and it continues where it was.
import path from "node:path";
import { readTokens } from "../../support/gateway/token-file.ts";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { createPlace, type Place, removePlace, startExecutable, writeSettings } from "../frame/executable.ts";
import { createRandom, type Random } from "../random.ts";
import { CampaignClient, patience } from "./client.ts";
import { Reader } from "./readers.ts";

/** Kills of one round, and milliseconds of a life after its turn began. */
const kills = 3;
const longestLife = 150;

const touch = `tool_call: ${JSON.stringify({ id: "c", name: "Shell", arguments: JSON.stringify({ command: "sleep 0.05" }) })}`;
const scripts = ["text: one\ntext: two", touch, "text: done", touch, "text: three", "text: four"];

export async function runKill({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	return await reportOn("kill", seed, async () => {
		const tally = new Tally();
		const findings: string[] = [];
		for (let number = 1; number <= rounds; number += 1) {
			const place = await createPlace();
			try {
				const found = await playRound(createRandom(seed + number), place, tally);
				if (found !== null) findings.push(`round ${number}, seed ${seed}: ${found}`);
			} finally {
				await removePlace(place);
			}
			log(`${number} of ${rounds} rounds`);
		}
		return { rounds, findings, figures: tally.figures() };
	});
}

async function playRound(random: Random, place: Place, tally: Tally): Promise<string | null> {
	const settings = await writeSettings(place, "settings", { m: scripts });
	const reader = new Reader();
	let sessionId: string | null = null;
	for (let life = 0; life <= kills; life += 1) {
		const running = startExecutable(place, ["serve", "--json", "--port", "0", "--yolo", "--config-file", settings]);
		try {
			const line = await running.read();
			if (line === null) return `it did not start: ${running.complaints()}`;
			const client = connect(place, line);
			sessionId ??= await client.createSession();
			const before = await client.history(sessionId);
			const lost = reader.events.length > before.length;
			if (lost) return `a reader had ${reader.events.length} events, of which ${before.length} are stored`;
			await reader.connect(client, sessionId);
			await client.result("turn.start", { sessionId, input: "go" });
			if (life === kills) {
				const isOver = (event: object) =>
					"type" in event && event.type === "turn.ended" && "seq" in event && Number(event.seq) > before.length;
				if (!(await reader.until(isOver, patience))) return "the last turn has no end";
				const difference = reader.differs(await client.history(sessionId));
				tally.add("events", reader.events.length);
				return difference;
			}
			await new Promise((resolve) => setTimeout(resolve, random.below(longestLife)));
			tally.add("kills");
		} finally {
			running.kill();
			await running.exited;
			reader.cut();
		}
	}
	return null;
}

function connect({ shareDir }: Place, line: string): CampaignClient {
	const { url }: { url: string } = JSON.parse(line);
	const token = readTokens(path.join(shareDir, "gateway.json")).control ?? "";
	return new CampaignClient(Number(new URL(url).port), token);
}
