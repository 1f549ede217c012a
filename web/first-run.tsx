// For somebody without a model: choose a provider and give its key, sign in, or try the demo. Loaded when it is shown.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Params, Result } from "../src/frontends/gateway/protocol.ts";
import { access, attempt, models, startDemo } from "./store.ts";
import { call } from "./wire.ts";

type Provider = Params<"models.offered">["provider"];
type Offered = Result<"models.offered">["models"];

const providerNames: Readonly<Record<Provider, string>> = {
	moonshot: "Kimi (Moonshot AI)",
	anthropic: "Anthropic",
	openai: "OpenAI",
	gemini: "Google Gemini",
	compatible: "Another OpenAI-compatible service",
};
const choices = ["moonshot", "anthropic", "openai", "gemini", "compatible"] as const;

/** Tokens, where the provider does not say. */
const usualContext = 128_000;

export function FirstRun({ onDone }: { readonly onDone: (() => void) | null }): JSX.Element {
	const mayControl = access.value === "control";
	const done = async () => {
		models.value = await call("models.list", {});
		onDone?.();
	};
	return (
		<div class="first-run">
			<section>
				<h2>Use an API key</h2>
				<KeyForm mayControl={mayControl} onDone={done} />
			</section>
			<section>
				<h2>Sign in with a Kimi account</h2>
				<SignIn mayControl={mayControl} onDone={done} />
			</section>
			<section>
				<h2>Try it without a model</h2>
				<p class="quiet">
					A scripted session in a small project of its own shows how the agent works and what it asks.
				</p>
				<button type="button" disabled={!mayControl} onClick={() => attempt(startDemo)}>
					Try the demo
				</button>
			</section>
		</div>
	);
}

interface PartProps {
	readonly mayControl: boolean;
	readonly onDone: () => Promise<void>;
}

function KeyForm({ mayControl, onDone }: PartProps): JSX.Element {
	const [provider, setProvider] = useState<Provider>("moonshot");
	const [key, setKey] = useState("");
	const [baseUrl, setBaseUrl] = useState("");
	const [offered, setOffered] = useState<Offered | null>(null);
	const [model, setModel] = useState("");
	const [context, setContext] = useState(usualContext);
	const [isBusy, setBusy] = useState(false);
	const entry = { provider, key: key.trim(), ...(baseUrl.trim() === "" ? {} : { baseUrl: baseUrl.trim() }) };
	const choose = (id: string, from: Offered) => {
		setModel(id);
		setContext(from.find((each) => each.id === id)?.contextSize ?? usualContext);
	};
	const busily = (work: () => Promise<void>) => {
		setBusy(true);
		attempt(() => work().finally(() => setBusy(false)));
	};
	const test = () =>
		busily(async () => {
			const found = (await call("models.offered", entry)).models;
			setOffered(found);
			choose(found[0]?.id ?? "", found);
		});
	const save = () =>
		busily(async () => {
			await call("models.configure", { ...entry, model, contextSize: context });
			setKey("");
			await onDone();
		});
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (offered === null) test();
				else save();
			}}
		>
			<label>
				Provider
				<select
					value={provider}
					onChange={(event) => {
						const wanted = choices.find((each) => each === event.currentTarget.value);
						if (wanted !== undefined) setProvider(wanted);
						setOffered(null);
					}}
				>
					{choices.map((each) => (
						<option key={each} value={each}>
							{providerNames[each]}
						</option>
					))}
				</select>
			</label>
			{provider === "compatible" ? (
				<label>
					Address of the API
					<input
						class="mono"
						type="url"
						required
						placeholder="https://models.example.com/v1"
						value={baseUrl}
						onInput={(event) => {
							setBaseUrl(event.currentTarget.value);
							setOffered(null);
						}}
					/>
				</label>
			) : null}
			<label>
				API key
				<input
					class="mono"
					type="password"
					autoComplete="off"
					required={provider !== "compatible"}
					value={key}
					onInput={(event) => {
						setKey(event.currentTarget.value);
						setOffered(null);
					}}
				/>
			</label>
			{offered === null ? null : (
				<>
					<label>
						Model
						<select value={model} onChange={(event) => choose(event.currentTarget.value, offered)}>
							{offered.map(({ id, name }) => (
								<option key={id} value={id}>
									{name === id ? id : `${name} (${id})`}
								</option>
							))}
						</select>
					</label>
					<label>
						Context window, in tokens
						<input
							type="number"
							min={1000}
							required
							value={context}
							onInput={(event) => setContext(event.currentTarget.valueAsNumber)}
						/>
					</label>
				</>
			)}
			<p class="quiet">
				The key is saved in the gateway's <code>config.toml</code>, which only you can read. This page does not keep it.
			</p>
			<button type="submit" class="main" disabled={!mayControl || isBusy}>
				{offered === null ? (isBusy ? "Asking the provider …" : "Test the key") : "Use this model"}
			</button>
		</form>
	);
}

function SignIn({ mayControl, onDone }: PartProps): JSX.Element {
	const [state, setState] = useState<Result<"account.status">>({ status: "none", prompt: null, message: null });
	const isOpen = state.status === "starting" || state.status === "waiting";
	useEffect(() => {
		if (!isOpen) return;
		const look = async () => {
			const now = await call("account.status", {}).catch(() => null);
			if (now === null) return;
			setState(now);
			if (now.status === "done") await onDone();
		};
		const timer = setInterval(() => void look(), 1000);
		return () => clearInterval(timer);
	}, [isOpen]);
	const start = () => attempt(async () => setState(await call("account.sign-in", {})));
	if (state.status === "done") return <p>Signed in.</p>;
	if (isOpen) {
		const { prompt } = state;
		return (
			<div class="sign-in" aria-live="polite">
				{prompt === null ? (
					<p>Asking the platform …</p>
				) : (
					<>
						<p>Open this address, and confirm that it shows the same code:</p>
						<p>
							{/^https?:/i.test(prompt.url) ? (
								<a href={prompt.url} target="_blank" rel="noopener noreferrer">
									{prompt.url}
								</a>
							) : (
								prompt.url
							)}
						</p>
						<p class="code-word mono">{prompt.code}</p>
					</>
				)}
				<button type="button" onClick={() => attempt(async () => setState(await call("account.cancel", {})))}>
					Cancel
				</button>
			</div>
		);
	}
	return (
		<>
			<p class="quiet">You confirm a code on the Kimi platform; its models are then set up for you.</p>
			{state.message === null ? null : <p class="warning-text">{state.message}</p>}
			<button type="button" disabled={!mayControl} onClick={start}>
				Sign in
			</button>
		</>
	);
}
