// One turn as one idempotent step: whoever calls it again with the same key, after whatever crash, gets the same turn.

/**
 * Starts the turn of this key unless it was started before, and waits for its end.
 *
 * @param {{ url: string, token: string, signal?: AbortSignal, patience?: number }} gateway The gateway's address and a token that may
 *   control. It is tried again for `patience` milliseconds (default: one minute) while it cannot be reached.
 * @param {{ sessionId: string, key: string, input: string }} turn
 * @returns {Promise<{ turnId: string, outcome: { status: string }, text: string }>} How it ended, and the text of the last answer.
 *   Throws what the gateway says when the turn cannot be started, such as that another one runs.
 */
export async function runTurn(gateway, { sessionId, key, input }) {
	const { turnId } = await call(gateway, "turn.start", { sessionId, key, input });
	for (let wait = 200; ; wait = Math.min(wait * 2, 5000)) {
		const events = await readTurn(gateway, sessionId, turnId);
		const end = events.findLast((event) => event.type === "turn.ended");
		if (end !== undefined) return { turnId, outcome: end.outcome, text: lastAnswer(events) };
		await pause(wait, gateway.signal);
	}
}

/** The stored events of the turn so far, by pages from the end of the history backwards. */
async function readTurn(gateway, sessionId, turnId) {
	let events = [];
	let before = "";
	for (;;) {
		const path = `/sessions/${encodeURIComponent(sessionId)}/history?limit=500${before}`;
		const page = await answer(gateway, path, {});
		events = [...page.events.filter((event) => event.turnId === turnId), ...events];
		const hasAll = events.some((event) => event.type === "turn.started");
		if (hasAll || page.before === null) return events;
		before = `&before=${page.before}`;
	}
}

/** The texts of the last step that said something. */
function lastAnswer(events) {
	let texts = [];
	for (const event of events) {
		if ((event.agentPath ?? []).length > 0) continue;
		if (event.type === "step.started") texts = [];
		if (event.type === "content.completed" && event.part.type === "text") texts.push(event.part.text);
	}
	return texts.join("");
}

async function call(gateway, method, params) {
	const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
	const { result, error } = await answer(gateway, "/rpc", {
		method: "POST",
		headers: { "content-type": "application/json" },
		body,
	});
	if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.data?.code, data: error.data });
	return result;
}

/** Safe to repeat: reading changes nothing, and a turn that is started with a key is started once. */
async function answer({ url, token, signal, patience = 60_000 }, path, request) {
	const end = Date.now() + patience;
	for (let wait = 200; ; wait = Math.min(wait * 2, 5000)) {
		let failure;
		try {
			const headers = { ...request.headers, authorization: `Bearer ${token}` };
			const response = await fetch(new URL(path, url), { ...request, headers, signal });
			const value = await response.json();
			if (response.ok) return value;
			failure = new Error(value.error?.message ?? value.error ?? `The gateway answered ${response.status}.`);
			// Refused for good: what was asked, or the token.
			if (response.status < 500 && response.status !== 429) throw Object.assign(failure, { isFinal: true });
		} catch (error) {
			if (error.isFinal === true || signal?.aborted === true) throw error;
			failure = error;
		}
		if (Date.now() >= end) throw failure;
		await pause(wait, signal);
	}
}

function pause(milliseconds, signal) {
	return new Promise((resolve, reject) => {
		const abort = () => {
			clearTimeout(timer);
			reject(signal.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", abort);
			resolve();
		}, milliseconds);
		signal?.addEventListener("abort", abort, { once: true });
	});
}
