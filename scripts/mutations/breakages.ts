// Deliberate breakages, one line of code each: what the fast tests have to notice. `find` is in its file exactly once.

export interface Breakage {
	/** In a few words what the product does wrong with it. */
	readonly name: string;
	/** Below src/. */
	readonly file: string;
	readonly find: string;
	readonly replace: string;
}

const dialects: readonly Breakage[] = [
	{
		name: "Kimi Wire delivers the session's own answer a second time, whole",
		file: "dialects/kimi/projection.ts",
		find: '"content.completed": deliveredOfSubagents,',
		replace: '"content.completed": delivered,',
	},
	{
		name: "Kimi Wire wraps the answer to a subagent's approval",
		file: "dialects/kimi/projection.ts",
		find: "...delivered({ ...event, agentPath: [] }, audience),",
		replace: "...delivered(event, audience),",
	},
	{
		name: "the version that brought something counts as one that lacks it",
		file: "messages/history.ts",
		find: "one[1] < other[1]",
		replace: "one[1] <= other[1]",
	},
	{
		name: "a cancelled step is delivered as interrupted",
		file: "messages/message-conversion.ts",
		find: 'reason === "error" ?',
		replace: 'reason !== "" ?',
	},
	{
		name: "a prompt is answered as finished when its turn was cancelled",
		file: "dialects/kimi/methods.ts",
		find: "return { status: outcome.status };",
		replace: 'return { status: "finished" };',
	},
	{
		name: "a request whose id is still open shares it",
		file: "dialects/event-pump.ts",
		find: "for (let n = 2; this.#peer.isWaiting(id); n += 1) id =",
		replace: "for (let n = 2; n < 2; n += 1) id =",
	},
	{
		name: "an answer by event leaves the request open for a second one",
		file: "dialects/event-pump.ts",
		find: "if (open === undefined || answer?.kind !== kind) return;\n\t\tthis.#forget(interactionId);",
		replace: "if (open === undefined || answer?.kind !== kind) return;",
	},
	{
		name: "a replay counts its requests among the events",
		file: "dialects/kimi/methods.ts",
		find: "counts.requests += 1;",
		replace: "counts.events += 1;",
	},
	{
		name: "legacy delivers the merged answer of the session's own agent",
		file: "dialects/legacy/projection.ts",
		find: "(agentPath.length === 0 ? merged : streamed)",
		replace: "(agentPath.length === 0 ? streamed : merged)",
	},
	{
		name: "legacy delivers a status without a context usage",
		file: "dialects/legacy/projection.ts",
		find: "context_usage === null ? null :",
		replace: "context_usage === undefined ? null :",
	},
	{
		name: "Meerkat counts the tokens of the last model call alone",
		file: "dialects/meerkat/projection/facts.ts",
		find: "usage: addUsage(facts.usage, body.token_usage)",
		replace: "usage: body.token_usage",
	},
	{
		name: "Meerkat numbers events from nought",
		file: "dialects/meerkat/hosted-session.ts",
		find: "sequence: this.#remembered.sequence + 1,",
		replace: "sequence: this.#remembered.sequence,",
	},
	{
		name: "Meerkat's first protocol gives the text of results",
		file: "dialects/meerkat/eras/seed.ts",
		find: "const { content: _, ...seed } = event;",
		replace: "const seed = event;",
	},
	{
		name: "Meerkat requests an approval before it has delivered the call",
		file: "dialects/meerkat/hosted-session.ts",
		find: "if (!this.#projection.isAnswering()) return [request];",
		replace: "if (this.#projection !== undefined) return [request];",
	},
];

const connection: readonly Breakage[] = [
	{
		name: "one request more than the limit is handled at once",
		file: "rpc/connection.ts",
		find: "this.#inFlight >= this.#maximumInFlight",
		replace: "this.#inFlight > this.#maximumInFlight",
	},
	{
		name: "the second reply to a request counts as well",
		file: "rpc/connection.ts",
		find: "this.#waiting.delete(id);\n\t\tonReply",
		replace: "onReply",
	},
];

