import { type Json, toJsonLine } from "../../base/json.ts";

export interface SignInEvent {
	readonly type: "info" | "error" | "waiting" | "verification_url" | "success";
	readonly message: string;
	readonly data: { readonly [key: string]: Json } | null;
}

export type ReportSignIn = (event: SignInEvent) => void;

export function toEventLine({ type, message, data }: SignInEvent): string {
	return `${toJsonLine({ type, message, data })}\n`;
}

export function toEventText({ type, message, data }: SignInEvent): string {
	if (type !== "verification_url" || data === null) return `${message}\n`;
	return `${message}\n\n  ${String(data["verification_url"])}\n\nCode: ${String(data["user_code"])}\n\n`;
}
