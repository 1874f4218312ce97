import { expect, test } from 'vitest';
import { kafkaAddress } from '../../../src/journals/kafka/address.ts';
import { faultState } from '../../../src/journals/kafka/fault-state.ts';
import { manualClock } from '../../../src/model/clock.ts';

const rest = '//host/spans';
const away = new Error('away');
const refused = Object.assign(new Error('refused'), { apiId: 'NOT_ENOUGH_REPLICAS' });

function faults() {
  const address = kafkaAddress(rest);
  if (address === undefined) throw new Error('no address');
  const [clock, said] = [manualClock(), [] as unknown[]];
  const state = faultState(rest, address, { clock, logger: { warn: ({ cause }) => said.push(cause) } });
  return { ...state, clock, said };
}

test('fault state: a topic that can be read and takes no record is a fault until it takes one', () => {
  const { reading, sending, text } = faults();
  reading.answered();
  expect(text()).toBeUndefined();
  sending.failed(refused);
  reading.answered();
  expect(text()).toContain('has too few brokers for the topic');
  sending.answered();
  expect(text()).toBeUndefined();
});

test('fault state: ten seconds after the last refusal the service is ready for another try', () => {
  const { reading, sending, text, clock } = faults();
  reading.answered();
  sending.failed(refused);
  clock.advance(9_000);
  sending.failed(refused);
  clock.advance(9_000);
  expect(text()).toBeDefined();
  clock.advance(1_000);
  expect(text()).toBeUndefined();
});

test('fault state: while some partitions take records, or brokers are read, nothing is wrong with the whole', () => {
  const { reading, sending, text } = faults();
  reading.answered();
  sending.failed(refused, false);
  reading.failed(away, false);
  expect(text()).toBeUndefined();
});

test('fault state: the same fault is logged once, whether reading or sending finds it, and again after it was gone', () => {
  const { reading, sending, said } = faults();
  for (const where of [reading, sending, reading, sending]) where.failed(away);
  reading.answered();
  sending.answered(false);
  reading.failed(away);
  expect(said).toHaveLength(1);
  sending.answered();
  reading.answered();
  sending.failed(away);
  expect(said).toHaveLength(2);
});
