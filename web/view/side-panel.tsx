// What the session changed, has to do, runs in the background, and costs.
import { conversation, models, tasks } from "../model/app.ts";
import { toShortCount } from "../text/words.ts";
import { Counts } from "./difference.tsx";
import { isPanelShown } from "./layout.ts";

const todoMarks = { pending: "○", in_progress: "◐", done: "●" } as const;
const todoWords = { pending: "to do", in_progress: "in progress", done: "done" } as const;

export function SidePanel() {
	const shown = conversation.value;
	if (shown === null || !isPanelShown.value) return null;
	const changes = [...shown.changes.values()];
	return (
		<aside class="panel" aria-label="Details">
			<section>
				<h2>Changes</h2>
				{changes.length === 0 ? (
					<p class="label">No file was changed.</p>
				) : (
					<ul>
						{changes.map(({ path, added, removed }) => (
							<li key={path} class="change">
								<code title={path}>{path}</code>
								<Counts added={added} removed={removed} />
							</li>
						))}
					</ul>
				)}
			</section>
			<section>
				<h2>To do</h2>
				{shown.todos.length === 0 ? (
					<p class="label">No list.</p>
				) : (
					<ul>
						{shown.todos.map(({ title, status }, index) => (
							<li key={index} class={`todo ${status}`}>
								<span role="img" aria-label={todoWords[status]}>
									{todoMarks[status]}
								</span>{" "}
								{title}
							</li>
						))}
					</ul>
				)}
			</section>
			<section>
				<h2>Background</h2>
				{tasks.value.length === 0 ? (
					<p class="label">Nothing runs.</p>
				) : (
					<ul>
						{tasks.value.map(({ id, description, status, command }) => (
							<li key={id} class="task">
								<span>{description}</span> <span class="label">{status}</span>
								{command !== null && <code title={command}>{command}</code>}
							</li>
						))}
					</ul>
				)}
			</section>
			{shown.mcp !== null && shown.mcp.total > 0 && (
				<section>
					<h2>MCP servers</h2>
					<ul>
						{shown.mcp.servers.map(({ name, status, tools }) => (
							<li key={name} class={`mcp ${status}`}>
								{name} <span class="label">{status === "connected" ? `${tools.length} tools` : status}</span>
							</li>
						))}
					</ul>
				</section>
			)}
			<section>
				<h2>Context and cost</h2>
				<Context />
			</section>
			{shown.clients.length > 1 && (
				<section>
					<h2>Looking at this</h2>
					<ul>
						{shown.clients.map(({ clientId, name }) => (
							<li key={clientId}>
								{name ?? "unnamed"}
								{clientId === shown.clientId ? " (this one)" : ""}
							</li>
						))}
					</ul>
				</section>
			)}
		</aside>
	);
}

function Context() {
	const shown = conversation.value;
	if (shown === null) return null;
	const { contextTokens, maximumTokens, contextUsage, usage } = shown;
	const share =
		contextUsage ?? (contextTokens !== null && maximumTokens !== null ? contextTokens / maximumTokens : null);
	const price = models.value?.options.find(({ alias }) => alias === shown.model?.alias)?.price ?? null;
	const input = usage.input_other + usage.input_cache_read + usage.input_cache_creation;
	const cost =
		price === null
			? null
			: (usage.input_other * price.input +
					usage.output * price.output +
					usage.input_cache_read * price.cacheRead +
					usage.input_cache_creation * price.cacheCreation) /
				1_000_000;
	return (
		<dl>
			<dt>Context</dt>
			<dd>
				{share === null ? "–" : `${Math.round(share * 100)} %`}
				{contextTokens !== null &&
					maximumTokens !== null &&
					` (${toShortCount(contextTokens)} of ${toShortCount(maximumTokens)})`}
				{share !== null && <meter value={share} max={1} high={0.8} aria-label="Context used" />}
			</dd>
			<dt>Tokens shown here</dt>
			<dd>
				{toShortCount(input)} in, {toShortCount(usage.output)} out
			</dd>
			{cost !== null && price !== null && (
				<>
					<dt>Cost</dt>
					<dd>
						{cost.toFixed(cost < 1 ? 3 : 2)} {price.currency}
					</dd>
				</>
			)}
		</dl>
	);
}
