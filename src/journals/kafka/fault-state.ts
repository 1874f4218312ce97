/** The faults of the brokers that are in force. A new one is logged. */
import type { JournalDeps } from '../journal.ts';
import type { KafkaAddress } from './address.ts';
import { kafkaFault, signsOf, type KafkaFault } from './fault.ts';

export interface Faults {
  /** A request failed. `isAll`: none of the brokers or partitions in question does better. */
  failed(error: unknown, isAll?: boolean): void;
  /** A request succeeded. `isAll`: no other one fails. */
  answered(isAll?: boolean): void;
}

export interface FaultState {
  readonly reading: Faults;
  /** Brokers that let a topic be read may refuse each record for it. */
  readonly sending: Faults;
  /** Cause and remedy; `undefined` while the brokers answer. */
  text(): string | undefined;
}

/** A replica that is not ready gets no records to try, so it has to become ready again by itself. */
const refusedMs = 10_000;

/** `rest`: the part of the address behind `kafka:`. */
export function faultState(rest: string, address: KafkaAddress, { logger, clock }: Pick<JournalDeps, 'logger' | 'clock'>): FaultState {
  const told = new Map<'reading' | 'sending', string>();
  let reading: KafkaFault | undefined = { cause: 'Kafka has not answered yet.', todo: '' };
  let sending: { readonly fault: KafkaFault; readonly atMs: number } | undefined;

  function tell(where: 'reading' | 'sending', error: unknown): KafkaFault {
    const fault = kafkaFault(error, rest, address);
    const text = `${fault.cause} ${fault.todo}`;
    const isTold = [...told.values()].includes(text);
    told.set(where, text);
    if (!isTold) logger.warn({ ...fault, signs: signsOf(error) }, 'the journal cannot use Kafka');
    return fault;
  }

  return {
    reading: {
      failed(error, isAll = true) {
        const fault = tell('reading', error);
        if (isAll) reading = fault;
      },
      answered(isAll = true) {
        reading = undefined;
        if (isAll) told.delete('reading');
      },
    },
    sending: {
      failed(error, isAll = true) {
        const fault = tell('sending', error);
        if (isAll) sending = { fault, atMs: clock.nowMs() };
      },
      answered(isAll = true) {
        sending = undefined;
        if (isAll) told.delete('sending');
      },
    },
    text() {
      const refused = sending !== undefined && clock.nowMs() < sending.atMs + refusedMs ? sending.fault : undefined;
      const fault = reading ?? refused;
      return fault === undefined ? undefined : `${fault.cause} ${fault.todo}`.trim();
    },
  };
}
