import { describe, expect, it } from "vitest";
import { createSessionDouble, storageFailure } from "../../../test/support/store/failing-session.ts";
import { createDeferred } from "../../base/deferred.ts";
import { ApprovalMode } from "./approval-mode.ts";
import { ApprovalState } from "./approval-state.ts";

async function createSubject() {
	const { stored } = await createSessionDouble();
	const state = new ApprovalState(stored);
	const mode = new ApprovalMode({ stored, state, yolo: false, afk: false, forbiddenModes: new Map() });
	/** As an approval for the session, of which the storing takes its time. */
	const grant = (pattern: string, until: Promise<void>) =>
		state.change(
			({ autoApproveActions }) => ({ autoApproveActions: [...autoApproveActions, pattern] }),
			async (changed) => {
				await until;
				await stored.commit({ state: changed });
			},
		);
	return { stored, mode, grant };
}

describe("what a session may do without asking", () => {
	it("keeps every change, also one that begins while another is being stored", async () => {
		const { stored, mode, grant } = await createSubject();
		const held = createDeferred<void>();
		const changes = [
			grant("Shell(make)", held.promise),
			mode.setYolo(true),
			grant("WebSearch", Promise.resolve()),
			mode.setAway(true),
		];
		held.resolve();
		await Promise.all(changes);
		expect(stored.state().approval).toEqual({
			yolo: true,
			afk: true,
			autoApproveActions: ["Shell(make)", "WebSearch"],
		});
	});

	it("has nothing of a change that could not be stored", async () => {
		const { stored, mode, grant } = await createSubject();
		const failing = grant("Shell(make)", Promise.reject(storageFailure));
		const next = mode.setYolo(true);
		await expect(failing).rejects.toThrow(storageFailure);
		await next;
		expect(stored.state().approval).toEqual({ yolo: true, afk: false, autoApproveActions: [] });
	});
});