const agent: readonly Breakage[] = [
	{
		name: "steps are counted from nought",
		file: "agent/turn.ts",
		find: 'dependencies.emit({ type: "step.started", n });',
		replace: 'dependencies.emit({ type: "step.started", n: n - 1 });',
	},
	{
		name: "the last allowed step is not taken",
		file: "agent/turn.ts",
		find: "n <= maxSteps",
		replace: "n < maxSteps",
	},
	{
		name: "a turn that was cancelled in a step has finished",
		file: "agent/turn.ts",
		find: 'reason: "cancelled" });\n\t\t\treturn { status: "cancelled" };',
		replace: 'reason: "cancelled" });\n\t\t\treturn { status: "finished" };',
	},
	{
		name: "a steer after the last answer does not prolong the turn",
		file: "agent/turn.ts",
		find: "if (goesOn || steered.any || !dependencies.steers.isEmpty()) continue;",
		replace: "if (goesOn || !dependencies.steers.isEmpty()) continue;",
	},
	{
		name: "a used-up budget does not end the turn before its next step",
		file: "agent/turn.ts",
		find: "const spent = dependencies.budget.exhausted();\n\t\tif (spent !== null) return failed(spent);\n\t\tconst step =",
		replace: "const step =",
	},
	{
		name: "what the model wrote is not counted into the context",
		file: "agent/step.ts",
		find: "inputTokens(usage) + usage.output",
		replace: "inputTokens(usage)",
	},
	{
		name: "every call gets the result of the first",
		file: "agent/step.ts",
		find: "const result = results[index]?.result;",
		replace: "const result = results[Math.min(index, 0)]?.result;",
	},
	{
		name: "a plain refusal ends the turn although another came with feedback",
		file: "agent/step.ts",
		find: ' && !rejections.includes("with-feedback")',
		replace: "",
	},
	{
		name: "the same call twice in an answer runs twice",
		file: "agent/running-calls.ts",
		find: "executions.get(key) ?? run(call)",
		replace: "run(call)",
	},
	{
		name: "the second of the same calls counts as the first",
		file: "agent/repetition.ts",
		find: "key === current.key ? current.count + 1 : 1",
		replace: "key === current.key ? current.count + 1 : 0",
	},
	{
		name: "the signature of a thought is lost",
		file: "agent/assembly.ts",
		find: 'if (part.type === "think") open.part = part;',
		replace: "",
	},
	{
		name: "one attempt more than allowed is made",
		file: "agent/retries.ts",
		find: "if (count >= limits.maxAttempts) return outcome;",
		replace: "if (count > limits.maxAttempts) return outcome;",
	},
	{
		name: "a cancel that comes while the intent is noted does not prevent the effect",
		file: "agent/tool-call.ts",
		find: "const executed = signal.aborted ? null : await attempt(() => runWatched(preparation, call, dependencies, signal));",
		replace: "const executed = await attempt(() => runWatched(preparation, call, dependencies, signal));",
	},
	{
		name: "an effect does not wait until its intent is persisted",
		file: "agent/tool-call.ts",
		find: "await journal.started(call, preparation.hasEffect);",
		replace: "void journal.started(call, preparation.hasEffect).catch(() => {});",
	},
];

