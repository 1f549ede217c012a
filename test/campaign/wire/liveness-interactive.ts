// What must hold of hooks, questions, subagents and side questions in every interleaving, checked on its transcript after the
// fact (wire-protocol §4.7–4.9, §4.12, §11.1).
import { isRecord } from "../../../src/base/json.ts";
import { chosenLabel, hookDecision } from "./liveness-answers.ts";
import { eventOf, isOutsideTurns, type ServerRequest, toolCallOf, type WireActor } from "./liveness-client.ts";
import { findPlanModeFaults, type PlanCircumstances } from "./liveness-plan-mode.ts";
import type { Delivered } from "./liveness-rules.ts";

type Payload = Readonly<Record<string, unknown>>;

export interface Circumstances extends PlanCircumstances {
	/** Whether the client read to the end. */
	readonly isComplete: boolean;
	/** Whether writes failed: then the turn ends without the events that could not be persisted. */
	readonly storeFailed: boolean;
}

/** `delivered` are the server's messages without replayed ones. */
export function findInteractiveFaults(
	client: WireActor,
	delivered: readonly Delivered[],
	circumstances: Circumstances,
): readonly string[] {
	const walk = new Walk(client, circumstances);
	for (const { at, entry } of delivered) {
		const { type, payload } = eventOf(entry.message);
		if (type !== "") walk.take(type, payload, at, null);
	}
	walk.end();
	return [...walk.faults, ...findPlanModeFaults(client, delivered, circumstances)];
}

interface Batch {
	readonly at: number;
	readonly count: number;
	readonly requests: ServerRequest[];
	/** Whether no other batch of the same point ran concurrently: which is whose cannot be known then. */
	isAlone: boolean;
}

interface Speaker {
	readonly parent: string;
	isOpen: boolean;
	/** Whether hooks withheld its prompt from the model. */
	readonly isBlocked: boolean;
	readonly calls: Set<string>;
}

/** Whose hooks guard side questions. */
const aside = "aside";

/** Goes through what was delivered of each turn, in order. */
class Walk {
	readonly faults: string[] = [];
	readonly #client: WireActor;
	readonly #circumstances: Circumstances;
	/** How many turns are open: a command may run a turn within its own. */
	#depth = 0;
	/** Calls of the session's own agent in the current answer that have no result yet, by id. */
	#calls = new Map<string, number>();
	/** Every id that was called in the turn, and how often. */
	#called = new Map<string, number>();
	#agents = new Map<string, Speaker>();
	#batches = new Map<string, Batch[]>();
	#questions: ServerRequest[] = [];
	/** Calls of the current answer that a hook forbade. */
	#blocked = new Set<string>();
	readonly #asides = new Map<string, "open" | "ended">();

	constructor(client: WireActor, circumstances: Circumstances) {
		this.#client = client;
		this.#circumstances = circumstances;
	}

	take(type: string, payload: Payload, at: number, agentId: string | null): void {
		switch (type) {
			case "TurnBegin":
				if (agentId === null) this.#beginTurn(at);
				return;
			case "TurnEnd":
				if (agentId === null) this.#endTurn(at);
				return;
			case "StepBegin":
			case "StepRetry":
			case "StepInterrupted":
				if (agentId === null) this.#endAnswer(type, at);
				return;
			case "ToolCall":
				this.#call(String(payload["id"]), agentId);
				return;
			case "ToolResult":
				if (agentId === null) this.#result(payload, at);
				return;
			case "SubagentEvent":
				this.#inside(payload, at);
				return;
			case "ApprovalRequest":
				this.#approval(payload, at);
				return;
			case "QuestionRequest":
				this.#question(payload, at);
				return;
			case "HookTriggered":
			case "HookRequest":
			case "HookResolved":
				this.#hook(type, payload, at, agentId);
				return;
			case "BtwBegin":
			case "BtwEnd":
				this.#aside(type, payload, at);
				return;
			default:
		}
	}

