/** Sends what is ready in the lanes to one backend: a few items at a time, none while the circuit is open, one while it is half open. */
import type { Clock, Sleep } from '../../model/clock.ts';
import { circuitBreaker, type BreakerOptions, type Circuit } from '../../runtime/circuit-breaker.ts';
import type { Exporter, ExportFailure, ExportOutcome } from '../exporter.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import type { Entry, PerRunQueue } from './per-run-queue.ts';

export interface DeliveryWorkerOptions extends BreakerOptions {
  readonly exporter: Exporter;
  readonly held: PerRunQueue;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly sendingMax: number;
  /** What became of an item; it is still in its lane. `isProbe`: it says more about the backend than about the item. */
  readonly onOutcome: (entry: Entry, outcome: ExportOutcome, isProbe: boolean) => void;
  /** Told first, of every failure. */
  readonly onFailure: (outcome: ExportFailure) => void;
  /** The circuit is another one than before. `isKnown`: false where nothing is known of the backend any more. */
  readonly onCircuitChange: (circuit: Circuit, isKnown: boolean) => void;
  /** After every turn: there may be room for more. */
  readonly onTurn: () => void;
}

export interface DeliveryWorker {
  /** Sends what may be sent now. */
  pump(): void;
  circuit(): Circuit;
  /** Why the backend took nothing the last time; undefined: it takes what it gets. */
  fault(): string | undefined;
  /** While the circuit is open: when the backend is tried again. */
  retryAtMs(): number | undefined;
  /** Items that are on their way. */
  sending(): number;
  /** Tries a backend that is left alone at once. */
  wake(): void;
  /** Nothing is known of the backend any more. */
  forget(): void;
  /** Nothing is sent any more. */
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
    // Given up at the deadline of a stop: what the backend said afterwards no longer counts.
    if (held.has(entry)) onOutcome(entry, outcome, isProbe);
    pump();
  }

  /** A backend that refuses an item for good is there, and so is one that has not got yet what the item is about. */
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

/** Exporters promise never to reject; the queue must not stand still if one does. */
async function sent(exporter: Exporter, item: ExportItem): Promise<ExportOutcome> {
  try {
    return await exporter.send(item);
  } catch (error) {
    return { kind: 'failed', retryable: false, error: error instanceof Error ? error.name : 'unknown' };
  }
}
