// The state of the page: which sessions there are, which one is open, and its conversation, always current over lost connections.
import { batch, computed, effect, signal } from "@preact/signals";
import type { SessionSummary } from "../src/api/session-list.ts";
import type { ContentPart, UserInput } from "../src/api/values/content.ts";
import type { Cursor } from "../src/api/values/event.ts";
import type { Answer } from "../src/api/values/interaction.ts";
import type { PromptFile } from "../src/api/values/prompt-file.ts";
import { type SessionMode, sessionModes, toSessionMode } from "../src/api/values/session-mode.ts";
import type { Result } from "../src/frontends/gateway/protocol.ts";
import type { PublicEvent } from "../src/frontends/shared/public-event.ts";
import { SessionView } from "./conversation.ts";
import { shownName } from "./texts.ts";
import { call, readHistory, readStream, type Snapshot, takeToken, WireError, windowName } from "./wire.ts";

export const access = signal<"none" | "control" | "observe">("none");
export const sessions = signal<readonly SessionSummary[] | null>(null);
/** The sessions in which something goes on, waits for a person, or went wrong last. */
export const busy = signal<ReadonlyMap<string, "running" | "waiting" | "failed">>(new Map());
export const archived = signal<readonly SessionSummary[]>([]);
export const models = signal<Result<"models.list"> | null>(null);
export const currentId = signal<string | null>(null);
export const workDir = signal("");
export const title = signal<string | null>(null);
export const mode = signal<SessionMode>("default");
export const model = signal<Snapshot["model"]>(null);
export const connection = signal<"loading" | "live" | "offline" | "closed">("loading");
/** Why the open session is not shown; null while it is. */
export const lost = signal<string | null>(null);
export const fault = signal<string | null>(null);
/** Something that was done, and what undoes it. */
export const notice = signal<{ readonly text: string; readonly undo: (() => Promise<unknown>) | null } | null>(null);
/** The earlier message that is being written anew, and what came with it. */
export const edited = signal<{
	readonly turnId: string;
	readonly text: string;
	readonly rest: readonly ContentPart[];
} | null>(null);
/** What is about to be forked: the session, or what was before a turn with this prompt. */
export const forking = signal<{ readonly before: string | null; readonly prompt: string } | null>(null);
export const tasks = signal<Result<"session.background-tasks">>([]);
/** The modes that can be chosen for the session. */
export const modes = signal<readonly SessionMode[]>(sessionModes);
export const commands = signal<Result<"session.description">["slashCommands"]>([]);
const emptyQueue: Result<"queue.list"> = { prompts: [], failure: null };
/** The prompts that wait for the end of the turn, the same in every window. */
export const queue = signal(emptyQueue);
/** Grows with every change of the conversation, at most once a frame. */
export const tick = signal(0);
/** Whether a turn runs. */
export const isWorking = computed(() => {
	void tick.value;
	return conversation.isRunning;
});
/** Grows with every message of this window: whoever sends one wants to see what comes of it. */
export const sent = signal(0);
/** Whether there is something before what is shown, and whether it is being read. */
export const hasEarlier = signal(false);
export const isReadingEarlier = signal(false);

export let conversation = new SessionView(windowName);
let earlier: number | null = null;
/** By this the gateway knows the stream of this window, and so the window that an answer comes from. */
let clientId: string | null = null;
let following: AbortController | null = null;
let isDrawn = true;

function draw(): void {
	if (!isDrawn) return;
	isDrawn = false;
	const show = () => {
		isDrawn = true;
		tick.value += 1;
	};
	// Hidden pages have no frames.
	if (document.hidden) setTimeout(show, 100);
	else requestAnimationFrame(show);
}

export function report(thrown: unknown): void {
	if (thrown instanceof WireError && thrown.code === "token") access.value = "none";
	fault.value = thrown instanceof Error ? thrown.message : String(thrown);
}

/** Does it, and shows why if it cannot be done. */
export function attempt(work: () => Promise<unknown>): void {
	fault.value = null;
	notice.value = null;
	work().catch(report);
}

export async function start(): Promise<void> {
	if (takeToken() === null) return;
	const info = await call("server.info", {});
	access.value = info.scope;
	await refresh();
	models.value = await call("models.list", {});
	const asked = /^#session=(.+)$/.exec(location.hash)?.[1];
	if (asked !== undefined) open(decodeURIComponent(asked));
	// With another token it goes on where it was.
	else if (currentId.value !== null) open(currentId.value);
}

