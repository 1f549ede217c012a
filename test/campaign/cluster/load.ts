// One session under load: turns with keys, through whichever gateway there is, each asked for until it is accepted.
import { setTimeout as wait } from "node:timers/promises";
import { isRecord } from "../../../src/base/json.ts";
import type { Tally } from "../frame/campaign.ts";
import type { Random } from "../random.ts";
import { Follower } from "./follower.ts";
import { makePlan, type Plan, toPrompt } from "./plan.ts";
import type { Stage } from "./stage.ts";

/**
 * Milliseconds in which a turn is accepted, and in which its end is known to the client, whatever faults there are, counted from when
 * there have been a database, a worker and a gateway without a gap.
 */
const patience = 60_000;
/** Milliseconds between two looks whether that is over. */
const patienceInterval = 1_000;
/**
 * Milliseconds in which a turn is accepted although its worker runs as many as it may: a worker that has all sessions, on a machine
 * that does other work, takes its time, and says so. Whether those that run stand still is watched apart.
 */
const crowdedPatience = 300_000;
/** What a request may fail with for a while: another worker, or a later try, does it. */
const passing = ["busy", "overloaded", "closed", "storage-failed"];

export interface AcceptedTurn {
	readonly plan: Plan;
	readonly turnId: string;
}

export class SessionLoad {
	readonly id: string;
	readonly follower: Follower;
	readonly accepted: AcceptedTurn[] = [];
	readonly #name: string;
	readonly #stage: Stage;
	readonly #random: Random;
	readonly #tally: Tally;

	constructor(name: string, id: string, stage: Stage, random: Random, tally: Tally) {
		this.#name = name;
		this.id = id;
		this.#stage = stage;
		this.#random = random;
		this.#tally = tally;
		this.follower = new Follower(stage, id, random);
	}

	/** Runs turns until the signal aborts, and the last one is over. `rest` is the longest pause between two. */
	async play(rest: number, signal: AbortSignal): Promise<void> {
		await this.follower.begin();
		for (let number = 1; !signal.aborted; number += 1) {
			await wait(this.#random.below(rest), undefined, { signal }).catch(() => {});
			if (signal.aborted) return;
			if (!(await this.#turn(makePlan(this.#random, `${this.#name}t${number}`), `key-${number}`))) return;
		}
	}

	/** One turn to its end. False when it did not come to one. */
	async #turn(plan: Plan, key: string): Promise<boolean> {
		const input = toPrompt(plan);
		const turnId = await this.#start(input, key);
		if (turnId === null) {
			this.#stage.findings.push(`${this.#about(plan)} was not accepted for ${patience / 1000} s: ${this.#refusal}`);
			return false;
		}
		this.accepted.push({ plan, turnId });
		this.#tally.add("turns accepted");
		if (this.#random.chance(10)) await this.#ask("turn.cancel", { sessionId: this.id });
		if (this.#random.chance(10)) this.follower.cut();
		if (this.#random.chance(10)) {
			// As a caller does that was lost before it could note the answer.
			const again = await this.#start(input, key);
			if (again !== turnId) {
				this.#stage.findings.push(
					`${this.#about(plan)} with the same key was ${turnId}, and then ${again}: ${this.#refusal}`,
				);
			}
		}
		const isKnown = () => this.follower.outcomeOf(turnId) !== null;
		for (const begun = performance.now(); !isKnown() && !this.#isOver(begun); ) {
			await this.follower.until(isKnown, patienceInterval);
		}
		if (isKnown()) {
			this.#tally.add(`turns ${this.follower.outcomeOf(turnId)}`);
			return true;
		}
		this.#stage.findings.push(
			`${this.#about(plan)}, ${turnId}, has no end after ${patience / 1000} s, as far as its client knows`,
		);
		return false;
	}

	#isOver(begun: number, limit = patience): boolean {
		return performance.now() - Math.max(begun, this.#stage.fairSince) > limit;
	}

	#refusal = "no gateway ran";

	async #start(input: string, key: string): Promise<string | null> {
		let isCrowded = false;
		for (const begun = performance.now(); !this.#isOver(begun, isCrowded ? crowdedPatience : patience); ) {
			const result = await this.#ask("turn.start", { sessionId: this.id, input, key });
			if (result !== null) return String(result["turnId"]);
			isCrowded = this.#refusal.includes("Too many turns run at once");
			if (isCrowded) this.#tally.add("turns refused because as many ran as may");
			await wait(100 + this.#random.below(400));
		}
		return null;
	}

	/** The result of a request; null when it failed, or may have. */
	async #ask(method: string, params: object): Promise<Readonly<Record<string, unknown>> | null> {
		const reached = this.#stage.client(this.#random);
		if (reached === null) return null;
		const { client, gateway } = reached;
		const before = gateway.disturbances;
		const begun = performance.now();
		let body: unknown;
		try {
			body = await client.call(method, params);
		} catch (thrown) {
			this.#refusal = String(thrown);
			if (gateway.disturbances === before && gateway.state === "running") {
				this.#stage.findings.push(`${gateway.name} did not answer ${method} of ${this.id}: ${String(thrown)}`);
			}
			return null;
		}
		this.#tally.atMost("slowest answer, ms", Math.round(performance.now() - begun));
		if (!isRecord(body) && (gateway.disturbances !== before || gateway.state !== "running")) {
			this.#refusal = "the answer was cut";
			return null;
		}
		const { result, error } = isRecord(body) ? body : { result: null, error: body };
		if (isRecord(result)) return result;
		this.#refusal = JSON.stringify(error ?? body) ?? "nothing";
		const data = isRecord(error) ? error["data"] : null;
		const code = isRecord(data) ? String(data["code"]) : "";
		const isExpected =
			passing.includes(code) || (method === "turn.cancel" && (code === "no-turn" || error === undefined));
		if (!isExpected) this.#stage.findings.push(`${method} of ${this.id} was answered ${JSON.stringify(body)}`);
		return null;
	}

	#about({ name }: Plan): string {
		return `turn ${name} of ${this.id}`;
	}
}
