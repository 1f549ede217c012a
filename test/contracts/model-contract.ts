// What every model implementation promises, whatever provider it uses. Run from a test next to each implementation.
import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../src/core/models/model.ts";
import { collectChunks, plainRequest } from "../support/models/model-conversation.ts";

/** `answers` streams parts and ends well, `fails` ends in a failure, `long` streams more than one pull can bring. */
export type ModelScenario = "answers" | "fails" | "long";

export interface OpenedModel {
	readonly model: Model;
	/** How many requests the source that the model uses has seen. */
	requestsSeen(): number;
	close(): Promise<void>;
}

/** Declares the suite; `open` prepares a model whose next request plays the scenario. */
export function describeModelContract(name: string, open: (scenario: ModelScenario) => Promise<OpenedModel>): void {
	describe(`model contract: ${name}`, () => {
		const opened: OpenedModel[] = [];
		const openFor = async (scenario: ModelScenario): Promise<OpenedModel> => {
			const next = await open(scenario);
			opened.push(next);
			return next;
		};
		afterEach(async () => {
			for (const { close } of opened.splice(0)) await close();
		});

		it("has a name and a context size", async () => {
			const { model } = await openFor("answers");
			expect(model.name).not.toBe("");
			expect(model.maxContextSize).toBeGreaterThan(0);
		});

		it("streams parts and ends with exactly one done", async () => {
			const { model } = await openFor("answers");
			const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
			expect(chunks.length).toBeGreaterThan(1);
			expect(chunks.slice(0, -1).every(({ type }) => type === "parts")).toBe(true);
			expect(chunks.at(-1)?.type).toBe("done");
		});

		it("continues a tool call only right after it", async () => {
			const { model } = await openFor("answers");
			const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
			const types = chunks.flatMap((chunk) => (chunk.type === "parts" ? chunk.parts.map((part) => part.type) : []));
			expect(types).toContain("tool_call_part");
			for (const [index, type] of types.entries()) {
				if (type === "tool_call_part") expect(["function", "tool_call_part"]).toContain(types[index - 1]);
			}
		});

		it("ends a failure with exactly one failed, and does not throw", async () => {
			const { model } = await openFor("fails");
			const chunks = await collectChunks(model.stream(plainRequest, new AbortController().signal));
			expect(chunks.slice(0, -1).every(({ type }) => type === "parts")).toBe(true);
			const last = chunks.at(-1);
			expect(last?.type === "failed" && last.failure.message !== "").toBe(true);
		});

		it("sends no request until the first chunk is pulled", async () => {
			const { model, requestsSeen } = await openFor("answers");
			const iterator = model.stream(plainRequest, new AbortController().signal)[Symbol.asyncIterator]();
			await new Promise((resolve) => setImmediate(resolve));
			expect(requestsSeen()).toBe(0);
			await iterator.next();
			expect(requestsSeen()).toBe(1);
			await iterator.return?.();
		});

		it("yields nothing and sends no request when it is aborted before it begins", async () => {
			const { model, requestsSeen } = await openFor("answers");
			expect(await collectChunks(model.stream(plainRequest, AbortSignal.abort()))).toEqual([]);
			expect(requestsSeen()).toBe(0);
		});

		it("ends soon and without a last chunk when aborted between two pulls", async () => {
			const { model } = await openFor("long");
			const controller = new AbortController();
			const iterator = model.stream(plainRequest, controller.signal)[Symbol.asyncIterator]();
			expect((await iterator.next()).value).toMatchObject({ type: "parts" });
			controller.abort();
			const rest = await collectChunks({ [Symbol.asyncIterator]: () => iterator });
			expect(rest.length).toBeLessThanOrEqual(1);
			expect(rest.every(({ type }) => type === "parts")).toBe(true);
		});

		it("can be abandoned before its end", async () => {
			const { model } = await openFor("long");
			for await (const chunk of model.stream(plainRequest, new AbortController().signal)) {
				expect(chunk.type).toBe("parts");
				break;
			}
		});
	});
}