/** Knows the answers that are newer than what is shown: one to an earlier request may come later. */
function createOrder(): (request: number) => boolean {
	let shown = 0;
	return (request) => {
		if (request < shown) return false;
		shown = request;
		return true;
	};
}

let refreshes = 0;
const isNewestList = createOrder();
const isNewestState = createOrder();

export async function refresh(): Promise<void> {
	refreshes += 1;
	const request = refreshes;
	const page = await call("sessions.list", { limit: 100 });
	if (isNewestList(request)) {
		sessions.value = page.sessions.filter((each) => each.archivedAt === null);
		archived.value = page.sessions.filter((each) => each.archivedAt !== null);
		const own = page.sessions.find((each) => each.id === currentId.value);
		if (own !== undefined) title.value = own.title;
	}
	const loaded = await call("sessions.loaded", {});
	if (!isNewestState(request)) return;
	busy.value = new Map(
		loaded
			.filter(({ isRunning, isWaiting, hasFailed }) => isRunning || isWaiting || hasFailed === true)
			.map(({ id, isWaiting, isRunning }) => [id, isWaiting ? "waiting" : isRunning ? "running" : "failed"]),
	);
}

export function open(sessionId: string): void {
	following?.abort();
	following = new AbortController();
	history.replaceState(null, "", `#session=${encodeURIComponent(sessionId)}`);
	currentId.value = sessionId;
	begin(null);
	title.value = sessions.value?.find((each) => each.id === sessionId)?.title ?? null;
	queue.value = emptyQueue;
	tasks.value = [];
	commands.value = [];
	connection.value = "loading";
	fault.value = null;
	edited.value = null;
	lost.value = null;
	tick.value += 1;
	void follow(sessionId, following.signal);
}

/** Follows a session until another one is opened: what was missed while offline is read from where it stopped. */
async function follow(sessionId: string, signal: AbortSignal): Promise<void> {
	let after: Cursor | null = null;
	for (let failures = 0; !signal.aborted; ) {
		try {
			if (after === null) {
				const page = await readHistory(sessionId, null, 400);
				if (signal.aborted) return;
				begin(page.before);
				lost.value = null;
				for (const event of page.events) conversation.take(event);
				after = page.cursor;
				draw();
				void describe(sessionId);
			}
			let pending: Snapshot | null = null;
			const settle = () => {
				if (pending === null || conversation.last < pending.cursor.seq) return;
				conversation.settle(pending);
				pending = null;
			};
			await readStream(sessionId, after, signal, (name, data) => {
				failures = 0;
				connection.value = "live";
				if (name === "state") {
					const state = data as { clientId: string; snapshot: Snapshot };
					clientId = state.clientId;
					pending = state.snapshot;
					showSnapshot(pending);
					settle();
				} else if (name === "e" || name === "v") {
					const event = data as PublicEvent;
					take(event);
					settle();
					if (event.seq !== undefined) after = { epoch: event.epoch ?? "", seq: event.seq };
				} else if (name === "queue") {
					queue.value = data as Result<"queue.list">;
				} else if (name === "reset") {
					begin(null);
				} else if (name === "failed" || name === "closed") connection.value = "closed";
				draw();
			});
		} catch (thrown) {
			if (signal.aborted) return;
			if (thrown instanceof WireError) {
				const isGone = thrown.code === "session-not-found";
				if (after === null && thrown.code !== "token") lost.value = thrown.message;
				else if (isGone || thrown.code === "token") report(thrown);
				if (isGone || thrown.code === "token") {
					connection.value = "closed";
					return;
				}
			}
		}
		if (signal.aborted) return;
		connection.value = "offline";
		draw();
		failures += 1;
		const wait = Math.min(5000, 300 * 2 ** Math.min(failures, 4));
		await new Promise<void>((resolve) => {
			setTimeout(resolve, wait);
			addEventListener("online", () => resolve(), { once: true });
		});
	}
}

/** Begins with an empty conversation, of which the events before this number are not read yet. */
function begin(before: number | null): void {
	conversation = new SessionView(windowName);
	earlier = before;
	hasEarlier.value = before !== null;
}