const kernel: readonly Breakage[] = [
	{
		name: "an event is delivered before it is persisted",
		file: "kernel/clients/emitter.ts",
		find: "await this.#persist(batch);",
		replace: "void this.#persist(batch).catch(() => {});",
	},
	{
		name: "a client that was too slow misses the first event it lost",
		file: "kernel/clients/event-feed.ts",
		find: "this.#position = first - 1;",
		replace: "this.#position = first;",
	},
	{
		name: "a client that catches up gets an event twice",
		file: "kernel/clients/event-feed.ts",
		find: "this.#source.read(this.#position)",
		replace: "this.#source.read(Math.max(0, this.#position - 1))",
	},
	{
		name: "a client reads back what is stored and not yet delivered",
		file: "kernel/clients/event-feed.ts",
		find: "if (event.seq !== undefined && event.seq > this.#head) break reading;",
		replace: "",
	},
	{
		name: "the second answer of a client settles a request again",
		file: "kernel/interactions/interaction-table.ts",
		find: "this.#open.delete(interaction.id);",
		replace: 'if (settlement.by.kind !== "client") this.#open.delete(interaction.id);',
	},
	{
		name: "a snapshot shows a request that is not stored yet",
		file: "kernel/interactions/interaction-table.ts",
		find: "flatMap(({ request }) => request ?? [])",
		replace:
			'map(({ interaction, request }) => request ?? { sessionId: "", turnId: null, agentPath: [], at: 0, body: { type: "interaction.requested", interaction } })',
	},
	{
		name: "nothing is on stable storage before it is delivered",
		file: "kernel/clients/emitter.ts",
		find: "const sync = batch.some((entry) => entry.persistence.sync === true);",
		replace: "const sync = false;",
	},
	{
		name: "the end of a turn is not delivered when it could not be persisted",
		file: "kernel/turn/main-turn.ts",
		find: "emitter.deliverVolatile({ turnId: turn.id, agentPath: [] }, ended);",
		replace: "void emitter;",
	},
	{
		name: "the end of a turn within a turn is missing",
		file: "kernel/turn/command-run.ts",
		find: 'const ended = { type: "turn.ended", outcome: null } as const;',
		replace: 'const ended = { type: "compaction.ended" } as const;',
	},
	{
		name: "an approval that nobody answers is given",
		file: "kernel/interactions/interaction-table.ts",
		find: 'decision: "reject",',
		replace: 'decision: "approve",',
	},
	{
		name: "a deadline of one second never comes",
		file: "kernel/interactions/interaction-table.ts",
		find: "seconds > 0 ?",
		replace: "seconds > 1 ?",
	},
	{
		name: "an approval does not outlive its client",
		file: "kernel/interactions/interaction-table.ts",
		find: 'outlivesClient: "always",',
		replace: 'outlivesClient: "never",',
	},
	{
		name: "an answer of another kind is passed over, and the interaction stays open",
		file: "kernel/interactions/interaction-table.ts",
		find: "if (!isAnswerTo(answer, kind)) return false;",
		replace: 'if (!isAnswerTo(answer, kind)) return answer.kind !== "approval";',
	},
	{
		name: "an approval for the session settles open interactions that it does not cover",
		file: "kernel/interactions/approvals.ts",
		find: 'if (verdict?.decision !== "allow") continue;',
		replace: "",
	},
	{
		name: "an approval for the session is forgotten",
		file: "kernel/interactions/approvals.ts",
		find: "(state) => emitResolved({ state }),",
		replace: "() => emitResolved({}),",
	},
	{
		name: "calls are approved where no client gives approvals",
		file: "permissions/modes.ts",
		find: "return unattended[whenUnattended];",
		replace: "return unattended.approve;",
	},
	{
		name: "a mode approves what a rule refuses",
		file: "permissions/modes.ts",
		find: 'if (verdict !== null && verdict.decision !== "ask") return',
		replace: 'if (verdict !== null && verdict.decision === "allow") return',
	},
	{
		name: "a call runs on something else than was decided",
		file: "agent/tool-call.ts",
		find: "other?.action === decided.action && isDeepStrictEqual(other.subjects, decided.subjects)",
		replace: "other?.action === decided.action",
	},
	{
		name: "the last progress of a call is lost",
		file: "kernel/clients/progress-reports.ts",
		find: "progress.flush();",
		replace: "",
	},
	{
		name: "progress of calls fills the queue of a client that does not read",
		file: "kernel/clients/event-feed.ts",
		find: "(!this.#wantsProgress || this.isFull())",
		replace: "!this.#wantsProgress",
	},
	{
		name: "an approval that a cancel settled is a refusal",
		file: "kernel/interactions/approvals.ts",
		find: '(by.kind === "cancelled" || by.kind === "shutdown")',
		replace: 'by.kind === "shutdown"',
	},
	{
		name: "feedback with an approval is passed on",
		file: "kernel/interactions/approvals.ts",
		find: 'const feedback = answer.decision === "reject" ? answer.feedback : "";',
		replace: "const feedback = answer.feedback;",
	},
	{
		name: "a budget is used up only when it is exceeded",
		file: "kernel/budgets/budget-meter.ts",
		find: "this.#used[kind] >= limit * share",
		replace: "this.#used[kind] > limit * share",
	},
	{
		name: "the journal is not synced before an effect",
		file: "kernel/turn/turn-dependencies.ts",
		find: "await emit(started, { sync: hasEffect });",
		replace: "await emit(started, {});",
	},
	{
		name: "a crash is reported again at every start",
		file: "kernel/turn/recovery.ts",
		find: 'settle: async () => emit({ type: "recovery.reported" }),',
		replace: "settle: async () => {},",
	},
];

