import { parentPort, workerData } from "node:worker_threads";
import { readPageText } from "./web-page.ts";

// An error ends the thread, and its starter receives the error.
void readPageText(workerData).then((page) => parentPort?.postMessage(page));
