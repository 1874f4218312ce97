/** Sends ready items to one backend: up to `sendingMax` at a time, none while the circuit is open, one while it is half open. */
import { circuitBreaker, type BreakerOptions, type Circuit } from '../../runtime/circuit-breaker.ts';
import type { Exporter, ExportFailure, ExportOutcome } from '../exporter.ts';
import { unexpectedFailure } from './export-outcome.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import type { Entry, PerRunQueue } from './per-run-queue.ts';
import type { Context } from '../../telemetry/context.ts';

export interface DeliveryWorkerOptions extends BreakerOptions, Pick<Context, 'clock' | 'sleep'> {
  readonly exporter: Exporter;
  readonly held: PerRunQueue;
  readonly sendingMax: number;
  /** The item is still in the queue. `isProbe`: the outcome concerns the backend rather than the item. */
  readonly onOutcome: (entry: Entry, outcome: ExportOutcome, isProbe: boolean) => void;
  /** Called before `onOutcome`, at every failure. */
  readonly onFailure: (outcome: ExportFailure) => void;
  /** `isKnown`: false when the circuit closes without an answer of the backend. */
  readonly onCircuitChange: (circuit: Circuit, isKnown: boolean) => void;
  /** Called after every round of sending: there may be room for more items. */
  readonly onTurn: () => void;
}

export interface DeliveryWorker {
  /** Sends ready items as far as the limits allow. */
  pump(): void;
  circuit(): Circuit;
  /** Error of the last failure; `undefined` when the backend takes items. */
  fault(): string | undefined;
  /** Time of the next probe; `undefined` unless the circuit is open. */
  retryAtMs(): number | undefined;
  /** Items that are being sent. */
  sending(): number;
  /** Ends the wait of an open circuit. */
  wake(): void;
  /** Closes the circuit, as the state of the backend is unknown. */
  forget(): void;
  /** Sends nothing afterwards. */
  stop(): Promise<void>;
}

export function deliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { exporter, held, sendingMax, onFailure, onOutcome, onCircuitChange, onTurn } = options;
  const backend = circuitBreaker({ ...options, onHalfOpen });
  let sending = 0;
  let isStopped = false;
  let fault: string | undefined;

  function maySend(): boolean {
    const circuit = backend.circuit();
    if (isStopped) return false;
    return circuit === 'closed' ? sending < sendingMax : circuit === 'half_open' && sending === 0;
  }

  function pump(): void {
    while (maySend()) {
      const entry = held.next();
      if (entry === undefined) break;
      void attempt(entry);
    }
    onTurn();
  }

  async function attempt(entry: Entry): Promise<void> {
    const isProbe = backend.circuit() === 'half_open';
    entry.state = 'sending';
    if (!isProbe) entry.attempts++;
    sending++;
    const outcome = await sent(exporter, entry.item);
    sending--;
    noteOutcome(outcome);
    // A stop may have given the item up at its deadline; a later answer changes nothing.
    if (held.has(entry)) onOutcome(entry, outcome, isProbe);
    pump();
  }

  /** A backend that refuses an item for good, or misses its span, is up. */
  function noteOutcome(outcome: ExportOutcome): void {
    const before = backend.circuit();
    if (outcome.kind === 'failed') onFailure(outcome);
    if (outcome.kind === 'sent' || !outcome.retryable || 'isMissing' in outcome) {
      fault = undefined;
      backend.succeeded();
    } else {
      fault = outcome.error;
      backend.failed(outcome.retryAfterMs);
    }
    if (backend.circuit() !== before) onCircuitChange(backend.circuit(), true);
  }

  function onHalfOpen(): void {
    onCircuitChange(backend.circuit(), true);
    pump();
  }

  return {
    pump,
    circuit: backend.circuit,
    fault: () => fault,
    retryAtMs: backend.retryAtMs,
    sending: () => sending,
    wake: backend.wake,
    forget() {
      fault = undefined;
      backend.succeeded();
      onCircuitChange(backend.circuit(), false);
    },
    async stop() {
      isStopped = true;
      backend.stop();
      await exporter.stop();
    },
  };
}

/** An exporter that rejects against its contract must not stop the queue. */
async function sent(exporter: Exporter, item: ExportItem): Promise<ExportOutcome> {
  try {
    return await exporter.send(item);
  } catch (error) {
    return unexpectedFailure(error);
  }
}