const store: readonly Breakage[] = [
	{
		name: "the lease is not looked at before a write",
		file: "store/disk/disk-session.ts",
		find: "await started;\n\t\tawait lease?.check();",
		replace: "await started;",
	},
	{
		name: "anybody's lease counts as our own",
		file: "store/disk/lease.ts",
		find: "if (found?.token === token) {",
		replace: "if (found !== null) {",
	},
	{
		name: "a half-written last line stays and is glued to the next record",
		file: "store/disk/logs/line-file.ts",
		find: "await files.truncate(path, rest);",
		replace: "",
	},
	{
		name: "what a failed append left is not cut off",
		file: "store/disk/logs/line-file.ts",
		find: "if (isOurs) await files.truncate(path, start);",
		replace: "",
	},
	{
		name: "what was appended is not synced",
		file: "store/disk/logs/line-file.ts",
		find: "unsynced = true;\n\t\tknownSize = isShort",
		replace: "knownSize = isShort",
	},
	{
		name: "the end of a call settles the newest open one of its id",
		file: "store/journal-summary.ts",
		find: "calls.findIndex(({ toolCallId }) => toolCallId === body.toolCallId);",
		replace: "calls.findLastIndex(({ toolCallId }) => toolCallId === body.toolCallId);",
	},
	{
		name: "a commit that could not be synced stays in the journal",
		file: "store/disk/journal/journal-writer.ts",
		find: "await journal.undo().catch(() => undefined);",
		replace: "",
	},
	{
		name: "records of half a group count",
		file: "store/disk/journal/journal-file.ts",
		find: "if (hasMore(line) || (line === null && open.length > 1)) continue;",
		replace: "",
	},
	{
		name: "opening reads the whole journal",
		file: "store/disk/journal/journal-opening.ts",
		find: "const last = await findLastSummary(files, path, { start, end: size }, origin);",
		replace: "const last = null as Awaited<ReturnType<typeof findLastSummary>>;",
	},
	{
		name: "what another program appended to the log is found again at each opening",
		file: "store/disk/journal/session-log.ts",
		find: "if (history.hasContent) {",
		replace: "if (isNew && history.hasContent) {",
	},
	{
		name: "a changed context of another program is not copied into the journal",
		file: "store/disk/journal/session-log.ts",
		find: "if (rows !== null) records.push(",
		replace: "if (rows !== null && isNew) records.push(",
	},
	{
		name: "an event that cannot be read loses its number",
		file: "store/disk/journal/journal-opening.ts",
		find: "lastSeq = Math.max(lastSeq + (record.seq === null ? 1 : 0), record.seq ?? 0);",
		replace: "",
	},
	{
		name: "nobody watches the lease",
		file: "store/disk/lease-watch.ts",
		find: "if (!lease.isWatchable) return;",
		replace: "return;",
	},
	{
		name: "all leases are looked at in the same moment",
		file: "store/disk/lease-watch.ts",
		find: "moments[moment] = least + 1;",
		replace: "moments[moment] = least;",
	},
	{
		name: "half a request holds up the end of the gateway",
		file: "gateway/http-server.ts",
		find: "if (!awaited.has(socket)) socket.destroy();",
		replace: "{}",
	},
	{
		name: "a log that lacks what the journal has is not repaired",
		file: "store/disk/journal/projections.ts",
		find: 'if (repairs.wire.kind === "append") await wire.append(repairs.wire.missing);',
		replace: "",
	},
	{
		name: "the last summary of the journal is not folded into what follows",
		file: "store/disk/journal/journal-opening.ts",
		find: "new RunningSummary(last?.summary)",
		replace: "new RunningSummary()",
	},
	{
		name: "times of the log are milliseconds",
		file: "store/disk/logs/event-log.ts",
		find: "timestamp: event.at / 1000,",
		replace: "timestamp: event.at,",
	},
];

