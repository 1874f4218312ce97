/** TLS to backends, of every exporter: backends with a private authority, and those that demand a client certificate. */
import type { SecureServerOptions } from 'node:http2';
import { afterEach, expect, test } from 'vitest';
import type { ExportOutcome } from '../../src/exporters/exporter.ts';
import { destination } from '../../src/exporters/forward/sender.ts';
import { exporters } from '../../src/exporters/index.ts';
import { probeMetrics } from '../../src/exporters/metrics/metrics-push.ts';
import { tlsOptions } from '../../src/receivers/tls.ts';
import { mutualTls, serverTls } from '../receivers/certificates.ts';
import { exporterOf, failing, family, memberAt, type Member } from './family.ts';
import { familyServer } from './family-server.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

type Way = Pick<Member, 'name' | 'to' | 'keys' | 'speaks'> & {
  readonly reach: (entry: Awaited<ReturnType<typeof memberAt>>) => Promise<ExportOutcome>;
};

/** One request with everything that all others have. */
const scores: readonly Way[] = family.map((member) => ({
  ...member,
  async reach(entry) {
    const exporter = exporterOf(entry);
    ends.push(exporter.stop);
    return await (exporter.probe?.() ?? exporter.send(failing));
  },
}));
const spans: readonly Way[] = family
  .filter(({ to }) => to === 'forward')
  .map((member) => ({
    ...member,
    name: `${member.name}, spans`,
    async reach(entry) {
      if (entry.to !== 'forward') throw new Error('no target');
      const out = destination(entry);
      ends.push(out.stop);
      return await out.send('traces', 'protobuf', Buffer.alloc(0));
    },
  }));
const metrics: Way = {
  name: 'metrics',
  to: 'metrics',
  keys: '',
  speaks: 'protobuf',
  reach: async (entry) => (entry.to === 'metrics' && entry.push !== undefined ? await probeMetrics(entry.push) : { kind: 'sent' }),
};
const ways = [...scores, ...spans, metrics];

test('client-tls: every exporter is looked at', () => {
  expect([...new Set(ways.map(({ to }) => to))].toSorted()).toEqual(Object.keys(exporters).toSorted());
});

interface Case {
  readonly name: string;
  readonly server: SecureServerOptions;
  readonly tls: string;
  readonly want: (outcome: ExportOutcome) => void;
}

const taken = (outcome: ExportOutcome): void => expect(outcome).toMatchObject({ kind: 'sent' });
const refused =
  (words: RegExp) =>
  (outcome: ExportOutcome): void =>
    expect(outcome).toMatchObject({ kind: 'failed', retryable: true, error: expect.stringMatching(words) });
const cases: readonly Case[] = [
  { name: 'an authority that is named is trusted', server: tlsOptions(serverTls), tls: ', tls: { ca_file: cert.pem }', want: taken },
  { name: 'one that is not is refused', server: tlsOptions(serverTls), tls: '', want: refused(/SELF_SIGNED/) },
  {
    name: 'another one is not enough',
    server: tlsOptions(serverTls),
    tls: ', tls: { ca_file: client-ca.pem }',
    want: refused(/SELF_SIGNED|UNABLE_TO/),
  },
  {
    name: 'a client certificate is shown where it is asked for',
    server: tlsOptions(mutualTls),
    tls: ', tls: { ca_file: cert.pem, cert_file: client.pem, key_file: client-key.pem }',
    want: taken,
  },
  {
    name: 'without one no client is let in',
    server: tlsOptions(mutualTls),
    tls: ', tls: { ca_file: cert.pem }',
    want: refused(/CERTIFICATE_REQUIRED|ECONNRESET|EPIPE|EPROTO/),
  },
  {
    name: 'a stranger’s certificate does not help',
    server: tlsOptions(mutualTls),
    tls: ', tls: { ca_file: cert.pem, cert_file: cert.pem, key_file: key.pem }',
    want: refused(/ALERT|ECONNRESET|EPIPE|EPROTO/),
  },
];

for (const way of ways) {
  for (const { name, server: options, tls, want } of cases) {
    test(`client-tls: ${way.name}: ${name}`, async () => {
      const server = await familyServer({
        isGrpc: way.speaks === 'grpc',
        tls: options,
        answer: () =>
          way.speaks === 'grpc'
            ? { status: 200, grpcStatus: 0 }
            : { status: 200, ...(way.speaks === 'json' ? { headers: { 'content-type': 'application/json' }, body: '{}' } : {}) },
      });
      ends.push(server.close);
      want(await way.reach(await memberAt(way, server.url, tls)));
    });
  }
}
