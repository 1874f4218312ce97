/** Reads runs from the store, with the turns before them, and makes examples of them. */
import type { RunKey } from '../model/agent-trace.ts';
import type { DatasetExample, ExampleOrigin } from '../model/example.ts';
import { isJsonObject, member } from '../model/json.ts';
import type { Store, StoredRun } from '../model/store/store.ts';
import { earlierTurnsMax, exampleOfRun, type NoExampleReason, type Turns } from './run-example.ts';
import { present } from '../model/present.ts';

export interface RunExamples {
  readonly examples: readonly DatasetExample[];
  /** Runs that make none. */
  readonly leftOut: readonly { readonly run: RunKey; readonly reason: NoExampleReason }[];
}

interface FromRuns {
  readonly origin: ExampleOrigin;
  readonly tags: readonly string[];
  readonly split?: string | undefined;
  /** Redacted sessions cannot be distinguished, so their runs have no earlier turns. */
  readonly isRedacted: (sessionId: string) => boolean;
}

export async function examplesOfRuns(store: Store, keys: readonly RunKey[], options: FromRuns): Promise<RunExamples> {
  const examples: DatasetExample[] = [];
  const leftOut: { readonly run: RunKey; readonly reason: NoExampleReason }[] = [];
  for (const key of keys) {
    const run = await store.run(key);
    const made = run === undefined ? 'not_stored' : exampleOfRun(run, await turnsBefore(store, run, options), options);
    if (typeof made === 'string') leftOut.push({ run: key, reason: made });
    else examples.push(made);
  }
  return { examples, leftOut };
}

const noTurns: Turns = { runs: [], missing: 0 };

/** Turns of the same session, agent and service that ended before the run began. A sub-agent's run is not a turn, and has none. */
async function turnsBefore(store: Store, run: StoredRun, { isRedacted }: Pick<FromRuns, 'isRedacted'>): Promise<Turns> {
  const { tenant, sessionId, agent, service, startedAt } = run;
  if (sessionId === undefined || sessionId === '' || isRedacted(sessionId) || isSubAgent(run)) return noTurns;
  const page = await store.runs(present({ tenant, sessionId, to: startedAt, limit: earlierTurnsMax, agent, service }));
  const turns: StoredRun[] = [];
  let missing = page.next === undefined ? 0 : 1;
  for (const row of page.runs.toReversed()) {
    if (row.endedAt > startedAt) continue;
    const turn = await store.run(row);
    if (turn === undefined || isSubAgent(turn)) continue;
    if (turn.content === undefined) missing++;
    else turns.push(turn);
  }
  return { runs: turns, missing };
}

function isSubAgent({ content = {} }: StoredRun): boolean {
  return isJsonObject(member(content, 'parent'));
}
