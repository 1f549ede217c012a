// The versions of the contract of Meerkat RPC that a server can be asked to speak.

export interface ContractVersion {
	readonly major: number;
	readonly minor: number;
	readonly patch: number;
}

const form = /^0\.([3-9])(?:\.(\d{1,4}))?$/;

/** The last version of each minor that clients were published for; 0 where it is not known. */
const lastPatches: Readonly<Record<number, number>> = { 8: 52, 9: 8 };

/** What is spoken unless something else is asked for. */
export const defaultContract: ContractVersion = { major: 0, minor: 9, patch: 8 };

/** What a version must look like, for texts of errors. */
export const contractForm = "a version from 0.3 to 0.9, such as 0.8 or 0.9.6";

/** Reads `0.N` or `0.N.P`; null for anything else. */
export function parseContractVersion(text: string): ContractVersion | null {
	const [, minorText, patchText] = form.exec(text) ?? [];
	if (minorText === undefined) return null;
	const minor = Number(minorText);
	return { major: 0, minor, patch: patchText === undefined ? (lastPatches[minor] ?? 0) : Number(patchText) };
}