function take(event: PublicEvent): void {
	const waited = conversation.openInteractions.size;
	if (!conversation.take(event)) return;
	const waits = conversation.openInteractions.size;
	if (event.type === "mode.changed") mode.value = event.mode;
	if (event.type === "model.changed") model.value = event.model;
	if (event.type === "title.changed") {
		title.value = event.title;
		void refresh().catch(() => {});
	}
	if (event.type === "turn.started" && event.agentPath.length === 0) void refresh().catch(() => {});
	if (event.type === "turn.ended" && event.agentPath.length === 0) void refresh().catch(() => {});
	// What another program is asked, such as a hook, is none of them.
	if (waits !== waited) void refresh().catch(() => {});
	if (event.type === "tool.result" || event.type === "notification.raised") void refreshTasks();
	if (waits > waited && event.type === "interaction.requested") notifySoon(event.interaction.id);
}

/** Milliseconds in which the answer to a request has come too, if it was given while this window was offline. */
const answerSpan = 300;

function notifySoon(interactionId: string): void {
	if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
	const asked = conversation;
	setTimeout(() => {
		if (conversation !== asked || !conversation.openInteractions.has(interactionId)) return;
		new Notification("agentwire waits for you", { body: title.value ?? workDir.value, tag: "agentwire" });
	}, answerSpan);
}

function showSnapshot(snapshot: Snapshot): void {
	workDir.value = snapshot.workDir;
	model.value = snapshot.model;
	if (snapshot.title !== null) title.value = snapshot.title;
	mode.value = toSessionMode(snapshot);
	void refreshTasks();
}

async function describe(sessionId: string): Promise<void> {
	try {
		const found = await call("session.description", { sessionId });
		if (currentId.value !== sessionId) return;
		commands.value = found.slashCommands;
		modes.value = found.modes;
	} catch {
		// The palette is then empty; nothing else depends on it.
	}
}

async function refreshTasks(): Promise<void> {
	const sessionId = currentId.value;
	if (sessionId === null) return;
	try {
		const found = await call("session.background-tasks", { sessionId });
		if (currentId.value === sessionId) tasks.value = found;
	} catch {
		// The next result tries again.
	}
}

/** Puts a page of what came before before what is shown, which stays as it is. */
export async function showEarlier(): Promise<void> {
	const shown = conversation;
	if (currentId.value === null || earlier === null || isReadingEarlier.value) return;
	isReadingEarlier.value = true;
	try {
		const page = await readHistory(currentId.value, earlier, 1000);
		if (conversation !== shown) return;
		// Drawn at once: the place in the conversation is held by a single change of it.
		batch(() => {
			shown.prepend(page.events);
			earlier = page.before;
			hasEarlier.value = earlier !== null;
			isReadingEarlier.value = false;
			tick.value += 1;
		});
	} finally {
		isReadingEarlier.value = false;
	}
}

/** Begins a session, with a first message unless that is empty. */
export async function create(typed: string, message = ""): Promise<void> {
	const directory = typed === "" ? "" : (await findDirectories(typed)).path;
	const made = await call("sessions.create", directory === "" ? {} : { workDir: directory });
	await openAndSend(made.sessionId, message);
}

/** Opens a session with a scripted model: it shows what a session is like, and needs no key. */
export async function startDemo(): Promise<void> {
	const made = await call("sessions.demo", {});
	await openAndSend(made.sessionId, made.input);
}

async function openAndSend(sessionId: string, message: string): Promise<void> {
	open(sessionId);
	// Settings may reject what it asks before this window can answer.
	if (message !== "") await live();
	if (message !== "" && currentId.value === sessionId) await send(message);
	await refresh().catch(() => {});
}

/** Resolves once the stream of the open session has begun, or another session is opened. */
function live(): Promise<void> {
	const sessionId = currentId.value;
	return new Promise((resolve) => {
		const stop = effect(() => {
			if (connection.value !== "live" && currentId.value === sessionId) return;
			// The first time it is not known yet.
			queueMicrotask(() => stop());
			resolve();
		});
	});
}

/** The id of the open session. */
function opened(): string {
	if (currentId.value === null) throw new Error("No session is open.");
	return currentId.value;
}

export async function send(input: UserInput, files: PromptFile[] = []): Promise<void> {
	await call("turn.start", { sessionId: opened(), input, files });
	sent.value += 1;
}
export const steer = async (input: string, files: PromptFile[] = []) =>
	call("turn.steer", { sessionId: opened(), input, files });
