import { expect, test } from 'vitest';
import { kafkaFault } from '../../../src/journals/kafka/fault.ts';

const address = { brokers: ['host:9092'], topic: 'spans', group: 'tracejury', tls: false, sasl: undefined };

/** An error as the client wraps it: one for each broker and try. */
function met(...codes: readonly string[]): Error {
  const [code = '', ...inner] = codes;
  const error = Object.assign(new AggregateError(inner.length === 0 ? [] : [met(...inner)], 'secret'), { code });
  return error;
}

test.each<readonly [name: string, error: unknown, words: string]>([
  ['a login', met('PLT_KFK_MULTIPLE', 'PLT_KFK_AUTHENTICATION', 'SASL_AUTHENTICATION_FAILED'), 'refuses the login'],
  ['a mechanism', met('PLT_KFK_AUTHENTICATION', 'UNSUPPORTED_SASL_MECHANISM'), 'refuses the login'],
  ['a login without TLS', met('PLT_KFK_MULTIPLE', 'PLT_KFK_AUTHENTICATION', 'PLT_KFK_NETWORK'), 'tls=true'],
  ['TLS where there is none', met('PLT_KFK_MULTIPLE', 'PLT_KFK_NETWORK', 'PLT_KFK_USER', 'ECONNRESET'), 'tls=true'],
  ['an unknown authority', met('PLT_KFK_MULTIPLE', 'PLT_KFK_NETWORK', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'NODE_EXTRA_CA_CERTS'],
  ['a certificate of another host', met('PLT_KFK_NETWORK', 'ERR_TLS_CERT_ALTNAME_INVALID'), 'names another host'],
  ['an old certificate', met('PLT_KFK_NETWORK', 'CERT_HAS_EXPIRED'), 'is not valid now'],
  ['a topic', new Error('Unknown topic spans.'), 'there is no topic spans'],
  ['a right', met('PLT_KFK_RESPONSE', 'GROUP_AUTHORIZATION_FAILED'), 'does not permit it'],
  ['a large record', met('PLT_KFK_RESPONSE', 'MESSAGE_TOO_LARGE'), 'max.message.bytes'],
  ['brokers of a topic', met('PLT_KFK_RESPONSE', 'NOT_ENOUGH_REPLICAS'), 'min.insync.replicas'],
  ['no answer', met('PLT_KFK_MULTIPLE', 'PLT_KFK_NETWORK', 'ECONNREFUSED'), 'does not answer'],
  ['something else', 'secret', 'does not answer'],
])('kafka fault: %s', (_, error, words) => {
  const { cause, todo } = kafkaFault(error, '//me:secret@host:9092/spans', address);
  expect(`${cause} ${todo}`).toContain(words);
  expect(cause).toMatch(/^kafka:\/\/host:9092\/spans/);
  expect(`${cause} ${todo}`).not.toContain('secret');
});
