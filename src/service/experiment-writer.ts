/** Runs whose spans name an experiment become its results: each verdict as the service has it, also those of judges that come later. */
import type { PriceTable } from '../../evaluators/pricing/prices.ts';
import type { Run } from '../model/agent-trace.ts';
import { wire } from '../model/attributes.ts';
import { type ExperimentResult, isExperimentId, statusOfVerdicts } from '../model/experiment.ts';
import { member } from '../model/json.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import type { AddedResult, ExperimentKey } from '../model/store/experiment-store.ts';
import type { Store } from '../model/store/store.ts';
import { agentFacts, inputExcerpt, resultVerdict, usageOf } from '../pipeline/reporting/experiment-result.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

interface ExperimentWriterOptions {
  readonly store: Pick<Store, 'experiments'>;
  readonly telemetry: Telemetry;
  readonly prices: () => PriceTable;
  readonly onFault: (error: unknown) => void;
}

export interface ExperimentWriter {
  /** Takes note of a run of an experiment; any other run is no work. */
  offer(item: ScoredRun): void;
  /** Resolves when all that was offered is written. */
  stop(): Promise<void>;
}

/** Results that wait for the store; more are left out and counted. */
export const waitingResultsMax = 10_000;
const exampleIdCharsMax = 200;

interface Waiting {
  readonly key: ExperimentKey;
  readonly result: ExperimentResult & Required<Pick<ExperimentResult, 'run'>>;
}

export function experimentWriter({ store: { experiments }, telemetry, prices, onFault }: ExperimentWriterOptions): ExperimentWriter {
  const waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  const count = (outcome: string): void => telemetry.add('tracejury.experiments.results', 1, { 'tracejury.outcome': outcome });

  async function written({ key, result }: Waiting): Promise<AddedResult> {
    const outcome = await experiments.merge(key, result);
    if (outcome !== 'unknown') return outcome;
    const begun = await experiments.begin({
      ...key,
      name: key.id,
      repeats: 1,
      state: 'running',
      beganAt: result.beganAt,
      endedAt: undefined,
      provenance: {},
      evaluators: [],
    });
    return begun === 'full' ? 'full' : await experiments.merge(key, result);
  }

  async function drain(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        const outcome = await written(next);
        count(outcome === 'added' ? 'added' : outcome === 'known' ? 'merged' : 'refused');
      } catch (error) {
        count('failed');
        onFault(error);
      }
    }
    writing = undefined;
  }

  return {
    offer(item) {
      const found = resultOf(item, prices());
      if (found === undefined) return;
      if (waiting.length >= waitingResultsMax) return count('left_out');
      waiting.push(found);
      writing ??= drain();
    },
    async stop() {
      await writing;
    },
  };
}

/** `undefined` for a run of no experiment, a sub-agent, and a run that is part of another one. */
function resultOf({ run, evaluations }: ScoredRun, prices: PriceTable): Waiting | undefined {
  if (run.parent !== undefined || run.partOf !== undefined || run.session !== undefined) return undefined;
  const [id, exampleId] = [member(run.resourceAttributes, wire.experimentId), member(run.resourceAttributes, wire.exampleId)];
  if (typeof id !== 'string' || !isExperimentId(id) || typeof exampleId !== 'string' || exampleId.length > exampleIdCharsMax)
    return undefined;
  const verdicts = evaluations.map(({ key, evaluator, verdict }) => resultVerdict({ name: key.name, evaluator, verdict }));
  return {
    key: { tenant: run.tenant, id },
    result: {
      exampleId,
      repeat: 1,
      status: statusOfVerdicts(verdicts),
      ...(run.trace.input === undefined ? {} : { input: inputExcerpt(run.trace.input) }),
      run: { traceId: run.traceId, spanId: run.spanId },
      ...timesOf(run),
      ...usageOf([run.trace], prices),
      agent: agentFacts(run),
      verdicts,
    },
  };
}

/** A later time is not exact as a double. */
const lastMicros = BigInt(Number.MAX_SAFE_INTEGER);

function timesOf({ startUnixNano, endUnixNano }: Run): Pick<ExperimentResult, 'beganAt' | 'endedAt' | 'tookMicros'> {
  const micros = (nano: bigint): number => Number(nano / 1_000n > lastMicros ? lastMicros : nano / 1_000n);
  const [beganAt, endedAt] = [micros(startUnixNano), micros(endUnixNano)];
  return { beganAt, endedAt, tookMicros: Math.max(0, endedAt - beganAt) };
}
