// Beside the conversation: what was changed, what is left to do, what runs in the background, what it took.
import type { JSX } from "preact";
import type { McpStatus } from "../src/api/values/event.ts";
import { isFinal } from "../src/api/values/task-status.ts";
import { access, attempt, connection, conversation, model, models, stopTask, tasks, tick, workDir } from "./store.ts";
import { withinProject } from "./tool-words.ts";
import { Visible } from "./visible.tsx";

export const count = (value: number) =>
	value < 1000
		? String(value)
		: value < 1_000_000
			? `${(value / 1000).toFixed(1)}k`
			: `${(value / 1_000_000).toFixed(1)}M`;

const serverWords: Readonly<Record<McpStatus["servers"][number]["status"], string>> = {
	pending: "waits",
	connecting: "connecting",
	connected: "connected",
	failed: "failed",
	unauthorized: "needs a sign-in: agentwire mcp auth",
};

export function Panel(): JSX.Element {
	void tick.value;
	const { changes, todo, context, used, mcp, budget } = conversation.totals;
	const usage = context.usage ?? 0;
	const price = models.value?.options.find(({ alias }) => alias === model.value?.alias)?.price ?? null;
	const cost =
		price === null
			? null
			: ((price.input ?? 0) * (used.input + used.cached) + (price.output ?? 0) * used.output) / 1_000_000;
	const listed = changes.size + (todo?.length ?? 0) + tasks.value.length + (mcp?.total ?? 0);
	// Not shown as a panel then.
	const isEmpty = listed === 0 && conversation.turns.length === 0;
	return (
		<aside
			class={`panel ${isEmpty ? "bare" : ""}`}
			aria-label="Changes, todo, background, context"
			data-connection={connection.value}
		>
			<section hidden={changes.size === 0}>
				<h2>Changes</h2>
				<ul>
					{[...changes.values()].map(({ path, added, removed }) => (
						<li class="change" title={path}>
							<span class="mono">
								<bdi>{withinProject(path, workDir.value)}</bdi>
							</span>
							<span>
								<span class="plus">+{added}</span> <span class="minus">−{removed}</span>
							</span>
						</li>
					))}
				</ul>
			</section>
			<section hidden={(todo?.length ?? 0) === 0}>
				<h2>Todo</h2>
				<ul class="todo">
					{(todo ?? []).map((item) => (
						<li class={item.status}>{item.title}</li>
					))}
				</ul>
			</section>
			<section hidden={tasks.value.length === 0}>
				<h2>Background</h2>
				<ul class="tasks">
					{tasks.value.map((task) => (
						<li key={task.id}>
							<span>
								<Visible text={task.description} /> <span class="quiet">{task.status.replaceAll("_", " ")}</span>
							</span>
							{isFinal(task.status) ? null : (
								<button
									type="button"
									disabled={access.value !== "control"}
									aria-label={`Stop ${task.description}`}
									onClick={() => attempt(() => stopTask(task.id))}
								>
									Stop
								</button>
							)}
						</li>
					))}
				</ul>
			</section>
			<section>
				<h2>Context and cost</h2>
				<meter aria-label="Context used" min={0} max={1} high={0.8} value={usage} />
				<p>
					{count(context.tokens ?? 0)}
					{(context.limit ?? 0) === 0 ? "" : ` of ${count(context.limit ?? 0)}`} tokens ({Math.round(100 * usage)} %)
				</p>
				{used.input + used.cached + used.output === 0 ? null : (
					<p class="quiet">
						{count(used.input)} in · {count(used.cached)} cached · {count(used.output)} out
					</p>
				)}
				{cost === null ? null : <p>≈ {cost.toFixed(cost < 1 ? 3 : 2)} at the configured prices</p>}
				{budget === null ? null : <p class="warning-text">{budget}</p>}
			</section>
			{mcp === null || mcp.total === 0 ? null : (
				<section>
					<h2>Tool servers</h2>
					<p class="quiet">
						{mcp.loading ? "Connecting: " : ""}
						{mcp.connected} of {mcp.total} connected
					</p>
					<ul class="tasks">
						{mcp.servers.map(({ name, status, tools }) => (
							<li key={name}>
								<span>{name}</span>
								<span class={status === "failed" || status === "unauthorized" ? "warning-text" : "quiet"}>
									{status === "connected"
										? `${tools.length} ${tools.length === 1 ? "tool" : "tools"}`
										: serverWords[status]}
								</span>
							</li>
						))}
					</ul>
				</section>
			)}
		</aside>
	);
}