const hooks: readonly Breakage[] = [
	{
		name: "the last hook that blocks gives the reason",
		file: "hooks/selection.ts",
		find: "decisions.find(",
		replace: "decisions.findLast(",
	},
	{
		name: "identical commands run as often as they are there",
		file: "hooks/selection.ts",
		find: "if (!commands.has(hook.command)) selected.push({ hook, refusal });",
		replace: "selected.push({ hook, refusal });",
	},
	{
		name: "a hook that fails closed allows when its matcher cannot be used",
		file: "hooks/selection.ts",
		find: "if (result.ok ? !result.isFound : !hook.failClosed) continue;",
		replace: "if (!result.ok || !result.isFound) continue;",
	},
	{
		name: "a hook that crashes allows although it is to block then",
		file: "hooks/command-hook.ts",
		find: "return hook.failClosed ?",
		replace: 'return hook.command === "" ?',
	},
	{
		name: "the end of a hook's interaction is not delivered",
		file: "kernel/turn/hook-runner.ts",
		find: 'await emit({ type: "interaction.resolved", interactionId: interaction.id, answer, by });',
		replace: "",
	},
	{
		name: "hooks are delivered before any handshake",
		file: "kernel/turn/hook-runner.ts",
		find: "clients.areAnnounced && emit !== null ? emit",
		replace: "emit !== null ? emit",
	},
];

const tools: readonly Breakage[] = [
	{
		name: "ReadFile begins a line late",
		file: "tools/files/read-file.ts",
		find: "if (line.number < offset ||",
		replace: "if (line.number <= offset ||",
	},
	{
		name: "the end of a file is read from one line too far up",
		file: "tools/files/read-file.ts",
		find: "const lines = last.slice(-span).slice(0, count);",
		replace: "const lines = last.slice(-span - 1).slice(0, count);",
	},
	{
		name: "Shell takes exit code 1 for success",
		file: "tools/shell.ts",
		find: "if (ended.exitCode === 0) return",
		replace: "if (ended.exitCode <= 1) return",
	},
	{
		name: "an output of just the limit counts as shortened",
		file: "tools/output-builder.ts",
		find: "if (fitting.length + end.length <= room) {",
		replace: "if (fitting.length + end.length < room) {",
	},
	{
		name: "of several edits only the first is made",
		file: "tools/files/string-replace-file.ts",
		find: "const edits = Array.isArray(edit) ? edit : [edit];",
		replace: "const edits = Array.isArray(edit) ? edit.slice(0, 1) : [edit];",
	},
];

