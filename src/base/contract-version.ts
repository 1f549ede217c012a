export interface ContractVersion {
	readonly major: number;
	readonly minor: number;
	readonly patch: number;
}

const form = /^0\.([3-9])(?:\.(\d{1,4}))?$/;

/** The last patch of each minor with published clients; 0 if unknown. */
const lastPatches: Readonly<Record<number, number>> = { 8: 52, 9: 8 };

export const defaultContract: ContractVersion = { major: 0, minor: 9, patch: 8 };

export const contractForm = "a version from 0.3 to 0.9, such as 0.8 or 0.9.6";

/** Parses `0.N` or `0.N.P`; null otherwise. */
export function parseContractVersion(text: string): ContractVersion | null {
	const [, minorText, patchText] = form.exec(text) ?? [];
	if (minorText === undefined) return null;
	const minor = Number(minorText);
	return { major: 0, minor, patch: patchText === undefined ? (lastPatches[minor] ?? 0) : Number(patchText) };
}
