// The liveness campaign of the gateway: readers of one session that stall, are cut and come back, while its turns go on.
// Each turn ends, and every reader has the whole history in the end.
import { control, openGateway } from "../../support/gateway/gateway-place.ts";
import { type CampaignOptions, type CampaignReport, reportOn, Tally } from "../frame/campaign.ts";
import { createRandom, type Random } from "../random.ts";
import { CampaignClient, patience } from "./client.ts";
import { Reader } from "./readers.ts";

const steps = 12;

export async function runLiveness({ rounds, seed, log }: CampaignOptions): Promise<CampaignReport> {
	return await reportOn("liveness", seed, async () => {
		const tally = new Tally();
		const findings: string[] = [];
		const place = await openGateway();
		try {
			const client = new CampaignClient(place.port, control);
			for (let number = 1; number <= rounds; number += 1) {
				const found = await playRound(createRandom(seed + number), client, tally);
				if (found !== null) findings.push(`round ${number}, seed ${seed}: ${found}`);
				if (number % 50 === 0) log(`${number} rounds`);
			}
		} finally {
			await place.close();
		}
		return { rounds, findings, figures: tally.figures() };
	});
}

async function playRound(random: Random, client: CampaignClient, tally: Tally): Promise<string | null> {
	const sessionId = await client.createSession();
	const readers = Array.from({ length: 1 + random.below(4) }, () => new Reader());
	for (const reader of readers) await reader.connect(client, sessionId);
	const away = new Set<Reader>();
	const startTurn = (text: string) =>
		client.result("turn.start", { sessionId, input: `text: ${text}` }).catch((thrown: unknown) => {
			// One runs already.
			if (!String(thrown).includes('"busy"')) throw thrown;
		});
	for (let step = 0; step < steps; step += 1) {
		const reader = readers[random.below(readers.length)];
		if (reader === undefined) continue;
		const what = random.pick(["turn", "turn", "cut", "stall", "back", "cancel", "rename"] as const);
		tally.add(what);
		if (what === "turn") await startTurn("x".repeat(random.pick([1, 100, 50_000] as const)));
		if (what === "rename") await client.result("sessions.rename", { sessionId, title: `Title ${step}` });
		if (what === "cancel") await client.result("turn.cancel", { sessionId }).catch(() => {});
		if (what === "stall") reader.pause();
		if (what === "cut") {
			reader.cut();
			away.add(reader);
		}
		if (what === "back") {
			reader.resume();
			if (away.delete(reader)) await reader.connect(client, sessionId);
		}
	}
	for (const reader of readers) {
		reader.resume();
		if (away.delete(reader)) await reader.connect(client, sessionId);
	}
	const deadline = performance.now() + patience;
	while ((await client.result("session.snapshot", { sessionId }))["turnId"] !== null) {
		if (performance.now() > deadline) return "a turn has no end";
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	await client.result("sessions.rename", { sessionId, title: "The end" });
	const isEnd = (event: object) => "title" in event && event.title === "The end";
	for (const reader of readers) if (!(await reader.until(isEnd, patience))) return "a reader has not got the end";
	const history = await client.history(sessionId);
	tally.add("events", history.length);
	const count = (type: string) => history.filter((event) => event["type"] === type).length;
	if (count("turn.started") !== count("turn.ended")) {
		return `${count("turn.started")} turns began, and ${count("turn.ended")} ended`;
	}
	for (const reader of readers) {
		const difference = reader.differs(history);
		reader.cut();
		if (difference !== null) return difference;
	}
	return null;
}
