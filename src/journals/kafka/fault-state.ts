/** The fault of the brokers that is in force. A new one is logged. */
import type { JournalDeps } from '../journal.ts';
import type { KafkaAddress } from './address.ts';
import { kafkaFault, signsOf, type KafkaFault } from './fault.ts';

export interface FaultState {
  /** A request failed. `isAll`: none of the brokers that were asked answers. */
  failed(error: unknown, isAll?: boolean): void;
  /** A broker has answered. `isAll`: none fails. */
  answered(isAll?: boolean): void;
  /** Cause and remedy; `undefined` while the brokers answer. */
  text(): string | undefined;
}

/** `rest`: the part of the address behind `kafka:`. */
export function faultState(rest: string, address: KafkaAddress, logger: JournalDeps['logger']): FaultState {
  let fault: KafkaFault | undefined = { cause: 'Kafka has not answered yet.', todo: '' };
  let told = '';
  return {
    failed(error, isAll = true) {
      const found = kafkaFault(error, rest, address);
      const text = `${found.cause} ${found.todo}`;
      if (isAll) fault = found;
      if (text === told) return;
      told = text;
      logger.warn({ cause: found.cause, todo: found.todo, signs: signsOf(error) }, 'the journal cannot use Kafka');
    },
    answered(isAll = true) {
      fault = undefined;
      if (isAll) told = '';
    },
    text: () => (fault === undefined ? undefined : `${fault.cause} ${fault.todo}`.trim()),
  };
}
