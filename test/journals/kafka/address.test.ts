import { expect, test } from 'vitest';
import { kafkaAddress, kafkaName } from '../../../src/journals/kafka/address.ts';

const plain = { brokers: ['host:9092'], topic: 'otlp_spans', group: 'tracejury', tls: false, sasl: undefined };

test.each([
  ['//host:9092/otlp_spans', plain],
  ['//host/otlp_spans', plain],
  ['//one:1,two:2/otlp_spans', { ...plain, brokers: ['one:1', 'two:2'] }],
  ['//[::1]:9092/otlp_spans', { ...plain, brokers: ['[::1]:9092'] }],
  ['//host/otlp_spans?tls=true&group=night', { ...plain, tls: true, group: 'night' }],
  ['//me:a%2Fb@host/otlp_spans', { ...plain, sasl: { mechanism: 'SCRAM-SHA-256', username: 'me', password: 'a/b' } }],
  ['//me:x@host/otlp_spans?sasl=plain', { ...plain, sasl: { mechanism: 'PLAIN', username: 'me', password: 'x' } }],
])('kafka address: %s', (rest, address) => {
  expect(kafkaAddress(rest)).toEqual(address);
});

test.each([
  'host:9092/otlp_spans',
  '//host:9092',
  '//host:9092/',
  '//host:9092/a/b',
  '//host:port/otlp_spans',
  '//host,/otlp_spans',
  '//me@host/otlp_spans',
  '//:x@host/otlp_spans',
  '//host/otlp_spans?tls=maybe',
  '//host/otlp_spans?ssl=true',
  '//me:x@host/otlp_spans?sasl=gssapi',
  '//me:%zz@host/otlp_spans',
])('kafka address: %s is none', (rest) => {
  expect(kafkaAddress(rest)).toBeUndefined();
});

test('kafka address: its name has no login and no parameters', () => {
  expect(kafkaName('//me:secret@one:1,two/otlp_spans?tls=true')).toBe('kafka://one:1,two:9092/otlp_spans');
});
