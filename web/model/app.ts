// What the page knows and does: the sessions, the one that is open, and the requests of the person.
import { batch, computed, signal } from "@preact/signals";
import type { UserInput } from "../../src/events/content.ts";
import type { Answer } from "../../src/events/interaction.ts";
import type { GatewayEvent, Result } from "../../src/gateway/protocol.ts";
import type { ModelList, SessionInfo } from "../../src/kernel/api.ts";
import type { SessionSummary } from "../../src/store/session-store.ts";
import { followEvents, type StreamMessage } from "../wire/event-source.ts";
import { Refused, Requests } from "../wire/requests.ts";
import { forgetToken, storeToken, takeToken } from "../wire/token.ts";
import { type Ask, Conversation, type Mode } from "./conversation.ts";

/** Events of the history that are read at once. */
const pageSize = 400;
/** Milliseconds between two looks at which sessions run. */
const listSpan = 5_000;

export type Connection = "connecting" | "open" | "offline";
type Description = Result<"session.description">;
type Task = Result<"session.background-tasks">[number];

export interface OpenSession {
	readonly id: string;
	readonly conversation: Conversation;
	/** The number before which there are more events; null at the beginning. */
	before: number | null;
	stop(): void;
}

export const token = signal<string | null>(takeToken());
export const server = signal<Result<"server.info"> | null>(null);
export const sessions = signal<readonly SessionSummary[]>([]);
export const loaded = signal<readonly SessionInfo[]>([]);
export const models = signal<ModelList | null>(null);
export const open = signal<OpenSession | null>(null);
/** Another number for each change of the open session. */
export const revision = signal(0);
export const connection = signal<Connection>("connecting");
export const isLoading = signal(false);
/** What went wrong last, for the person; null once it is seen. */
export const trouble = signal<string | null>(null);
export const description = signal<Description | null>(null);
export const tasks = signal<readonly Task[]>([]);
export const isListed = signal(false);

export const mayControl = computed(() => server.value?.scope === "control");
/** Read anew with every change: it is changed in its place. */
export const conversation = {
	get value(): Conversation | null {
		void revision.value;
		return open.value?.conversation ?? null;
	},
};
/** Whether a session is running that is not the open one. */
export const running = computed(() => new Set(loaded.value.filter(({ isRunning }) => isRunning).map(({ id }) => id)));

let requests: Requests | null = null;
let listTimer: ReturnType<typeof setTimeout> | undefined;

function need(): Requests {
	if (requests === null) throw new Error("There is no token yet.");
	return requests;
}

/** Does what the person asked for, and says what went wrong. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | null> {
	try {
		return await work();
	} catch (thrown) {
		if (thrown instanceof Refused && thrown.status === 401) signOut();
		trouble.value = thrown instanceof Error ? thrown.message : String(thrown);
		return null;
	}
}

export async function start(): Promise<void> {
	if (token.value === null) return;
	requests = new Requests(token.value);
	await attempt(async () => {
		const info = await need().call("server.info", {});
		server.value = info;
		const [list] = await Promise.all([
			need()
				.call("models.list", {})
				.catch(() => null),
			refresh(),
		]);
		models.value = list;
		const wanted = new URLSearchParams(location.search).get("session");
		if (wanted !== null) await openSession(wanted);
	});
	if (server.value === null && token.value !== null) connection.value = "offline";
}

export async function signIn(given: string): Promise<void> {
	storeToken(given);
	token.value = given;
	await start();
}

export function signOut(): void {
	forgetToken();
	open.value?.stop();
	batch(() => {
		token.value = null;
		server.value = null;
		open.value = null;
	});
}

/** Reads the lists again, now and from time to time. */
export async function refresh(): Promise<void> {
	clearTimeout(listTimer);
	try {
		const [page, active] = await Promise.all([
			need().call("sessions.list", { limit: 200 }),
			need().call("sessions.loaded", {}),
		]);
		batch(() => {
			sessions.value = page.sessions.filter(({ archivedAt }) => archivedAt === null);
			loaded.value = active;
			isListed.value = true;
		});
		const id = open.value?.id;
		if (id !== undefined) tasks.value = await need().call("session.background-tasks", { sessionId: id });
	} finally {
		listTimer = setTimeout(() => void refresh().catch(() => {}), document.hidden ? 6 * listSpan : listSpan);
	}
}

export async function openSession(id: string): Promise<void> {
	if (open.value?.id === id) return;
	open.value?.stop();
	const conversation = new Conversation();
	const observes = server.value?.scope !== "control";
	let stop = () => {};
	const session: OpenSession = { id, conversation, before: null, stop: () => stop() };
	batch(() => {
		open.value = session;
		description.value = null;
		tasks.value = [];
		isLoading.value = true;
		connection.value = "connecting";
		revision.value += 1;
	});
	history.replaceState(null, "", `${location.pathname}?session=${encodeURIComponent(id)}`);
	await attempt(async () => {
		const page = await need().history(id, null, pageSize);
		if (open.value !== session) return;
		for (const event of page.events) conversation.take(event);
		conversation.cursor = page.cursor;
		session.before = page.before;
		stop = followEvents({
			sessionId: id,
			headers: need().headers,
			clientName: windowName(),
			observes,
			cursor: () => conversation.cursor,
			take: (message) => takeMessage(session, message),
		});
		description.value = await need().call("session.description", { sessionId: id });
		tasks.value = await need().call("session.background-tasks", { sessionId: id });
	});
	isLoading.value = false;
}