const permissions: readonly Breakage[] = [
	{
		name: "the first verdict of the policies counts, not the worst",
		file: "permissions/policy.ts",
		find: "if (worst === null || isOpen(worst) || isWorse(verdict.decision, worst.decision)) worst = verdict;",
		replace: "worst ??= verdict;",
	},
	{
		name: "the first rule that speaks of a call counts, not the worst",
		file: "permissions/rules/ruling.ts",
		find: "if (worst === null || isWorse(rule.decision, worst.decision)) worst = rule;",
		replace: "worst ??= rule;",
	},
	{
		name: "yolo approves what a rule denies",
		file: "permissions/modes.ts",
		find: "\tconst { isYolo, isAway, approvesWhileAway, canAsk, whenUnattended } = circumstances;",
		replace:
			'\tconst { isYolo, isAway, approvesWhileAway, canAsk, whenUnattended } = circumstances;\n\tif (isYolo) return { decision: "allow", by: "mode", reason: "" };',
	},
	{
		name: "a project's file is trusted whatever its content",
		file: "kernel/compose/trusted-files.ts",
		find: "Object.hasOwn(trusted.files, file) && trusted.files[file] === hash",
		replace: 'Object.hasOwn(trusted.files, file) && hash !== ""',
	},
	{
		name: "a project's rules allow without trust",
		file: "kernel/compose/permissions.ts",
		find: 'all.push(...rules.filter(({ decision }) => trusted || decision !== "allow"));',
		replace: "all.push(...rules);",
	},
	{
		name: "rules are in force although one of them is unsound",
		file: "kernel/compose/permissions.ts",
		find: "if (problems.length > 0) {",
		replace: "if (problems.length > 100) {",
	},
	{
		name: "an approval for the session covers the whole program",
		file: "permissions/rules/command-grants.ts",
		find: 'tokens.map(quoted).join(" ")}',
		replace: 'tokens.slice(0, 1).map(quoted).join(" ")}',
	},
	{
		name: "a link is judged by the file that it leads to alone",
		file: "permissions/rules/rule-judge.ts",
		find: "[subject.path, ...(subject.named === undefined ? [] : [subject.named])]",
		replace: "[subject.path]",
	},
	{
		name: "what may not be read may be edited",
		file: "permissions/rules/file-judge.ts",
		find: 'if (read === null || read.decision === "allow") return write;',
		replace: "if (read === null || roots.length > 0) return write;",
	},
	{
		name: "a decision is not in the journal",
		file: "kernel/interactions/approvals.ts",
		find: 'await emit({ type: "permission.decided", toolCallId: call.id, ...decided }, {});',
		replace: "void decided;",
	},
	{
		name: "an approval for the session does not wait for another change of approvals",
		file: "kernel/interactions/approval-state.ts",
		find: 'await this.#changes.run("", async () => {',
		replace: "await this.#changes.run(String(Math.random()), async () => {",
	},
	{
		name: "a command leaves the sandbox unasked",
		file: "permissions/sandbox-policy.ts",
		find: 'subject.kind === "command" && subject.outsideSandbox === true)',
		replace: 'subject.kind === "task" && subject.operation !== "stop")',
	},
	{
		name: "hidden paths can be read in the sandbox",
		file: "sandbox/policy.ts",
		find: "...credentialFiles.map(atHome),\n\t\t\t...shareDirs,",
		replace: "",
	},
	{
		name: "a command gets the keys of model providers",
		file: "sandbox/environment.ts",
		find: "!keyNames.has(name.toUpperCase()) && !values.has(value)",
		replace: "keyNames.size > 0 && values.size >= 0",
	},
];

const gateway: readonly Breakage[] = [
	{
		name: "the gateway lets tokens that observe open a socket",
		file: "gateway/gateway.ts",
		find: 'if (scope !== "control") throw new HttpRefusal(403, "This token may only observe; /events',
		replace: 'if (scope === null) throw new HttpRefusal(403, "This token may only observe; /events',
	},
	{
		name: "a gateway socket says the token again",
		file: "gateway/sockets/handshake.ts",
		find: "names.find((name) => name === plainProtocol) ?? ",
		replace: "",
	},
	{
		name: "a gateway socket loses what comes with its handshake",
		file: "gateway/sockets/sockets.ts",
		find: "\t\t\t\tsocket.pause();\n",
		replace: "",
	},
	{
		name: "an editor that is gone from the gateway still counts as a client",
		file: "dialects/acp/session-requests.ts",
		find: "(attached) => attached.detach(),\n\t\t\t\t() => {},",
		replace: "() => {},\n\t\t\t\t() => {},",
	},
	{
		name: "a title of the gateway is replaced by an input",
		file: "kernel/session/session-title.ts",
		find: "this.#pending > 0 || ",
		replace: "",
	},
	{
		name: "a file of the gateway is not what its type says",
		file: "gateway/files.ts",
		find: "known.magic !== null && ",
		replace: "known.magic === undefined && known.magic !== null && ",
	},
];

export const breakages: readonly Breakage[] = [
	...dialects,
	...connection,
	...agent,
	...kernel,
	...store,
	...hooks,
	...tools,
	...permissions,
	...gateway,
];