/** What going back to before a turn would do to files. */
export const planRewind = async (before: string) =>
	(await call("session.rewind", { sessionId: opened(), before, conversation: false, dryRun: true })).plan;
/** What the turns from this one on changed in a file, the first change first. */
export async function changesSince(before: string, path: string) {
	const sessionId = opened();
	const { turns } = await call("files.changes", { sessionId });
	const since = turns.slice(
		Math.max(
			0,
			turns.findIndex(({ id }) => id === before),
		),
	);
	const changed = since.filter(({ files }) => files.some((file) => file.path === path));
	const diffs = await Promise.all(changed.map(({ id }) => call("files.diff", { sessionId, id, path })));
	return diffs.flatMap(({ blocks }) => blocks ?? []);
}

export async function rewind(
	before: string,
	files: boolean,
	conversation: boolean,
	conflicts: "skip" | "take",
): Promise<void> {
	const sessionId = opened();
	const { files: done } = await call("session.rewind", { sessionId, before, files, conversation, conflicts });
	const count = done?.restored.length ?? 0;
	const left = done?.left.length ?? 0;
	const id = done?.id ?? null;
	notice.value = {
		text: [
			conversation ? "Conversation rewound." : "",
			files
				? `${count} ${count === 1 ? "file" : "files"} restored${left === 0 ? "" : `, ${left} left as they are`}.`
				: "",
		].join(" "),
		undo: id === null ? null : () => call("files.restore", { sessionId, before: id, conflicts: "take" }),
	};
}

/** Goes back to before the turn and says something else, or the same again. Files stay as they are. */
export async function resend(turnId: string, input: UserInput, files: PromptFile[] = []): Promise<void> {
	await call("session.rewind", { sessionId: opened(), before: turnId, files: false });
	edited.value = null;
	await send(input, files);
}

export const rename = async (title: string) => call("sessions.rename", { sessionId: opened(), title });
export const stop = async () => call("turn.cancel", { sessionId: opened() });
export const findFiles = async (query: string) => call("files.find", { sessionId: opened(), query });

export const addToQueue = async (input: string, files: PromptFile[]) =>
	call("queue.add", { sessionId: opened(), input, files });
export const changeQueued = async (id: string, input: string) =>
	call("queue.change", { sessionId: opened(), id, input });
export const removeQueued = async (id: string) => call("queue.remove", { sessionId: opened(), id });
export const sendQueued = async (id: string) => call("queue.send", { sessionId: opened(), id });

export async function setMode(wanted: SessionMode): Promise<void> {
	mode.value = (await call("mode.set", { sessionId: opened(), mode: wanted })).mode;
}

/** Null leaves it as it is. */
export const setModel = async (alias: string | null, thinking: boolean | null) =>
	call("model.set", { sessionId: opened(), model: alias, thinking });

/** From before the turn, or with null from the end; with null files in the same directory. */
export async function fork(before: string | null, files: { directory: string; worktree?: boolean } | null) {
	const forked = await call("sessions.fork", {
		sessionId: opened(),
		...(before === null ? {} : { before }),
		...(files === null ? {} : { files }),
	});
	await refresh().catch(() => {});
	return forked;
}

export async function archive(): Promise<void> {
	const sessionId = opened();
	await call("sessions.archive", { sessionId });
	leave();
	notice.value = { text: "Session archived.", undo: () => unarchive(sessionId) };
	await refresh();
}

export async function unarchive(sessionId: string): Promise<void> {
	await call("sessions.unarchive", { sessionId });
	await refresh();
	open(sessionId);
}

export const findDirectories = async (typed: string) => call("directories.find", { typed });

/** Goes to where a session begins. */
export function leave(): void {
	following?.abort();
	lost.value = null;
	currentId.value = null;
	history.replaceState(null, "", location.pathname);
}

export async function stopTask(id: string): Promise<void> {
	await call("background-task.stop", { sessionId: opened(), id });
	await refreshTasks();
}

export async function respond(interactionId: string, answer: Answer): Promise<void> {
	const { settled, by } = await call("interaction.respond", {
		sessionId: opened(),
		interactionId,
		...(clientId === null ? {} : { clientId }),
		answer,
	});
	if (settled) return;
	const name = by?.kind === "client" ? by.name : null;
	fault.value = `Settled by another window${name === null ? "" : ` (${shownName(name)})`} before yours.`;
}
