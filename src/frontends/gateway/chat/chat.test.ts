// The chat route as the AI SDK uses it: its own client, transport and message state against a gateway.
import {
	AbstractChat,
	DefaultChatTransport,
	lastAssistantMessageIsCompleteWithApprovalResponses,
	type UIMessage,
} from "ai";
import { expect, it, onTestFinished } from "vitest";
import { connectToGateway, makeDirectory } from "../../../../test/support/client/client-places.ts";

const call = (id: string, command: string) =>
	`tool_call: ${JSON.stringify({ id, name: "Shell", arguments: JSON.stringify({ command }) })}`;

class State {
	status: "ready" | "submitted" | "streaming" | "error" = "ready";
	error: Error | undefined = undefined;
	messages: UIMessage[] = [];
	pushMessage = (message: UIMessage) => {
		this.messages = [...this.messages, message];
	};
	popMessage = () => {
		this.messages = this.messages.slice(0, -1);
	};
	replaceMessage = (index: number, message: UIMessage) => {
		this.messages = this.messages.with(index, structuredClone(message));
	};
	snapshot = <T>(thing: T): T => structuredClone(thing);
}

class Chat extends AbstractChat<UIMessage> {
	get parts() {
		return (this.lastMessage?.parts ?? []).map((part) => {
			if (part.type === "text") return part.text;
			if (part.type === "dynamic-tool") return `${part.toolName} ${part.state}`;
			return part.type;
		});
	}
}

async function start(scripts: readonly string[]) {
	const { kernel, address } = await connectToGateway(scripts);
	onTestFinished(() => kernel.close());
	const session = await kernel.open({ workDir: await makeDirectory() });
	const headers = { authorization: `Bearer ${address.token}` };
	const api = `${address.url}/api/chat`;
	const open = () =>
		new Chat({
			id: session.id,
			state: new State(),
			transport: new DefaultChatTransport({ api, headers }),
			sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
			onError: (error) => {
				throw error;
			},
		});
	return { session, api, headers, open };
}

const approvalIds = ({ lastMessage }: Chat) =>
	(lastMessage?.parts ?? []).flatMap((part) =>
		part.type === "dynamic-tool" && part.state === "approval-requested" ? [part.approval.id] : [],
	);

it("streams an answer with its thinking, and names turn and cursor in the metadata", async () => {
	const { open } = await start(["think: hm\ntext: Hello", "text: Again"]);
	const chat = open();
	await chat.sendMessage({ text: "Hi" });
	expect(chat.status).toBe("ready");
	expect(chat.parts).toEqual(["step-start", "reasoning", "Hello"]);
	expect(chat.lastMessage?.metadata).toMatchObject({
		turnId: chat.lastMessage?.id,
		cursor: { seq: expect.any(Number) },
	});
	await chat.sendMessage({ text: "And?" });
	expect(chat.parts).toEqual(["step-start", "Again"]);
	expect(chat.messages).toHaveLength(4);
});

it("asks for several approvals at once, and continues the same message once they are decided", async () => {
	const { open } = await start([`text: Two\n${call("c1", "touch a")}\n${call("c2", "touch b")}`, "text: Done"]);
	const chat = open();
	await chat.sendMessage({ text: "Go" });
	expect(chat.parts).toEqual(["step-start", "Two", "Shell approval-requested", "Shell approval-requested"]);
	const [first = "", second = ""] = approvalIds(chat);
	await chat.addToolApprovalResponse({ id: first, approved: true });
	await chat.addToolApprovalResponse({ id: second, approved: false, reason: "not b" });
	await expect.poll(() => chat.parts.at(-1)).toBe("Done");
	expect(chat.parts).toEqual([
		"step-start",
		"Two",
		"Shell output-available",
		"Shell output-denied",
		"step-start",
		"Done",
	]);
	expect(chat.messages).toHaveLength(2);
});

it("resumes a running turn in another window, from its beginning, and answers nothing when none runs", async () => {
	const { open } = await start([`text: Two\n${call("c1", "touch a")}`, "text: Done"]);
	const chat = open();
	await chat.resumeStream();
	expect(chat.messages).toEqual([]);
	await chat.sendMessage({ text: "Go" });
	const other = open();
	await other.resumeStream();
	expect(other.parts).toEqual(chat.parts);
	expect(other.lastMessage?.id).toBe(chat.lastMessage?.id);
	const [id = ""] = approvalIds(other);
	await other.addToolApprovalResponse({ id, approved: true });
	await expect.poll(() => other.parts.at(-1)).toBe("Done");
});

it("starts a message once, however often it is sent", async () => {
	const { open, api, headers, session } = await start(["text: Once", "text: Twice"]);
	const chat = open();
	await chat.sendMessage({ text: "Hi" });
	const [message] = chat.messages;
	const body = JSON.stringify({ id: session.id, messages: [message], trigger: "submit-message" });
	const response = await fetch(api, {
		method: "POST",
		headers: { ...headers, "content-type": "application/json" },
		body,
	});
	expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
	expect(await response.text()).toMatch(/"delta":"Once".*\ndata: \[DONE\]\n\n$/s);
});

it("stops the turn", async () => {
	const { open, api, headers, session } = await start([call("c1", "touch a"), "text: Done"]);
	await open().sendMessage({ text: "Go" });
	const stop = async () => (await fetch(`${api}/${session.id}/stop`, { method: "POST", headers })).json();
	expect(await stop()).toEqual({ stopped: true });
	await expect.poll(async () => (await session.snapshot()).turnId).toBe(null);
	expect(await stop()).toEqual({ stopped: false });
});

it.each<[string, object, number, string]>([
	["no session", { id: "nobody", messages: [{ id: "1", role: "user", parts: [] }] }, 404, "session-not-found"],
	["no message", { messages: [] }, 400, "invalid-input"],
	[
		"another answer",
		{ trigger: "regenerate-message", messages: [{ id: "1", role: "user", parts: [] }] },
		400,
		"unsupported",
	],
	[
		"a remote file",
		{ messages: [{ id: "1", role: "user", parts: [{ type: "file", mediaType: "image/png", url: "http://x" }] }] },
		400,
		"invalid-input",
	],
	["an answer of no one", { messages: [{ id: "1", role: "assistant", parts: [] }] }, 400, "invalid-input"],
])("refuses %s", async (_, body, status, code) => {
	const { api, headers, session } = await start([]);
	const response = await fetch(api, {
		method: "POST",
		headers: { ...headers, "content-type": "application/json" },
		body: JSON.stringify({ id: session.id, ...body }),
	});
	expect([response.status, await response.json()]).toMatchObject([status, { code }]);
});