/** What other windows are told of this one. */
function windowName(): string {
	return /Mobi/.test(navigator.userAgent) ? "page on a phone" : "page";
}

let isDrawing = false;

/** Draws at most once a frame, however many events come. */
function changed(): void {
	if (isDrawing) return;
	isDrawing = true;
	const draw = () => {
		isDrawing = false;
		revision.value += 1;
	};
	if (document.hidden) setTimeout(draw, 100);
	else requestAnimationFrame(draw);
}

function takeMessage(session: OpenSession, message: StreamMessage): void {
	if (open.value !== session) return;
	const { conversation } = session;
	switch (message.kind) {
		case "connection":
			connection.value = message.isOpen ? "open" : "offline";
			break;
		case "state":
			conversation.takeState(message.clientId, message.snapshot);
			break;
		case "event":
			conversation.take(message.event);
			if (message.event.type === "turn.ended" || message.event.type === "turn.started") void refresh().catch(() => {});
			if (message.event.type === "interaction.requested") notifyOf(message.event);
			break;
		case "reset":
			session.stop();
			open.value = null;
			void openSession(session.id);
			return;
		case "failed":
			trouble.value = message.text;
			break;
		case "closed":
			break;
	}
	changed();
}

/** Tells a person who looks elsewhere that they are waited for, if they allowed it. */
function notifyOf(event: Extract<GatewayEvent, { type: "interaction.requested" }>): void {
	if (!document.hidden || !("Notification" in globalThis) || Notification.permission !== "granted") return;
	const { interaction } = event;
	const body = interaction.kind === "approval" ? interaction.description : "The agent has a question.";
	new Notification("agentwire waits for you", { body: body.slice(0, 200), tag: interaction.kind });
}

export async function readEarlier(): Promise<void> {
	const session = open.value;
	if (session === null || session.before === null) return;
	await attempt(async () => {
		const page = await need().history(session.id, session.before, pageSize);
		session.conversation.prepend(page.events);
		session.before = page.before;
		changed();
	});
}

export async function createSession(workDir: string | null): Promise<void> {
	await attempt(async () => {
		const { sessionId } = await need().call("sessions.create", workDir === null ? {} : { workDir });
		await refresh();
		await openSession(sessionId);
	});
}

export async function sendPrompt(input: UserInput, asSteer: boolean): Promise<boolean> {
	const session = open.value;
	if (session === null) return false;
	// Somebody who asks for something is there to be told about it.
	if ("Notification" in globalThis && Notification.permission === "default") void Notification.requestPermission();
	const method = asSteer ? "turn.steer" : "turn.start";
	const sent = await attempt(async () => {
		await need().call(method, { sessionId: session.id, input });
		return true;
	});
	return sent === true;
}

export async function stopTurn(): Promise<void> {
	const session = open.value;
	if (session === null || session.conversation.turnId === null) return;
	await attempt(() => need().call("turn.cancel", { sessionId: session.id }));
}

export async function answer(ask: Ask, given: Answer): Promise<void> {
	const session = open.value;
	if (session === null || ask.isAnswered) return;
	ask.isAnswered = true;
	changed();
	const { clientId } = session.conversation;
	const settled = await attempt(() =>
		need().call("interaction.respond", {
			sessionId: session.id,
			interactionId: ask.interaction.id,
			...(clientId === null ? {} : { clientId }),
			answer: given,
		}),
	);
	if (settled === null) ask.isAnswered = false;
	else if (!settled.settled) trouble.value = "It was settled in another window first.";
	changed();
}

export async function setMode(mode: Mode): Promise<void> {
	const session = open.value;
	if (session === null) return;
	const set = await attempt(() => need().call("mode.set", { sessionId: session.id, mode }));
	if (set !== null) session.conversation.mode = set.mode;
	changed();
}

export async function setModel(model: string | null, thinking: boolean | null): Promise<void> {
	const session = open.value;
	if (session === null) return;
	const set = await attempt(() => need().call("model.set", { sessionId: session.id, model, thinking }));
	if (set !== null) session.conversation.model = set;
	changed();
}

export async function rename(title: string): Promise<void> {
	const session = open.value;
	if (session === null || title.trim() === "") return;
	const set = await attempt(() => need().call("sessions.rename", { sessionId: session.id, title: title.trim() }));
	if (set !== null) session.conversation.title = set.title;
	changed();
	await refresh().catch(() => {});
}

export async function archive(id: string): Promise<void> {
	await attempt(async () => {
		await need().call("sessions.archive", { sessionId: id });
		if (open.value?.id === id) leave();
		await refresh();
	});
}

export async function fork(id: string): Promise<void> {
	await attempt(async () => {
		const { sessionId } = await need().call("sessions.fork", { sessionId: id });
		await refresh();
		await openSession(sessionId);
	});
}

function leave(): void {
	open.value?.stop();
	open.value = null;
	history.replaceState(null, "", location.pathname);
}