	end(): void {
		const { isComplete, storeFailed } = this.#circumstances;
		if (!isComplete || storeFailed) return;
		if ([...this.#asides.values()].includes("open")) this.faults.push("a BtwBegin has no BtwEnd");
		if (this.#openBatches() > 0) this.faults.push("a HookTriggered has no HookResolved");
	}

	#openBatches(): number {
		return [...this.#batches.values()].reduce((sum, batches) => sum + batches.length, 0);
	}

	/** Those of a turn: what guards side questions goes on by itself. */
	#openBatchesOfTurn(): readonly string[] {
		return [...this.#batches].flatMap(([key, batches]) => (key.startsWith(aside) || batches.length === 0 ? [] : [key]));
	}

	#beginTurn(at: number): void {
		if (this.#openBatchesOfTurn().length > 0 && !this.#circumstances.storeFailed) {
			this.faults.push(`a hook is undecided when its turn begins at ${at}`);
		}
		this.#depth += 1;
		this.#calls = new Map();
		this.#called = new Map();
		this.#agents = new Map();
		this.#questions = [];
	}

	#endTurn(at: number): void {
		this.#endAnswer("TurnEnd", at);
		const open = this.#openBatchesOfTurn();
		if (open.length > 0 && !this.#circumstances.storeFailed) {
			this.faults.push(`the turn ends at ${at} before its hooks are decided: ${open.join(", ")}`);
		}
		this.#batches = new Map([...this.#batches].filter(([key]) => key.startsWith(aside)));
		this.#depth = Math.max(0, this.#depth - 1);
	}

	/** An answer of the model is over, and with it all that its calls did. */
	#endAnswer(type: string, at: number): void {
		const open = [...this.#agents].filter(([, { isOpen }]) => isOpen).map(([id]) => id);
		if (open.length > 0 && !this.#circumstances.storeFailed) {
			this.faults.push(`${type} at ${at} while ${open.join(", ")} has not ended`);
		}
		this.#agents = new Map();
		this.#calls = new Map();
		this.#blocked = new Set();
	}

	#call(id: string, agentId: string | null): void {
		if (agentId !== null) {
			this.#agents.get(agentId)?.calls.add(id);
			return;
		}
		this.#calls.set(id, (this.#calls.get(id) ?? 0) + 1);
		this.#called.set(id, (this.#called.get(id) ?? 0) + 1);
	}

	#result(payload: Payload, at: number): void {
		const id = String(payload["tool_call_id"]);
		const left = (this.#calls.get(id) ?? 0) - 1;
		if (left < 0) this.faults.push(`a result of no call at ${at}`);
		this.#calls.set(id, left);
		const running = [...this.#agents.values()].some(({ parent, isOpen }) => isOpen && parent === id);
		if (left <= 0 && running && !this.#circumstances.storeFailed) {
			this.faults.push(`the result of ${id} at ${at} precedes the end of its subagent`);
		}
		if (this.#called.get(id) === 1) this.#checkAnswered(id, payload, at);
		const { return_value: value } = payload;
		if (this.#blocked.has(id) && !(isRecord(value) && value["is_error"] === true)) {
			this.faults.push(`the call ${id} was blocked by a hook, and ran before ${at}`);
		}
	}

	/** A question answered well is what the model reads of it. */
	#checkAnswered(toolCallId: string, payload: Payload, at: number): void {
		const asked = this.#questions.filter((request) => toolCallOf(request) === toolCallId);
		const [request] = asked;
		const { answer } = request ?? { answer: null };
		if (request === undefined || asked.length > 1 || answer === null || !answer.atRest || answer.at > at) return;
		const label = chosenLabel(request, answer.how);
		const text = JSON.stringify(payload["return_value"]);
		const expected = expectedResults(label);
		if (!expected.some((part) => text.includes(part))) {
			this.faults.push(
				`${request.id} was answered ${label ?? "with nothing"}, but its result is ${text.slice(0, 200)}`,
			);
		}
	}

	#inside(payload: Payload, at: number): void {
		const id = String(payload["agent_id"]);
		const parent = String(payload["parent_tool_call_id"]);
		const { event } = payload;
		const type = isRecord(event) ? String(event["type"]) : "";
		const inner = isRecord(event) && isRecord(event["payload"]) ? event["payload"] : {};
		if (this.#depth === 0) this.faults.push(`a subagent speaks outside a turn at ${at}`);
		if ((this.#calls.get(parent) ?? 0) <= 0) this.faults.push(`a subagent speaks at ${at} outside its call ${parent}`);
		if (payload["subagent_type"] !== "coder") this.faults.push(`a subagent of another type at ${at}`);
		const agent = this.#agents.get(id) ?? { parent, isOpen: false, isBlocked: false, calls: new Set() };
		this.#agents.set(id, agent.parent === parent ? agent : { ...agent, parent });
		if (type === "TurnBegin") {
			if (agent.isOpen) this.faults.push(`a second TurnBegin of ${id} at ${at}`);
			this.#agents.set(id, { ...agent, parent, isOpen: true, calls: new Set() });
		} else if (type.startsWith("Hook") && inner["event"] === "UserPromptSubmit") {
			if (agent.isOpen) this.faults.push(`${type} at ${at} after the TurnBegin of ${id} that it is about`);
			const isBlocked = type === "HookResolved" && inner["action"] === "block";
			this.#agents.set(id, { ...agent, parent, isBlocked });
		} else if (!agent.isOpen && !(this.#circumstances.storeFailed && type === "TurnEnd")) {
			this.faults.push(`${type} of ${id} outside its turn at ${at}`);
		}
		if (type === "StepBegin" && agent.isBlocked) this.faults.push(`${id} runs at ${at} although a hook blocked it`);
		if (type === "TurnBegin" || type === "TurnEnd") {
			const open = [...this.#batches].filter(([key, batches]) => key.startsWith(`${id} `) && batches.length > 0);
			if (open.length > 0 && !this.#circumstances.storeFailed) {
				this.faults.push(`${type} of ${id} at ${at} before its hooks are decided`);
			}
		}
		if (type === "TurnEnd") this.#agents.set(id, { ...agent, parent, isOpen: false });
		if (["ApprovalRequest", "ApprovalResponse", "QuestionRequest", "HookRequest"].includes(type)) {
			this.faults.push(`${type} is wrapped at ${at}`);
		}
		this.take(type, inner, at, id);
	}

	/** An approval comes after the call it is for, as the one of the agent whose call it is. */
	#approval(payload: Payload, at: number): void {
		const callId = String(payload["tool_call_id"]);
		const agentId = payload["agent_id"];
		if (agentId === null) {
			if ((this.#calls.get(callId) ?? 0) <= 0) this.faults.push(`an approval for no call at ${at}`);
			if (this.#blocked.has(callId)) this.faults.push(`an approval at ${at} for a call that a hook blocked`);
			if (payload["subagent_type"] !== null) this.faults.push(`an approval with half an agent at ${at}`);
			return;
		}
		const agent = this.#agents.get(String(agentId));
		if (agent?.isOpen !== true) this.faults.push(`an approval for an agent that does not run at ${at}`);
		if (agent?.calls.has(callId) !== true) this.faults.push(`an approval at ${at} precedes its call`);
		if (payload["subagent_type"] !== "coder") this.faults.push(`an approval with half an agent at ${at}`);
	}

	#requestAt(at: number): ServerRequest | null {
		return this.#client.interactions.find((request) => request.at === at) ?? null;
	}

	#question(payload: Payload, at: number): void {
		if ((this.#calls.get(String(payload["tool_call_id"])) ?? 0) <= 0)
			this.faults.push(`a question of no call at ${at}`);
		const request = this.#requestAt(at);
		if (request !== null) this.#questions.push(request);
	}

	/** The open batches of a point, of whichever agent. */
	#batchesAt(point: string): readonly Batch[] {
		return [...this.#batches].flatMap(([key, own]) => (key.slice(key.indexOf(" ") + 1) === point ? own : []));
	}

	#hook(type: string, payload: Payload, at: number, agentId: string | null): void {
		const point = `${String(payload["event"])} ${String(payload["target"])}`;
		const key = `${isOutsideTurns(payload) ? aside : (agentId ?? "")} ${point}`;
		if (type === "HookTriggered") {
			const others = this.#batchesAt(point);
			for (const other of others) other.isAlone = false;
			const batch = { at, count: Number(payload["hook_count"]), requests: [], isAlone: others.length === 0 };
			this.#batches.set(key, [...(this.#batches.get(key) ?? []), batch]);
			return;
		}
		if (type === "HookRequest") {
			const batches = this.#batchesAt(point);
			const batch = batches.find(({ requests, count }) => requests.length < count);
			const request = this.#requestAt(at);
			if (batch === undefined) this.faults.push(`a HookRequest at ${at} after no HookTriggered`);
			else if (request !== null) batch.requests.push(request);
			return;
		}
		const own = this.#batches.get(key) ?? [];
		const batch = own[0];
		if (batch === undefined) this.faults.push(`a HookResolved at ${at} after no HookTriggered`);
		else if (batch.isAlone) {
			this.#checkDecided(batch, point, payload, at);
			if (agentId === null) this.#noteBlocked(batch, payload);
		}
		this.#batches.set(key, own.slice(1));
	}

	/** A call that is forbidden before it runs; one whose id comes twice cannot be distinguished from its namesake. */
	#noteBlocked({ requests }: Batch, { event, action }: Payload): void {
		const input = requests[0]?.params["input_data"];
		if (event !== "PreToolUse" || action !== "block" || !isRecord(input)) return;
		const id = String(input["tool_call_id"]);
		if (this.#called.get(id) === 1) this.#blocked.add(id);
	}

	/** A batch of one decides as it was answered. */
	#checkDecided({ count, requests }: Batch, point: string, payload: Payload, at: number): void {
		const { isComplete, storeFailed } = this.#circumstances;
		// A replay that was cut off cannot be distinguished from what happened.
		if (requests.length < count && isComplete && !storeFailed) {
			this.faults.push(`${point}: ${requests.length} of ${count} hooks were asked before ${at}`);
		}
		const { answer } = requests[0] ?? { answer: null };
		if (count !== 1 || answer === null || !answer.atRest || answer.at > at) return;
		const { action, reason } = hookDecision(answer.how);
		if (payload["action"] !== action || payload["reason"] !== reason) {
			this.faults.push(`${point} was answered ${answer.how}, but decided ${String(payload["action"])} at ${at}`);
		}
	}

	#aside(type: string, payload: Payload, at: number): void {
		const id = String(payload["id"]);
		const state = this.#asides.get(id);
		// A replay that was cut off cannot be distinguished from what happened.
		if (!this.#circumstances.isComplete) return;
		if (type === "BtwBegin") {
			if (state !== undefined) this.faults.push(`a second BtwBegin of ${id} at ${at}`);
			this.#asides.set(id, "open");
			return;
		}
		if (state === "ended") this.faults.push(`a second BtwEnd of ${id} at ${at}`);
		if (state === undefined && !this.#circumstances.storeFailed)
			this.faults.push(`BtwEnd of ${id} at ${at} without begin`);
		if ((payload["response"] === null) === (payload["error"] === null)) this.faults.push(`half a BtwEnd at ${at}`);
		this.#asides.set(id, "ended");
	}
}

/** Parts of what a model reads, one of which must be there, by what a person chose. */
function expectedResults(label: string | null): readonly string[] {
	switch (label) {
		case null:
			return ["without answering", "Dismissed"];
		case "Yes":
			return ["Plan mode on"];
		case "Approve":
		case "One":
			return ["Plan approved"];
		case "No":
			return ["Declined"];
		case "Reject":
			return ["Plan rejected"];
		case "Two":
			return ["Chosen: Two"];
		case "Something else.":
			return ["Declined", "Plan revision requested", "Something else."];
		default:
			return [label];
	}
}
